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
    import os
    import tempfile

    from thermocline import executors, files, methods
    from thermocline.cli import output
    from thermocline.errors import ThermoclineError
    from thermocline.machine import store
    from thermocline.methods import auto
    from thermocline.methods.base import Request, Sweep
    from thermocline.profiles import model
    from thermocline.profiles.preload import name_paths
    from thermocline.run import launch
    from thermocline.run.preload import context_of

    callers = context_of(preload, context)
    method = method or ("auto" if preload else "trace")
    found = auto.best(auto.PRELOAD if preload else auto.PROFILE) if method == "auto" else None
    chosen = found.method if found else methods.find(method)
    if lacks := chosen.lacks_for(event):
        raise ThermoclineError(f"--method {method} does not work here: {lacks}")
    target = store.find(machine)
    if out is not None:
        files.refuse_overwrite(out, force)
    prefix = _prefix(command, out)
    if not os.access(prefix.parent, os.W_OK):
        raise ThermoclineError(f"can't write into {prefix.parent.resolve()}: give another with -o")
    before = _stamps(prefix)
    with (
        tempfile.TemporaryDirectory(prefix="thermocline-profile-") as scratch,
        output.progress_of_runs() as progress,
    ):
        outcome = chosen.measure(
            Request(
                *(command, prefix, target, Path(scratch), rate, event, overhead),
                aside=as_json,
                context=callers,
                sweep=Sweep(runs, executors.choose(scheduler, jobs), bool(scheduler), progress),
            )
        )
    made = [path for path, stamp in sorted(_stamps(prefix).items()) if before.get(path) != stamp]
    if out is not None and len(made) == 1:
        made = [made[0].replace(out)]
    for text in (found.why if found else "", outcome.text):
        if text:
            output.note(text)
    if not made:
        so = "there is no profile"
        raise ThermoclineError(launch.nothing_ran(command, outcome, so, callers))
    if callers is not None:
        for path in made:
            name_paths(path, callers)
    profiles = [(path, model.load(path)) for path in made]
    if as_json:
        output.emit_json([_json(path, found) for path, found in profiles])
    else:
        _print_all(profiles, preload)
        _next(profiles, machine if len(target.tier) > 1 else EXAMPLE_MACHINE)
    raise typer.Exit(outcome.status)


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


def _prefix(command: list[str], out: Path | None) -> Path:
    """Where the runtime writes: PREFIX.PID.profile, so that processes don't collide."""
    if out is not None:
        return out.with_name(out.name.removesuffix(".profile"))
    return Path(Path(command[0]).name)


def _stamps(prefix: Path) -> dict[Path, tuple[int, int]]:
    """Profiles of this prefix, and what changes when one is written anew."""
    found = {}
    for path in prefix.parent.iterdir():
        middle = path.name.removeprefix(prefix.name + ".").removesuffix(".profile")
        if path.name == f"{prefix.name}.{middle}.profile" and middle.isdecimal():
            status = path.stat()
            found[path] = (status.st_ino, status.st_mtime_ns)
    return found


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


def _next(profiles: "list[tuple[Path, Profile]]", machine: str) -> None:
    from thermocline.cli import output, sampled

    path, found = max(profiles, key=lambda pair: pair[1].traffic_bytes)
    if found.method == "none" or not sampled.counts_traffic(found):
        output.next_hint("a plan needs traffic: 'thermocline doctor' lists methods that measure it")
        return
    output.next_step(
        *("thermocline", "plan", path, "--machine", machine),
        *("--capacity", "25%", "--strategy", "thermos"),
    )
