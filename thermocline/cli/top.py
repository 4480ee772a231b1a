"""thermocline top."""

import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, Optional

import typer

from thermocline.cli.options import Context, Machine, Preload

if TYPE_CHECKING:
    import subprocess

    from thermocline.live.follower import Follower, ProcessNow
    from thermocline.live.migrations import Migrating, MigrationFollower, StartedFollower
    from thermocline.planning.model import Plan

Tiers = list[tuple[str, int | None]]


def top(
    command: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Argument(help="The command, after --.", show_default=False),
    ] = None,
    pid: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option("--pid", min=1, help="A process that profile, run --online or top started."),
    ] = None,
    plan: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--plan", help="Whose tiers are shown; the books say what each would hold."),
    ] = None,
    machine: Machine = "detect",
    method: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--method", help="How to measure meanwhile.  [what the host can do]"),
    ] = None,
    sort: Annotated[
        str, typer.Option("--sort", help="By traffic, bytes, hotness, total or site.")
    ] = "traffic",
    interval: Annotated[
        float, typer.Option("--interval", min=0.1, max=3600, help="Seconds between looks.")
    ] = 1.0,
    preload: Preload = False,
    context: Context = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="No screen: a line of JSON for each look.")
    ] = False,
) -> None:
    """Watch a program's sites while it runs: what each holds and moves, and each tier.

    On a terminal: t, b, h, o, s sort, n shows the next process, p pauses, q leaves (and ends a
    command that top started). The command's output is shown after it.

    Example: thermocline top --plan lulesh.plan --machine knl-7230 -- ./lulesh -s 40
    or, of a program that runs under 'profile' or 'run --online': thermocline top --pid 4711

    Of a program below the migration engine, near memory, faults and moves are shown:
    thermocline top -- thermocline migrate --near 400MiB -- sort huge.txt
    """
    from thermocline.errors import Misuse
    from thermocline.live import migrations
    from thermocline.live.follower import SORTS, Follower, prefix_of
    from thermocline.planning import model

    if sort not in SORTS:
        raise Misuse(f"--sort {sort!r}: choose one of {', '.join(SORTS)}")
    if (pid is None) == (not command):
        raise Misuse("give a command after --, or --pid, and not both")
    if not as_json and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Misuse("top needs a terminal: use --json without one")
    reports = migrations.prefix_of(pid) if pid is not None else None
    if reports is not None or (command and migrations.is_migrate(command)):
        if plan or method or preload or context is not None:
            raise Misuse("below the migration engine top measures nothing: leave out what says how")
        raise typer.Exit(_moves(pid or command or [], reports, interval, as_json))
    chosen = model.load(plan) if plan else None
    if pid is not None:
        follower = Follower(prefix_of(pid), chosen, pid)
        shown = Shown(_tiers(chosen, machine), interval, sort, as_json)
        shown.watch(follower, lambda: Path(f"/proc/{pid}").exists())
        return
    assert command is not None
    shown = Shown(_tiers(chosen, machine), interval, sort, as_json)
    raise typer.Exit(_run(command, chosen, machine, method, (preload, context), shown))


@dataclass(frozen=True)
class Shown:
    """How it is shown."""

    tiers: Tiers
    interval: float
    sort: str
    as_json: bool

    def watch(self, follower: "Follower", alive: Callable[[], bool]) -> None:
        """Until the program has ended (JSON) or somebody leaves (the screen)."""
        from thermocline.live.screen import Screen

        if self.as_json:
            _each_look(self.interval, alive, lambda running: _emit(follower.look(), running, self))
            return
        Screen(follower, self.tiers, alive, self.interval, self.sort).run()


