"""thermocline profile."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from thermocline.cli.options import AsJsonAside, Context, Force, Jobs, Preload, Scheduler

if TYPE_CHECKING:
    from thermocline.profiles.model import Profile

EXAMPLE_MACHINE = "knl-7230"  # for hosts with one kind of memory


def profile(
    command: Annotated[list[str], typer.Argument(help="The command, after --.")],
    method: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--method",
            help="How: 'thermocline doctor' lists what this host can do.  [trace; preload: auto]",
        ),
    ] = None,
    preload: Preload = False,
    context: Context = None,
    rate: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option("--rate", min=1, help="Sample one in this many events.  [by the overhead]"),
    ] = None,
    event: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--event", help="What to sample.  [by the processor]"),
    ] = None,
    overhead: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(
            "--overhead", min=0.001, max=1, help="What sampling may cost.  [the method's]"
        ),
    ] = None,
    machine: Annotated[
        str, typer.Option("--machine", help="Whose caches to model: a machine, or 'detect'.")
    ] = "detect",
    out: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("-o", "--output", help="[PROGRAM.PID.profile]"),
    ] = None,
    runs: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option("--runs", min=2, help="Of method mbi: at most so many isolated runs.  [64]"),
    ] = None,
    jobs: Jobs = None,
    scheduler: Scheduler = None,
    force: Force = False,
    as_json: AsJsonAside = False,
) -> None:
    """Measure what each site's data costs in memory traffic and capacity.

    The command may be a script or make: every annotated program below it writes a profile. A
    program that is killed leaves what was seen so far.

    Example: thermocline profile --machine knl-7230 -- ./lulesh -s 40

    Example: thermocline profile --preload -- python3 script.py
    """
    from thermocline.cli import output
    from thermocline.machine import store
    from thermocline.methods import profiling

    target = store.find(machine)
    how = profiling.How(
        method=method,
        preload=preload,
        context=context,
        rate=rate,
        event=event,
        overhead=overhead,
        runs=runs,
        jobs=jobs,
        scheduler=scheduler,
    )
    with output.progress_of_runs() as progress:
        made = profiling.profile(command, target, out, force, how, as_json, progress)
    profiles = made.profiles
    if as_json:
        output.emit_json([_json(path, found) for path, found in profiles])
    else:
        _print_all(profiles, preload)
        _next(profiles, machine, len(target.tier) > 1, command)
    raise typer.Exit(made.outcome.status)


def _print_all(profiles: "list[tuple[Path, Profile]]", preload: bool) -> None:
    from thermocline.cli import output, profile_table

    # Without annotation each process has a profile, also those that only start others.
    shown = [max(profiles, key=_size)] if preload else profiles
    for path, found in shown:
        profile_table.print_profile(path, found)
    if len(shown) < len(profiles):
        rest = sorted(str(path) for path, _ in profiles if path != shown[0][0])
        print(f"wrote {', '.join(rest)} of its other processes")
    # Several processes of one program have the same to say.
    for text in sorted({text for _, found in profiles for text in found.notes}):
        output.note(text)


def _size(profile: "tuple[Path, Profile]") -> int:
    return profile[1].peak_resident_bytes


def _json(path: Path, found: "Profile") -> dict[str, object]:
    from thermocline.cli import sampled

    return {
        "profile": str(path),
        "program": found.program,
        "pid": found.pid,
        "complete": found.complete,
        "wall_seconds": found.wall_seconds,
        "peak_resident_bytes": found.peak_resident_bytes,
        "traffic_bytes": found.traffic_bytes,
        "unseen_instruction_share": found.unseen_instruction_share,
        "sites": [
            site.model_dump(mode="json", exclude={"series"}) | sampled.interval_json(found, site)
            for site in sorted(found.sites, key=lambda s: (-s.traffic_bytes, s.key))
        ],
        "sampling": found.sampling,
        "notes": found.notes,
    }


def _next(
    profiles: "list[tuple[Path, Profile]]", machine: str, tiered: bool, command: list[str]
) -> None:
    from thermocline.cli import output, sampled

    path, found = max(profiles, key=lambda pair: pair[1].traffic_bytes)
    if found.method == "owners":
        output.next_hint(f"perf script ... >samples.txt && thermocline import {path} samples.txt")
        return
    if found.method == "none" or not sampled.counts_traffic(found):
        output.next_hint("a plan needs traffic: 'thermocline doctor' lists methods that measure it")
        return
    if not tiered and found.method in ("trace", "bursts"):  # of caches that no plan is for
        again = ("thermocline", "profile", "--machine", EXAMPLE_MACHINE, "--method", found.method)
        output.next_step(*again, "--", *command)
        return
    output.next_step(
        *("thermocline", "plan", path, "--machine", machine if tiered else EXAMPLE_MACHINE),
        *("--capacity", "25%", "--strategy", "thermos"),
    )
