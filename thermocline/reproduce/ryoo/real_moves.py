"""The engine of real pages on chapter 6's programs, with the time that far memory would take.

Each program runs plainly and below `thermocline migrate` with near memory of the same share of its
memory.  What takes too long is ended: its time is then a lower bound.
"""

import json
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

from thermocline.reproduce import workloads
from thermocline.reproduce.item import Table
from thermocline.reproduce.ryoo.migrated import MB, NEAR_MB, POLICIES
from thermocline.reproduce.ryoo.mixes import Mix, MixStudy
from thermocline.reproduce.study import Update

MACHINE = "ryoo-migration"
LIMIT = 4.0  # seconds of a run under the engine
ENGINE = [sys.executable, "-m", "thermocline", "migrate", "--machine", MACHINE, "--json"]


def measure(study: MixStudy, mixes: Sequence[Mix], update: Update) -> dict[str, Any]:
    """Seconds by program and policy, one run each; None where there is no engine."""
    near = NEAR_MB * MB // study.size.near_divisor
    found: dict[str, dict[str, Any]] = {}
    empty = [_engine([*ENGINE, "--near", str(near), "--", "true"]) for _ in range(3)]
    start = min((each["seconds"] for each in empty if each), default=0.0)
    for number, mix in enumerate(mixes):
        executable = workloads.build(mix.program, None) / mix.program
        command = [str(executable), *mix.arguments]
        plain = min(_seconds(command, None) for _ in range(2))
        found[mix.name] = {"plain": plain}
        for place, policy in enumerate(POLICIES):
            words = [*ENGINE, "--near", str(near), "--granularity", policy, "--", *command]
            made = _engine(words)
            if made is None:
                why = "the engine does not run here: see 'thermocline doctor'"
                return {"found": {}, "notes": [why]}
            found[mix.name][policy] = {**made, "seconds": max(plain, made["seconds"] - start)}
            update("running", (number + (place + 1) / len(POLICIES)) / len(mixes))
    note = (
        f"real: one run each on this host, near memory {near // MB} MiB, far memory's time charged"
        f" as {MACHINE} has it; the whole run, less the least that an empty command took of three;"
        f" ended after {LIMIT:g} s (then the number is a lower bound)"
    )
    return {"found": found, "notes": [note]}


def _seconds(command: Sequence[str], limit: float | None) -> float:
    begin = time.monotonic()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True, timeout=limit)
    return time.monotonic() - begin


def _engine(words: Sequence[str]) -> dict[str, Any] | None:
    begin = time.monotonic()
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True
    ) as process:
        try:
            out, _ = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            _end(process)
            return {"seconds": LIMIT, "ended": True}
    seconds = time.monotonic() - begin
    try:
        (report,) = json.loads(out)["processes"]
    except (ValueError, KeyError):
        return None
    if process.returncode != 0:
        return None
    return {"seconds": seconds, "ended": False, "faults": report["faults"]}


def _end(process: "subprocess.Popen[str]") -> None:
    """The command and what it started, a session of their own."""
    import os
    import signal

    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def table(mixes: Sequence[Mix], real: Mapping[str, Any]) -> Table:
    """Beside the simulated one."""
    rows = []
    for mix in mixes:
        found = real["found"].get(mix.name)
        if not found:
            rows.append((mix.label, *("-" for _ in POLICIES)))
            continue
        cells = []
        for policy in POLICIES:
            each = found[policy]
            bound = "> " if each["ended"] else ""
            cells.append(f"{bound}{each['seconds'] / found['plain']:.1f}")
        rows.append((mix.label, *cells))
    return Table(
        "Real pages, whole runs: time over that of the plain program",
        ("workload", *POLICIES),
        tuple(rows),
    )
