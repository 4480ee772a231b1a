"""thermocline simulate."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from thermocline.cli.options import AsJson, Machine

if TYPE_CHECKING:
    from thermocline.machine.devices import Fidelity
    from thermocline.planning.capacity import Capacity
    from thermocline.simulation.comparison import Answer, NamedPlan, Row


def simulate(
    traces: Annotated[list[Path], typer.Argument(help="Traces of annotated programs.")],
    machine: Machine = "detect",
    scheme: Annotated[
        str,
        typer.Option("--scheme", help="PLACEMENT*ORGANISATION or nicknames, separated by commas."),
    ] = "first-touch",
    plan: Annotated[
        Optional[list[Path]],  # noqa: UP045
        typer.Option("--plan", help="For guided schemes; several are compared."),
    ] = None,
    capacity: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--capacity", help="Of tier 0: 25% of what the trace touches, or 4GiB; several: 12%,25%"
        ),
    ] = None,
    fidelity: Annotated[
        str, typer.Option("--fidelity", help="Of the memories' timing: faithful or screening.")
    ] = "faithful",
    baseline: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--baseline", help="The scheme that others are compared with. [the first]"),
    ] = None,
    prefetcher: Annotated[
        bool, typer.Option("--prefetcher/--no-prefetcher", help="The cores' stream prefetcher.")
    ] = True,
    budget: Annotated[
        int, typer.Option("--budget", min=0, help="References of each thread at most; 0: all.")
    ] = 0,
    whole_machine: Annotated[
        bool, typer.Option("--whole-machine", help="Don't shrink it to the trace's threads.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of random placement.")] = 0,
    jobs: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option("--jobs", min=1, help="Simulations at a time. [the host's processors]"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Predict how long a program would take on a machine, under each scheme.

    Schemes: first-touch, membrain (guided by --plan), random, interleave, all-fast, all-slow,
    knl-cache, knl-hybrid, memory-mode, alloy, or a placement (first-touch, one-tier, random,
    interleave, guided) * an organisation (flat, memory-cache, alloy).

    Example: thermocline simulate lulesh.trace --machine knl-7230 --scheme first-touch,knl-cache
    """
    from thermocline.cli import output
    from thermocline.errors import Misuse
    from thermocline.machine import store
    from thermocline.planning import model
    from thermocline.simulation import comparison, config
    from thermocline.simulation import scheme as schemes

    chosen = schemes.parse_all(scheme)
    plans = [comparison.NamedPlan(str(path), model.load(path)) for path in plan or []]
    if plans and not any(each.needs_plan for each in chosen):
        raise Misuse("--plan is given, but no scheme is guided: add membrain to --scheme")
    found = store.find(machine)
    surveyed = comparison.survey(traces)
    setting = config.Setting(
        machine=found,
        threads=1,
        touched_bytes=0,
        fidelity=_fidelity(fidelity),
        prefetcher=prefetcher,
        budget=budget,
        seed=seed,
        whole=whole_machine,
    )
    made = comparison.rows(surveyed, setting, chosen, plans, _capacities(capacity, plans))
    labels = list(dict.fromkeys(row.label for row in made))
    against = baseline or labels[0]
    if against not in labels:
        raise Misuse(f"--baseline {against!r} is none of the schemes: {', '.join(labels)}")
    with _progress_bar(made, budget) as progress:
        answers = comparison.run(made, progress, jobs)
    if as_json:
        output.emit_json(_as_json(answers, against, machine))
        return
    _print(answers, against)
    _notes(answers, found.name, found.cpu.cores)
    _next(answers, machine)


def _fidelity(text: str) -> "Fidelity":
    from thermocline.errors import Misuse

    if text == "faithful":
        return "faithful"
    if text == "screening":
        return "screening"
    raise Misuse(f"--fidelity {text!r}: give faithful or screening")


def _capacities(text: str | None, plans: "Sequence[NamedPlan]") -> "list[Capacity]":
    from thermocline.planning import capacity

    if text is None:
        # What the plan was made for, else all that the machine has.
        made_for = [named.plan.capacity for named in plans if named.plan.capacity]
        text = made_for[0] if made_for else ""
    return [capacity.parse(each) for each in text.split(",") if each.strip()]


