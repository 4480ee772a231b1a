"""Runs a command with little near memory, below the migration engine."""

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thermocline import frames, units
from thermocline.errors import Misuse, ThermoclineError, one_line
from thermocline.frames import COUNT, NUMBER, TEXT
from thermocline.machine.model import Machine
from thermocline.notes import note
from thermocline.planning.model import Plan
from thermocline.run import launch, migration, preload, report

if TYPE_CHECKING:
    from pandas import DataFrame

GRANULARITIES = ("4K", "64K", "2M", "history", "sampling", "adaptive")
LEAST_CHUNKS = 4
CHUNK = 2 << 20  # bytes; the largest that any granularity moves


COLUMNS = {
    "pid": COUNT,
    "program": TEXT,
    "granularity": TEXT,
    "moves_in": COUNT,
    "bytes_in": COUNT,
    "moves_out": COUNT,
    "bytes_out": COUNT,
    "peak_near_bytes": COUNT,  # of the process
    "unmanaged_bytes": COUNT,  # the same
    "charged_in_seconds": NUMBER,  # the same
    "charged_out_seconds": NUMBER,  # the same
}


@dataclass(frozen=True)
class Migrated:
    """What the engine says of each process (docs/migration.md), and how the command ended."""

    machine_name: str
    status: int
    processes: list[dict[str, Any]]

    def to_json(self) -> dict[str, Any]:
        """One object."""
        return {
            "format": "thermocline-migration-summary",
            "version": 1,
            "machine": self.machine_name,
            "status": self.status,
            "processes": self.processes,
        }

    def frame(self) -> "DataFrame":
        """A row for each granularity that moved anything in a process."""
        return frames.of(
            (
                {**process, **moves, "program": Path(process["command"][0]).name}
                for process in self.processes
                for moves in process["moves"]
                if moves["moves_in"] or moves["moves_out"]
            ),
            COLUMNS,
        )


def migrate(
    command: Sequence[str],
    near: str,
    granularity: str,
    machine: Machine,
    machine_name: str,
    plan: Plan | None = None,
    prefetch: bool = False,
    check: bool = False,
    aside: bool = False,
) -> Migrated:
    """Runs the command; `near`: memory for it, such as 400MiB.

    `machine`: whose far memory is charged where it has no nodes.  `plan`: its tier 0 stays near,
    its last tier far, and the rest moves.  `aside`: the command's output goes to stderr.
    """
    if granularity not in GRANULARITIES:
        raise Misuse(f"no granularity {granularity!r}: there are {', '.join(GRANULARITIES)}")
    limit = units.parse_bytes(near)
    if limit < LEAST_CHUNKS * CHUNK:
        raise Misuse(
            f"--near {near} is less than {LEAST_CHUNKS} chunks of 2 MiB: "
            f"give {units.format_bytes(LEAST_CHUNKS * CHUNK)} or more"
        )
    if len(machine.tier) < 2:
        raise Misuse(f"machine {machine_name} has one kind of memory: name one with two")
    with tempfile.TemporaryDirectory(prefix="thermocline-migrate-") as name:
        scratch = Path(name)
        settled = scratch / "configuration"
        if plan is not None:
            text = migration.configuration(plan, machine, scratch / "report")
            settled.write_text(text, encoding="utf-8")
        words: dict[str, str | int] = {"near": limit, "policy": granularity, "check": int(check)}
        words["prefetch"] = int(prefetch)
        words["report"] = str(scratch / "migration")
        text = migration.settings(words, machine.tier[0], machine.tier[-1])
        more = migration.environment(text, bool(plan and plan.preload_context is not None))
        if plan is not None:
            more[launch.CONFIG_VARIABLE] = str(settled)
        status = _run(command, more, aside)
        files = sorted(scratch.glob("migration.*.json"))
        processes = [json.loads(file.read_text(encoding="utf-8")) for file in files]
        if plan is not None:
            _warn(plan, scratch, command)
    return Migrated(machine_name, status, processes)


def _run(command: Sequence[str], more: Mapping[str, str], aside: bool) -> int:
    preload.check(command)
    environment = {**os.environ, **more}
    try:
        done = subprocess.run(command, env=environment, stdout=2 if aside else None, check=False)
    except OSError as error:
        raise ThermoclineError(f"can't run {one_line(command[0])}: {error.strerror}") from error
    return launch.status_of(done.returncode)


def _warn(plan: Plan, scratch: Path, command: Sequence[str]) -> None:
    """Where the plan and the program are not of each other."""
    reports, complaints = report.gather(scratch)
    if plan.preload_context is not None:
        reports = report.with_readable_sites(reports, plan, plan.preload_context)
    for line in complaints:
        note(line)
    if not reports:
        note(launch.nothing_ran(command, launch.Outcome(0, 0), "the plan had no effect"))
    elif gone := report.never_came(reports):
        note(f"{len(gone)} of {len(plan.sites)} planned sites never came (the first: {min(gone)})")