def _run(
    command: list[str],
    plan: "Plan | None",
    machine: str,
    method: str | None,
    preloaded: tuple[bool, int | None],
    shown: Shown,
) -> int:
    """The command's exit status; 143 if it was ended because somebody left."""
    from thermocline.live.follower import Follower
    from thermocline.live.started import configured
    from thermocline.machine import store
    from thermocline.methods import online
    from thermocline.run import launch
    from thermocline.run.preload import context_of

    context = context_of(*preloaded, plan.preload_context if plan else None)
    measure = online.choose(method, preloaded[0], "top")
    with configured(command, store.find(machine), measure, context) as (prefix, file):
        return _beside(
            lambda printed: launch.start(command, file, context, printed),
            lambda _, alive: shown.watch(Follower(prefix, plan), alive),
            lambda process: process.terminate(),
            shown.as_json,
        )


def _moves(what: int | list[str], reports: Path | None, interval: float, as_json: bool) -> int:
    """A process below the migration engine, or `thermocline migrate`: its exit status."""
    from thermocline.live import migrations
    from thermocline.run import launch

    def watch(follower: "MigrationFollower | StartedFollower", alive: Callable[[], bool]) -> None:
        from thermocline.live.screen import MovesScreen

        if as_json:
            _each_look(interval, alive, lambda running: _emit_moves(follower.look(), running))
        else:
            MovesScreen(follower, alive, interval).run()

    if isinstance(what, int):
        assert reports is not None
        watch(migrations.MigrationFollower(reports, what), Path(f"/proc/{what}").exists)
        return 0
    return _beside(
        lambda printed: launch.start(what, None, None, printed),
        lambda process, alive: watch(migrations.StartedFollower(process.pid), alive),
        migrations.end,
        as_json,
    )


def _beside(
    start: Callable[[IO[bytes]], "subprocess.Popen[bytes]"],
    watch: Callable[["subprocess.Popen[bytes]", Callable[[], bool]], None],
    end: Callable[["subprocess.Popen[bytes]"], None],
    as_json: bool,
) -> int:
    """Runs a command while it is watched, then prints what it printed; gives its status."""
    from thermocline.run import launch

    with tempfile.TemporaryFile() as printed:
        process = start(printed)
        try:
            watch(process, lambda: process.poll() is None)
        finally:
            if process.poll() is None:
                end(process)
            code = process.wait()
        printed.seek(0)
        shutil.copyfileobj(printed, sys.stderr.buffer if as_json else sys.stdout.buffer)
    return launch.status_of(code)


def _each_look(interval: float, alive: Callable[[], bool], emit: Callable[[bool], None]) -> None:
    """Until the program has ended, and then once more."""
    while running := alive():
        time.sleep(interval)
        emit(running)
    emit(False)


def _tiers(plan: "Plan | None", machine: str) -> Tiers:
    """Names and rooms; without a plan there is one line for all."""
    from thermocline.errors import ThermoclineError
    from thermocline.machine import store

    if plan is None:
        return [("memory", None)]
    try:
        found = store.find(machine if machine != "detect" else plan.machine or machine)
        names = [tier.name for tier in found.tier]
        rooms: list[int | None] = [tier.capacity_bytes for tier in found.tier]
    except ThermoclineError:
        names, rooms = [], []
    for number in range(len(names), max(2, plan.tiers)):
        names.append(f"tier {number}")
        rooms.append(None)
    rooms[0] = plan.capacity_bytes or rooms[0]
    return list(zip(names, rooms, strict=True))


def _emit(seen: "list[ProcessNow]", running: bool, shown: Shown) -> None:
    def tiers(process: "ProcessNow") -> list[dict[str, Any]]:
        found = process.tiers(len(shown.tiers))
        return [
            {"name": name, "capacity_bytes": room, "resident_bytes": held, "bytes_per_second": rate}
            for (name, room), (held, rate) in zip(shown.tiers, found, strict=True)
        ]

    look = {
        "running": running,
        "processes": [
            {
                "pid": process.pid,
                "program": process.program,
                "seconds": process.seconds,
                "tiers": tiers(process),
                "moved_bytes": process.moved_bytes,
                "sites": [site.to_json() for site in process.sorted(shown.sort)],
            }
            for process in seen
        ],
    }
    print(json.dumps(look), flush=True)


def _emit_moves(seen: "list[Migrating]", running: bool) -> None:
    print(
        json.dumps({"running": running, "processes": [asdict(each) for each in seen]}), flush=True
    )
