"""Follows programs below the migration engine by the reports that it writes meanwhile.

The engine writes PREFIX.PID.json aside and renames it, each second (migration/engine/report.cpp);
two of them in turn give rates.
"""

import json
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thermocline.live.written import Written
from thermocline.run.migration import VARIABLE

COUNTS = ("moves_in", "moves_out", "bytes_in", "bytes_out")


@dataclass(frozen=True)
class Moves:
    """Of one granularity: chunks and bytes since the start, and a second since the last look."""

    granularity: str
    moves_in: int
    moves_out: int
    bytes_in: int
    bytes_out: int
    moves_in_per_second: float
    moves_out_per_second: float
    bytes_in_per_second: float
    bytes_out_per_second: float


@dataclass(frozen=True)
class Migrating:
    """A process at the engine's last report; rates are of the second before it."""

    pid: int
    program: str
    seconds: float  # since its start
    granularity: str  # as it was asked for
    near_bytes: int  # what there is
    resident_near_bytes: int
    far_bytes: int
    faults: int  # on far data
    faults_per_second: float
    soft_faults_per_second: float  # on data that is about to leave, or is watched for use
    evictions: int
    evictions_per_second: float
    moves: list[Moves]


def _migrating(pid: int, now: Mapping[str, Any], last: Mapping[str, Any] | None) -> Migrating:
    before: Mapping[str, Any] = last or {"moves": [{} for _ in now["moves"]]}
    seconds = max(1e-3, now["wall_seconds"] - before.get("wall_seconds", 0.0))

    def rate(name: str, of: Mapping[str, Any] = now, then: Mapping[str, Any] = before) -> float:
        return float(max(0.0, (of[name] - then.get(name, 0)) / seconds))

    def moves(each: Mapping[str, Any], then: Mapping[str, Any]) -> Moves:
        counts = [each[name] for name in COUNTS]
        return Moves(each["granularity"], *counts, *(rate(name, each, then) for name in COUNTS))

    return Migrating(
        pid,
        Path(now["command"][0]).name if now["command"] else "?",
        now["wall_seconds"],
        now["granularity"],
        now["near_bytes"],
        now["resident_near_bytes"],
        now["far_bytes"],
        now["faults"],
        rate("faults"),
        rate("soft_faults"),
        now["evictions"],
        rate("evictions"),
        [moves(each, then) for each, then in zip(now["moves"], before["moves"], strict=True)],
    )


class MigrationFollower(Written[Migrating]):
    """Follows processes by the reports that the engine writes."""

    SUFFIX = "json"
    UNREADABLE = (OSError, ValueError, KeyError, TypeError)

    def __init__(self, prefix: Path, pid: int | None = None) -> None:
        super().__init__(prefix, pid)
        self._last: dict[int, dict[str, Any]] = {}

    def _read(self, pid: int, path: Path) -> Migrating:
        found = json.loads(path.read_text(encoding="utf-8"))
        now = _migrating(pid, found, self._last.get(pid))
        self._last[pid] = found
        return now


def is_migrate(command: Sequence[str]) -> bool:
    """Whether the command is `thermocline migrate`."""
    return Path(command[0]).name == "thermocline" and command[1:2] == ["migrate"]


def end(process: subprocess.Popen[bytes]) -> None:
    """Of `thermocline migrate`: its programs, so that it ends by itself, or it, where none runs."""
    for pid in list(descendants(process.pid)) or [process.pid]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)


class StartedFollower:
    """Of `thermocline migrate`, process `pid`: its programs say where their reports go."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._follower: MigrationFollower | None = None

    def look(self) -> list[Migrating]:
        """As MigrationFollower's, once a program has begun."""
        if self._follower is None:
            prefixes = (prefix_of(below) for below in descendants(self._pid))
            prefix = next((each for each in prefixes if each is not None), None)
            self._follower = None if prefix is None else MigrationFollower(prefix)
        return [] if self._follower is None else self._follower.look()


def prefix_of(pid: int) -> Path | None:
    """Where the engine in a running process writes; None: it has none, or can't be looked at."""
    try:
        environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return None
    start = f"{VARIABLE}=".encode()
    for entry in environment:
        if entry.startswith(start):
            words = entry[len(start) :].decode(errors="replace").split(";")
            for word in words:
                name, _, value = word.partition("=")
                if name == "report" and value:
                    return Path(value)
    return None


def descendants(pid: int) -> Iterator[int]:
    """Running processes that it started, and theirs."""
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = path.read_text(encoding="ascii").split()
        except OSError:
            continue
        for child in map(int, children):
            yield child
            yield from descendants(child)
