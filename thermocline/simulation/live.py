"""Simulates a program while it runs, with no file in between.

The program sends the raw stream (docs/trace-format.md) to a socket of ours; a thread copies it
into one pipe for each simulator, which are all at work at once.  Pipes hold little: the slowest
simulator sets the pace, and memory stays bounded.  Only the first annotated process below the
command is simulated.
"""

import os
import socket
import tempfile
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from thermocline.errors import Misuse, ThermoclineError
from thermocline.machine import store
from thermocline.planning.capacity import Capacity
from thermocline.run import config as run_config
from thermocline.run import launch
from thermocline.run.listener import Listener
from thermocline.simulation import comparison, runner

# What the program touches is known at its end: more than any, for schemes that ask.
_FOOTPRINT = 1 << 40
_EVERYTHING = 2**47  # references: no sampling windows
_PIECE = 1 << 18  # bytes


@dataclass(frozen=True)
class Done:
    """What the simulators said, how the command ended, and what a person should know."""

    answers: list[comparison.Answer]
    outcome: launch.Outcome
    notes: list[str]


def trace_of(command: Sequence[str], threads: int) -> comparison.Trace:
    """What stands for a trace in rows: nothing is known of the program but its threads."""
    survey = {
        "threads": threads,
        "references": 0,
        "instructions": 0,
        "touched_bytes": _FOOTPRINT,
        "owners": None,
        "meta": {"command": list(command)},
    }
    return comparison.Trace(Path(Path(command[0]).name), survey)


def check(capacities: Sequence[Capacity], region: dict[str, Any]) -> None:
    """Throws Misuse for what only a recorded trace can answer."""
    for capacity in capacities:
        if capacity.share is not None:
            raise Misuse(
                f"--capacity {capacity.text}: what a live program touches is known at its end:"
                " give bytes, such as 1GiB, or record it with thermocline trace"
            )
    if "first_window" in region:
        raise Misuse("--windows: a live program is not sampled: record it with thermocline trace")


class _Feed:
    """Copies the first process's stream into every pipe."""

    def __init__(self, socket_path: Path, pipes: Sequence[int]) -> None:
        self.processes = 0
        self._pipes = list(pipes)
        self._copying: threading.Thread | None = None
        self._listener = Listener(socket_path, self._accepted)

    def _accepted(self, connection: socket.socket) -> None:
        self.processes += 1
        if self._copying is None:
            self._copying = threading.Thread(target=self._copy, args=(connection,), daemon=True)
            self._copying.start()
        else:
            connection.close()  # that process stops recording

    def _copy(self, connection: socket.socket) -> None:
        with connection:
            while self._pipes:
                try:
                    piece = connection.recv(_PIECE)
                except OSError:
                    break
                if not piece:
                    break
                for pipe in list(self._pipes):
                    if not _write(pipe, piece):  # the simulator has had enough
                        self._pipes.remove(pipe)
                        os.close(pipe)
        self._close()

    def _close(self) -> None:
        for pipe in self._pipes:
            os.close(pipe)
        self._pipes.clear()

    def finish(self) -> None:
        """After the command has ended: all that it sent is in the pipes."""
        self._listener.finish()
        if self._copying is not None:
            self._copying.join()
        self._close()


def _write(pipe: int, piece: bytes) -> bool:
    left = memoryview(piece)
    try:
        while left:
            left = left[os.write(pipe, left) :]
    except BrokenPipeError:
        return False
    return True


def run(
    rows: Sequence[comparison.Row],
    command: Sequence[str],
    region: dict[str, Any],
    progress: runner.Progress,
    aside: bool,
) -> Done:
    """Runs the command and every row's simulation of it; `aside`: its output goes to stderr.

    Throws ThermoclineError if no annotated program ran, or if a simulation fails.
    """
    made = [replace(row, faithful=None) for row in rows]  # nothing can be read twice
    pipes = [os.pipe() for _ in made]
    functions = (str(region["function"]),) if "function" in region else ()
    part = run_config.Part(_EVERYTHING, functions=functions)
    with (
        tempfile.TemporaryDirectory(prefix="thermocline-live-") as scratch,
        ThreadPoolExecutor(1) as pool,
    ):
        feed = _Feed(Path(scratch) / "socket", [end for _, end in pipes])
        file = Path(scratch) / "config"
        text = run_config.for_recording(Path(scratch) / "socket", store.find("knl-7230"), part)
        file.write_text(text, encoding="utf-8")
        simulations = pool.submit(
            runner.run_all,
            [
                {**row.configured.json, "trace": f"/dev/fd/{end}"}
                for row, (end, _) in zip(made, pipes, strict=True)
            ],
            progress,
            len(made),
            [end for end, _ in pipes],
        )
        try:
            outcome = launch.launch(command, file, aside=aside)
        finally:
            feed.finish()
        if feed.processes == 0:
            raise ThermoclineError(launch.nothing_ran(command, outcome, "nothing was simulated"))
        answers = simulations.result()
    notes = [outcome.text] if outcome.text else []
    if feed.processes > 1:
        notes.append(f"{feed.processes - 1} more annotated processes ran: only the first counts")
    if any(row.faithful for row in rows):
        notes.append("how far screening is off is not known of a live run")
    found = [comparison.Answer(row, json) for row, json in zip(made, answers, strict=True)]
    return Done(found, outcome, notes)
