"""thermocline simulate."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer
import typer.core

from thermocline.cli.options import AsJson, Force, Jobs, Scheduler
from thermocline.cli.options import Machine as MachineName

if TYPE_CHECKING:
    from thermocline.machine.calibration import Calibration
    from thermocline.machine.devices import Fidelity
    from thermocline.machine.model import Machine
    from thermocline.planning.capacity import Capacity
    from thermocline.simulation.comparison import NamedPlan, Row


_COMMAND = "thermocline.command"


class WithCommand(typer.core.TyperCommand):
    """What follows -- is a program to run, not a trace."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Takes the command away."""
        if "--" in args:
            at = args.index("--")
            ctx.meta[_COMMAND] = args[at + 1 :]
            args = args[:at]
        return super().parse_args(ctx, args)


def simulate(
    context: typer.Context,
    traces: Annotated[
        Optional[list[Path]],  # noqa: UP045
        typer.Argument(
            help="Traces of annotated programs; A+B: together on one machine; or -- CMD: live."
        ),
    ] = None,
    machine: MachineName = "detect",
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
    function: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--function", help="Only what runs in this function (trace --mark)."),
    ] = None,
    time: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--time", help="Only FROM:TO seconds after recording began."),
    ] = None,
    windows: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--windows", help="Only sampling windows FROM:TO, from 1."),
    ] = None,
    whole_machine: Annotated[
        bool, typer.Option("--whole-machine", help="Don't shrink it to the trace's threads.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of random placement.")] = 0,
    threads: Annotated[
        int, typer.Option("--threads", min=1, help="Of the program, if it is simulated live.")
    ] = 1,
    alone: Annotated[
        bool, typer.Option("--alone", help="Of programs together: each by itself, too.")
    ] = False,
    translation: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--translation", help="Of addresses, simulated too: native or nested."),
    ] = None,
    tlb: Annotated[
        str,
        typer.Option(
            "--tlb", help="What a TLB miss goes to: baseline, pom, shared-l2, tsb; several: a,b"
        ),
    ] = "baseline",
    large_pages: Annotated[
        str,
        typer.Option(
            "--large-pages",
            help="Pages of 2 MiB: where the recorded run had them, or a share of memory: 40%.",
        ),
    ] = "recorded",
    huge_pages: Annotated[
        str, typer.Option("--huge-pages", help="Share of memory in pages of 1 GiB.")
    ] = "0%",
    jobs: Jobs = None,
    scheduler: Scheduler = None,
    out: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("-o", "--output", help="Write the answers as JSON, for 'report'."),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Predict how long a program would take on a machine, under each scheme.

    Schemes: first-touch, membrain (guided by --plan), random, interleave, hma, all-fast, all-slow,
    knl-cache, knl-hybrid, memory-mode, alloy, DRAM-local and its like (docs/configurations.md), or
    a placement (first-touch, one-tier, random, interleave, guided, hma, migrate) * an organisation
    (flat, memory-cache, alloy).

    Example: thermocline simulate lulesh.trace --machine knl-7230 --scheme first-touch,knl-cache
    or live: thermocline simulate --machine knl-7230 --scheme first-touch,knl-cache -- ./lulesh
    """
    from thermocline import executors, files
    from thermocline.cli import output, simulated, translated
    from thermocline.errors import Misuse
    from thermocline.machine import calibration
    from thermocline.planning import model
    from thermocline.simulation import comparison, config, live, regions
    from thermocline.simulation import scheme as schemes
    from thermocline.simulation import translation as translations

    if out is not None:
        files.refuse_overwrite(out, force)
    command: list[str] | None = context.meta.get(_COMMAND)
    if (traces is None) == (command is None):
        raise Misuse("give traces, or -- and a command to simulate live")
    if command and scheduler:
        raise Misuse("a live program is simulated on its own host: record a trace for --scheduler")
    chosen = schemes.parse_all(scheme)
    tlbs = translations.choices(translation, tlb, large_pages, huge_pages)
    plans = [comparison.NamedPlan(str(path), model.load(path)) for path in plan or []]
    if plans and not any(each.needs_plan for each in chosen):
        raise Misuse("--plan is given, but no scheme is guided: add membrain to --scheme")
    calibrated = calibration.load()
    found = _target(machine, calibrated)
    region = regions.parse(function, time, windows)
    limits = _capacities(capacity, plans)
    workers = executors.choose(scheduler) if scheduler else None
    if command:
        live.check(limits, region)
    surveyed = (
        [live.trace_of(command, threads)] if command else comparison.survey(traces or [], region)
    )
    setting = config.Setting(
        machine=found,
        threads=1,
        touched_bytes=0,
        fidelity=_fidelity(fidelity),
        prefetcher=prefetcher,
        budget=budget,
        seed=seed,
        whole=whole_machine,
        region=region,
    )
    made = comparison.rows(surveyed, setting, chosen, plans, limits, alone, tlbs)
    labels = list(dict.fromkeys(row.label for row in made))
    against = baseline or labels[0]
    if against not in labels:
        raise Misuse(f"--baseline {against!r} is none of the schemes: {', '.join(labels)}")
    with progress_bar(made, budget) as progress:
        done = live.run(made, command, region, progress, as_json) if command else None
        answers = done.answers if done else comparison.run(made, progress, jobs, workers)
    for note in done.notes if done else []:
        output.note(note)
    shown = simulated.Shown(answers, against, found, calibrated)
    table = {"machine": machine, **simulated.as_json(shown)}
    if out is not None:
        files.write_json(out, table)
    if as_json:
        output.emit_json(table)
    else:
        (translated if tlbs else simulated).show(shown)
        simulated.next_step(answers, machine)
    if done:
        raise typer.Exit(done.outcome.status)


def _target(name: str, calibrated: "Calibration | None") -> "Machine":
    """The machine; this host as `machine calibrate` found it, which hwloc alone can't simulate."""
    from thermocline.errors import Misuse
    from thermocline.machine import calibration, model, store

    found = store.find(name)
    if name != store.DETECT or all(tier.device for tier in found.tier):
        return found
    if calibrated is None:
        raise Misuse(
            "this host's memory is not known well enough to be simulated: "
            f"{calibration.AGAIN}, or name another machine with --machine (see 'thermocline "
            "machine list')"
        )
    return model.parse(calibrated.machine, calibration.place())


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
def progress_bar(made: "Sequence[Row]", budget: int) -> Iterator[Callable[[int, int], None]]:
    """Simulations' progress: on a terminal, with the time that is left; nothing on a pipe."""
    from thermocline.cli import output

    def references(row: "Row") -> int:
        threads = int(row.trace.survey["threads"])
        return min(row.trace.references, budget * threads) if budget else row.trace.references

    with output.progress() as bar:
        task = bar.add_task("simulating", total=sum(references(row) for row in made) or None)
        done: dict[int, int] = {}

        def report(number: int, count: int) -> None:
            done[number] = count
            bar.update(task, completed=sum(done.values()))

        yield report
