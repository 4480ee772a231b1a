"""thermocline simulate."""

from pathlib import Path
from typing import Annotated, Any, Optional

import typer
import typer.core

from thermocline.cli.options import AsJson, Force, Jobs, Scheduler
from thermocline.cli.options import Machine as MachineName

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
    from thermocline import files
    from thermocline.cli import output, simulated, translated
    from thermocline.errors import Misuse
    from thermocline.planning import model
    from thermocline.simulation import asking, comparison, regions
    from thermocline.simulation import translation as translations

    if out is not None:
        files.refuse_overwrite(out, force)
    command: list[str] | None = context.meta.get(_COMMAND)
    if (traces is None) == (command is None):
        raise Misuse("give traces, or -- and a command to simulate live")
    if command and scheduler:
        raise Misuse("a live program is simulated on its own host: record a trace for --scheduler")
    asked = asking.Asked(
        machine=asking.target(machine),
        machine_name=machine,
        scheme=scheme,
        plans=[comparison.NamedPlan(str(path), model.load(path)) for path in plan or []],
        capacity=capacity,
        fidelity=fidelity,
        baseline=baseline,
        prefetcher=prefetcher,
        budget=budget,
        region=regions.parse(function, time, windows),
        whole_machine=whole_machine,
        seed=seed,
        alone=alone,
        tlbs=translations.choices(translation, tlb, large_pages, huge_pages),
    )
    status = 0
    with output.progress_of_references() as bars:
        if command:
            answers, done = asking.simulate_live(command, threads, asked, as_json, bars)
            status = done.outcome.status
        else:
            answers = asking.simulate(traces or [], asked, jobs, scheduler, bars)
    if out is not None:
        answers.save(out, force=True)
    if as_json:
        output.emit_json(answers.to_json())
    else:
        (translated if asked.tlbs else simulated).show(answers)
        simulated.next_step(answers)
    if command:
        raise typer.Exit(status)