@contextmanager
def _progress_bar(made: "Sequence[Row]", budget: int) -> Iterator[Callable[[int, int], None]]:
    """On a terminal, with the time that is left; nothing on a pipe."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    def references(row: "Row") -> int:
        threads = int(row.trace.survey["threads"])
        return min(row.trace.references, budget * threads) if budget else row.trace.references

    console = Console(stderr=True)
    bar = Progress(
        TextColumn("simulating"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
        transient=True,
    )
    with bar:
        task = bar.add_task("", total=sum(references(row) for row in made))
        done: dict[int, int] = {}

        def report(number: int, count: int) -> None:
            done[number] = count
            bar.update(task, completed=sum(done.values()))

        yield report


def _relative(answer: "Answer", answers: "Sequence[Answer]", against: str) -> tuple[float, float]:
    """Speed-up over the baseline, and energy-delay relative to it."""
    from thermocline.simulation import comparison

    base = comparison.baseline_of(answer, answers, against)
    delay = float(base.json["energy"]["energy_delay"])
    mine = float(answer.json["energy"]["energy_delay"])
    speed = base.seconds / answer.seconds if answer.seconds else 1.0
    return speed, mine / delay if delay else 1.0


def _as_json(answers: "Sequence[Answer]", against: str, machine: str) -> dict[str, Any]:
    rows = []
    for answer in answers:
        speedup, energy_delay = _relative(answer, answers, against)
        rows.append(
            {
                "trace": str(answer.row.trace.path),
                "scheme": answer.row.label,
                "capacity": answer.row.capacity or None,
                "near_bytes": answer.row.near_bytes,
                "scale": float(answer.row.configured.scale.factor),
                "assumed": answer.row.configured.assumed,
                "speedup": speedup,
                "relative_energy_delay": energy_delay,
                "near_share": answer.near_share,
                "screening_error": answer.screening_error,
                "result": answer.json,
            }
        )
    return {"machine": machine, "baseline": against, "rows": rows}


def _print(answers: "Sequence[Answer]", against: str) -> None:
    from thermocline import units
    from thermocline.cli import output

    column = output.Column
    several = len({answer.row.trace.path for answer in answers}) > 1
    limited = any(answer.row.capacity for answer in answers)
    tiers = [tier["name"] for tier in answers[0].json["tiers"]]
    columns = [column("trace")] if several else []
    columns += [column("capacity", True)] if limited else []
    columns += [
        column("scheme"),
        column("time", True),
        column(f"vs {against}", True),
        column("IPC", True),
        column(f"{tiers[0]} traffic", True),
        *(column(f"{tier} GB/s", True) for tier in tiers),
        column("energy", True),
        column("energy-delay", True),
    ]
    rows = []
    for answer in answers:
        speedup, energy_delay = _relative(answer, answers, against)
        row = [str(answer.row.trace.path)] if several else []
        row += [answer.row.capacity] if limited else []
        row += [
            answer.row.label,
            _seconds(answer.seconds),
            f"{speedup:.2f}x",
            f"{answer.json['instructions_per_cycle']:.2f}",
            units.format_share(answer.near_share),
            *(f"{tier['bandwidth'] / 1e9:.2f}" for tier in answer.json["tiers"]),
            f"{answer.json['energy']['joules']:.3g} J",
            f"{energy_delay:.2f}",
        ]
        rows.append(row)
    output.table(columns, rows)
    print()


def _seconds(value: float) -> str:
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "us")):
        if value * factor >= 1:
            return f"{value * factor:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"


def _notes(answers: "Sequence[Answer]", machine: str, cores: int) -> None:
    from thermocline.cli import output
    from thermocline.simulation import comparison

    sentences = []
    for answer in answers:
        configured = answer.row.configured
        sentences.append(comparison.scale_sentence(configured.scale, machine, cores))
        if configured.assumed:
            sentences.append(
                f"{machine} does not say, so this was assumed: {', '.join(configured.assumed)}"
            )
        sentences += answer.json["notes"]
        if answer.screening_error is not None:
            sentences.append(
                f"{answer.row.label}: screening is {100 * answer.screening_error:+.1f} % off"
                f" faithful timing, on {len(comparison.WINDOWS)} windows of {answer.row.trace.path}"
            )
        if answer.json["unrecorded_instructions"]:
            share = answer.json["instructions"] / (
                answer.json["instructions"] + answer.json["unrecorded_instructions"]
            )
            sentences.append(
                f"{answer.row.trace.path} holds {100 * share:.3g} % of the program's instructions:"
                " times are those of the recorded ones"
            )
    for sentence in dict.fromkeys(sentences):
        if sentence:
            output.note(sentence)


def _next(answers: "Sequence[Answer]", machine: str) -> None:
    from thermocline.cli import output

    guided = [answer for answer in answers if answer.row.plan]
    command = answers[0].row.trace.survey["meta"].get("command") or ["CMD"]
    if not isinstance(command, list):
        command = [command]
    if guided:
        best = min(guided, key=lambda answer: answer.seconds)
        output.next_step("thermocline", "run", "--plan", best.row.plan, "--", *command)
    else:
        output.next_step("thermocline", "profile", "--machine", machine, "--", *command)
