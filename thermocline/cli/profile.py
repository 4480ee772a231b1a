"""thermocline profile."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from thermocline.cli.options import Force

if TYPE_CHECKING:
    from thermocline.profiles.model import Profile

TOP = 12
EXAMPLE_MACHINE = "knl-7230"  # for hosts with one kind of memory


def profile(
    command: Annotated[list[str], typer.Argument(help="The command, after --.")],
    method: Annotated[str, typer.Option("--method", help="trace: exact, works everywhere.")] = (
        "trace"
    ),
    machine: Annotated[
        str, typer.Option("--machine", help="Whose caches to model: a machine, or 'detect'.")
    ] = "detect",
    out: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("-o", "--output", help="[PROGRAM.PID.profile]"),
    ] = None,
    force: Force = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON; the command's output goes to stderr.")
    ] = False,
) -> None:
    """Measure what each site's data costs in memory traffic and capacity.

    The command may be a script or make: every annotated program below it writes a profile. A
    program that is killed leaves what was seen so far.

    Example: thermocline profile --machine knl-7230 -- ./lulesh -s 40
    """
    import os
    import tempfile

    from thermocline import files
    from thermocline.cli import output
    from thermocline.errors import Misuse, ThermoclineError
    from thermocline.machine import store
    from thermocline.profiles import model
    from thermocline.run import config, launch

    if method != "trace":
        raise Misuse(f"no method {method!r}: the one there is now is trace")
    target = store.find(machine)
    if out is not None:
        files.refuse_overwrite(out, force)
    prefix = _prefix(command, out)
    if not os.access(prefix.parent, os.W_OK):
        raise ThermoclineError(f"can't write into {prefix.parent.resolve()}: give another with -o")
    before = _stamps(prefix)
    with tempfile.TemporaryDirectory(prefix="thermocline-profile-") as scratch:
        file = Path(scratch) / "config"
        file.write_text(config.for_profile(prefix, target), encoding="utf-8")
        outcome = launch.launch(command, file, aside=as_json)
    made = [path for path, stamp in sorted(_stamps(prefix).items()) if before.get(path) != stamp]
    if out is not None and len(made) == 1:
        made = [made[0].replace(out)]
    if outcome.text:
        output.note(outcome.text)
    if not made:
        raise ThermoclineError(launch.nothing_ran(command, outcome, "there is no profile"))
    profiles = [(path, model.load(path)) for path in made]
    if as_json:
        output.emit_json([_json(path, found) for path, found in profiles])
    else:
        for path, found in profiles:
            _print(path, found)
        # Several processes of one program have the same to say.
        for text in sorted({text for _, found in profiles for text in found.notes}):
            output.note(text)
        _next(profiles, machine if len(target.tier) > 1 else EXAMPLE_MACHINE)
    raise typer.Exit(outcome.status)


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
            site.model_dump(mode="json", exclude={"series"})
            for site in sorted(found.sites, key=lambda s: (-s.traffic_bytes, s.key))
        ],
        "notes": found.notes,
    }


def _print(path: Path, found: "Profile") -> None:
    from thermocline import units
    from thermocline.cli import output

    total = found.traffic_bytes
    column = output.Column
    ranked = sorted(found.sites, key=lambda site: (-site.traffic_bytes, site.key))
    print()
    output.table(
        [
            column("traffic", True),
            column("share", True),
            column("read", True),
            column("written", True),
            column("peak resident", True),
            column("allocations", True),
            column("site"),
        ],
        [
            [
                units.format_bytes(site.traffic_bytes),
                units.format_share(site.traffic_bytes / total if total else None),
                units.format_bytes(site.read_bytes),
                units.format_bytes(site.write_bytes),
                units.format_bytes(site.peak_resident_bytes),
                str(site.allocations) if site.kind != "nonheap" else "-",
                site.key,
            ]
            for site in ranked[:TOP]
        ],
    )
    if len(ranked) > TOP:
        print(f"... and {len(ranked) - TOP} more")
    print(
        f"\n{found.program}: {units.format_bytes(total)} of memory traffic in "
        f"{found.wall_seconds:.3g} s, peak resident {units.format_bytes(found.peak_resident_bytes)}"
    )
    print(f"wrote {path}")
    if not found.complete:
        output.note(f"{path}: the program did not finish; this is what was seen until then")
    if found.unseen_instruction_share is None:
        print(
            "the share of instructions that was not seen is unknown (no perf, or too short a run)"
        )
    else:
        print(
            f"{units.format_share(found.unseen_instruction_share)} of the instructions were in "
            "code that is not annotated; its traffic is missing"
        )


def _next(profiles: "list[tuple[Path, Profile]]", machine: str) -> None:
    from thermocline.cli import output

    path, _ = max(profiles, key=lambda pair: pair[1].traffic_bytes)
    output.next_step(
        *("thermocline", "plan", path, "--machine", machine),
        *("--capacity", "25%", "--strategy", "thermos"),
    )
