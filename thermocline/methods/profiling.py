"""Profiles a command: one profile a process."""

import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from thermocline import executors, files, methods
from thermocline.errors import ThermoclineError
from thermocline.executors import Done
from thermocline.machine.model import Machine
from thermocline.methods import auto
from thermocline.methods.base import Request, Sweep, unseen
from thermocline.notes import note
from thermocline.profiles import model
from thermocline.profiles.model import Profile
from thermocline.profiles.preload import name_paths
from thermocline.run import launch
from thermocline.run.preload import context_of


@dataclass(frozen=True)
class How:
    """How to profile; None: the method's default."""

    method: str | None = None  # trace; of a preloaded run: what the host can do
    preload: bool = False
    context: int | None = None  # of a preloaded run: callers told apart
    rate: int | None = None  # one sample in this many events
    event: str | None = None
    overhead: float | None = None  # of the run time, such as 0.05
    runs: int | None = None  # at most; of method mbi
    jobs: int | None = None  # runs at a time
    scheduler: str | None = None  # a Dask scheduler's address


@dataclass(frozen=True)
class Profiled:
    """The profiles that a command left, with their files, and how it ended."""

    profiles: list[tuple[Path, Profile]]
    outcome: launch.Outcome


def profile(
    command: Sequence[str],
    machine: Machine,
    out: Path | None,
    force: bool,
    how: How,
    aside: bool = False,
    progress: Callable[[str, int], Done] = unseen,
) -> Profiled:
    """Runs the command; each process writes a profile to `out` or PROGRAM.PID.profile.

    `machine`: whose caches are modelled.  `aside`: the command's output goes to stderr.
    `progress`: starts a bar of so many runs.  ThermoclineError where no process left a profile;
    a command that fails after it left one is a note.
    """
    context = context_of(how.preload, how.context)
    name = how.method or ("auto" if how.preload else "trace")
    found = auto.best(auto.PRELOAD if how.preload else auto.PROFILE) if name == "auto" else None
    method = found.method if found else methods.find(name)
    if lacks := method.lacks_for(how.event):
        raise ThermoclineError(f"--method {name} does not work here: {lacks}")
    if out is not None:
        files.refuse_overwrite(out, force)
    prefix = _prefix(command, out)
    if not os.access(prefix.parent, os.W_OK):
        raise ThermoclineError(f"can't write into {prefix.parent.resolve()}: give another with -o")
    before = _stamps(prefix)
    sweep = Sweep(
        how.runs, executors.choose(how.scheduler, how.jobs), bool(how.scheduler), progress
    )
    with tempfile.TemporaryDirectory(prefix="thermocline-profile-") as scratch:
        outcome = method.measure(
            Request(
                *(command, prefix, machine, Path(scratch), how.rate, how.event, how.overhead),
                aside=aside,
                context=context,
                sweep=sweep,
            )
        )
    made = [path for path, stamp in sorted(_stamps(prefix).items()) if before.get(path) != stamp]
    if out is not None and len(made) == 1:
        made = [made[0].replace(out)]
    for text in (found.why if found else "", outcome.text):
        if text:
            note(text)
    if not made:
        so = "there is no profile"
        raise ThermoclineError(launch.nothing_ran(command, outcome, so, context))
    if context is not None:
        for path in made:
            name_paths(path, context)
    return Profiled([(path, model.load(path)) for path in made], outcome)


def _prefix(command: Sequence[str], out: Path | None) -> Path:
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
