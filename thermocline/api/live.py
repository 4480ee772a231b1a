"""Of programs while they run."""

from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from thermocline.api import arguments
from thermocline.api.arguments import AnyPath, Command
from thermocline.errors import Misuse

if TYPE_CHECKING:
    import subprocess

    from pandas import DataFrame

    from thermocline.live.follower import Follower
    from thermocline.machine.model import Machine
    from thermocline.planning.model import Plan


def top(
    command: Command | None = None,
    *,
    pid: int | None = None,
    plan: "Plan | AnyPath | None" = None,
    machine: "Machine | str" = "detect",
    method: str | None = None,
    interval: float = 1.0,
    preload: bool = False,
    context: int | None = None,
) -> "Generator[DataFrame, None, None]":
    """Watches a program's sites while it runs: a frame each `interval` seconds, and at its end.

    Of a `command` that is started, or of a process (`pid`) that `profile`, `run --online` or `top`
    started.  Columns: pid, program, seconds (since its start), key, resident_bytes,
    read_bytes_per_second, write_bytes_per_second, traffic_bytes (since its start), tier (the
    `plan`'s).  A command ends with the iterator; what it prints is dropped.
    """
    import tempfile

    from thermocline.live import started
    from thermocline.live.follower import Follower, prefix_of
    from thermocline.methods import online
    from thermocline.run import launch
    from thermocline.run.preload import context_of

    if (pid is None) == (command is None):
        raise Misuse("give a command or a pid, and not both")
    chosen = None if plan is None else arguments.plan(plan)
    if pid is not None:
        yield from _looks(
            Follower(prefix_of(pid), chosen, pid), Path(f"/proc/{pid}").exists, interval
        )
        return
    line = arguments.words(command or [])
    callers = context_of(preload, context, chosen.preload_context if chosen else None)
    measure = online.choose(method, preload, "top")
    with (
        started.configured(line, arguments.machine(machine), measure, callers) as (prefix, file),
        tempfile.TemporaryFile() as printed,
    ):
        process = launch.start(line, file, callers, printed)
        try:
            yield from _looks(Follower(prefix, chosen), lambda: process.poll() is None, interval)
        finally:
            _end(process)


def _looks(
    follower: "Follower", alive: Callable[[], bool], interval: float
) -> "Iterator[DataFrame]":
    import time

    from thermocline.live.follower import frame

    while alive():
        time.sleep(interval)
        yield frame(follower.look())
    yield frame(follower.look())


def _end(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        process.terminate()
    process.wait()
