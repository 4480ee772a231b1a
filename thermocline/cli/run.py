"""thermocline run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from thermocline.cli.options import Context, Force, Machine, Preload

if TYPE_CHECKING:
    from thermocline.planning.model import Plan
    from thermocline.run.config import Setting
    from thermocline.run.report import RunReport


def run(
    command: Annotated[list[str], typer.Argument(help="The command, after --.")],
    plan: Annotated[
        str, typer.Option("--plan", help="A plan, or 'first-touch' for no guidance.")
    ] = "first-touch",
    machine: Machine = "detect",
    capacity: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--capacity", help="Limit of tier 0: 4GiB, 25% of the profiled peak, or 'all'. [plan's]"
        ),
    ] = None,
    trace: Annotated[
        bool, typer.Option("--trace", help="Record the traffic of each tier (slower).")
    ] = False,
    out: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("-o", "--output", help="Write the report as JSON."),
    ] = None,
    force: Force = False,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print the report as JSON; CMD's output goes to stderr."),
    ] = False,
    preload: Preload = False,
    context: Context = None,
    online: Annotated[
        bool,
        typer.Option("--online", help="Measure meanwhile, and move data when that pays."),
    ] = False,
    method: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--method", help="Of --online: how to measure.  [what the host can do]"),
    ] = None,
    configuration: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--configuration", help="Bind all of it: DRAM-local, PMM, ... (see docs)."),
    ] = None,
) -> None:
    """Run a command with each site's data in its planned tier.

    The command may be a script or make: every annotated program below it is guided. Its exit
    status is passed on.

    Example: thermocline run --plan lulesh.thermos-25pct.plan -- ./lulesh -s 40

    Example: thermocline run --preload --plan sort.plan -- sort huge.txt

    Example: thermocline run --online --machine knl-7230 --capacity 64MiB -- ./lulesh -s 40

    Example: thermocline run --configuration DRAM-PMM-interleave -- ./lulesh -s 40
    """
    from thermocline import files
    from thermocline.cli import configured, output
    from thermocline.machine import store
    from thermocline.planning import model
    from thermocline.run import guided, launch
    from thermocline.run.preload import context_of

    if configuration is not None:
        other = plan != "first-touch" or bool(capacity or trace or preload or online or method)
        raise typer.Exit(configured.run(configuration, command, other, out, force, as_json))
    guided.check(trace, preload)
    if out is not None:
        files.refuse_overwrite(out, force)
    chosen = model.unguided() if plan == "first-touch" else model.load(Path(plan))
    setting = guided.setting_of(chosen, store.find(machine), machine != store.DETECT, capacity)
    if online or method is not None:
        callers = context_of(preload, context, chosen.preload_context)
        raise typer.Exit(_online(command, chosen, setting, method, callers, out, as_json))
    ran = guided.run(command, chosen, setting, trace, preload, context, as_json)
    summary = ran.summary.model_dump(mode="json")
    if out is not None:
        files.write_json(out, summary)
    if as_json:
        output.emit_json(summary)
    elif not ran.reports:
        nothing = launch.nothing_ran(command, ran.outcome, "nothing was guided", ran.context)
        output.note(nothing)
        _hint_preload(chosen, preload)
    else:
        _print(chosen, setting, ran.reports, trace)
        if out is not None:
            print(f"wrote {out}")
        if preload:
            output.next_step("thermocline", "profile", "--preload", "--", *command)
        elif not trace:
            output.next_step(*_again(plan, machine, capacity, command))
    raise typer.Exit(ran.outcome.status)


def _online(
    command: list[str],
    plan: "Plan",
    setting: "Setting",
    method: str | None,
    context: int | None,
    out: Path | None,
    quiet: bool,
) -> int:
    from thermocline import files
    from thermocline.cli import online as shown
    from thermocline.cli import output
    from thermocline.methods import online
    from thermocline.run import launch

    measure = online.choose(method, context is not None)
    ran = online.run(command, plan, setting, measure, context, quiet)
    summary = ran.to_json()
    if out is not None:
        files.write_json(out, summary)
    if quiet:
        output.emit_json(summary)
    elif not ran.processes:
        output.note(launch.nothing_ran(command, ran.outcome, "nothing was guided"))
    else:
        shown.show(ran, setting.modelled, command)
    return ran.outcome.status


def _hint_preload(plan: "Plan", preload: bool) -> None:
    from thermocline.cli import output

    if plan.preload_context is not None and not preload:
        output.note("the plan is that of a program that was not annotated: add --preload")


def _again(plan: str, machine: str, capacity: str | None, command: list[str]) -> list[str]:
    """The same run, with the traffic counted."""
    words = ["thermocline", "run", "--trace", "--plan", plan]
    if machine != "detect":
        words += ["--machine", machine]
    if capacity is not None:
        words += ["--capacity", capacity]
    return [*words, "--", *command]


def _print(plan: "Plan", setting: "Setting", reports: "list[RunReport]", trace: bool) -> None:
    from thermocline import units
    from thermocline.cli import output
    from thermocline.run import report

    column = output.Column
    rows = []
    idle = 0
    tiers = setting.tiers
    for entry in reports:
        if len(reports) > 1 and not entry.sites.reached and not entry.sites.unplanned:
            idle += 1
            continue
        for tier in entry.tiers:
            known = tiers[tier.tier].name if tier.tier < len(tiers) else "?"
            moved = tier.traffic_bytes
            rows.append(
                [
                    f"{entry.program} ({entry.pid})",
                    f"{tier.tier} {known}",
                    ",".join(map(str, tier.nodes)) or "modelled",
                    units.format_bytes(tier.capacity_bytes) if tier.capacity_bytes else "-",
                    units.format_bytes(tier.peak_resident_bytes),
                    units.format_bytes(tier.spilled_bytes),
                    "-" if moved is None else units.format_bytes(moved),
                ]
            )
    print()
    output.table(
        [
            column("process"),
            column("tier"),
            column("nodes"),
            column("heap limit", True),
            column("peak resident", True),
            column("spilled", True),
            column("traffic", True),
        ],
        rows,
    )
    for entry in reports:
        if entry.huge:
            had, asked = entry.huge.huge_page_bytes, entry.huge.resident_bytes
            print(
                f"{entry.program} ({entry.pid}): {units.format_bytes(had)} of the "
                f"{units.format_bytes(asked)} of huge sites are in huge pages"
            )
            if asked and not had:
                output.note(
                    "the kernel gave no huge pages: see /sys/kernel/mm/transparent_hugepage/enabled"
                )
    share = report.fast_share(reports)
    if share is not None:
        print(f"\ntier 0 served {units.format_share(share)} of the memory traffic")
    if plan.predicted_fast_share is not None and trace:
        print(f"the plan predicted {units.format_share(plan.predicted_fast_share)}")
    if setting.modelled:
        output.note(
            "this host has too few kinds of memory for the plan: tiers are modelled, all data "
            "stays where it is"
        )
    if plan.nonheap_tier == 0 and plan.nonheap_bytes and tiers[0].limit:
        output.note(
            f"of tier 0's {units.format_bytes(tiers[0].limit)}, "
            f"{units.format_bytes(min(plan.nonheap_bytes, tiers[0].limit))} are left to data that "
            "is not heap"
        )
    if idle:
        output.note(f"{idle} more annotated process(es) reached no site")
    _warnings(plan, reports)


def _warnings(plan: "Plan", reports: "list[RunReport]") -> None:
    from thermocline.cli import output
    from thermocline.run import report

    gone, new = report.never_came(reports), report.unplanned(reports)
    if plan.sites and gone:
        output.note(
            f"{len(gone)} of {len(plan.sites)} planned sites never came (the first: {min(gone)})"
        )
    if plan.sites and new:
        output.note(
            f"{len(new)} sites came that the plan does not name; they went to tier "
            f"{plan.default_tier} (the first: {min(new)})"
        )
    # Every program calls libc: that its code came too says nothing about the plan.
    own = {site.key for site in plan.sites if not site.key.endswith("!unannotated")}
    if plan.sites and (own or {site.key for site in plan.sites}) <= gone:
        output.note("the plan fits nothing in this program: make a new profile and plan")
    for entry in reports:
        if entry.stepped_aside:
            output.note(f"{entry.program}: not guided: {entry.stepped_aside}")
    for text in sorted({text for entry in reports for text in entry.notes}):
        output.note(text)
