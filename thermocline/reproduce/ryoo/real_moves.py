"""The engine of real pages on chapter 6's programs, with the time that far memory would take.

Each program runs plainly and below `thermocline migrate` with near memory of the same share of its
memory.  What takes too long is ended: its time is then a lower bound.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from thermocline.reproduce import workloads
from thermocline.reproduce.item import Table
from thermocline.reproduce.ryoo.migrated import MB, NEAR_MB, POLICIES
from thermocline.reproduce.ryoo.mixes import Mix, MixStudy
from thermocline.reproduce.study import Update

MACHINE = "ryoo-migration"
LIMIT = 4.0  # seconds of a run under the engine
ENGINE = [sys.executable, "-m", "thermocline", "migrate", "--machine", MACHINE, "--json"]
# What a command took that way: seconds, faults, and whether it was ended, or killed for want of
# memory; None: not on this host.
Way = Callable[[Sequence[str]], dict[str, Any] | None]


def near_bytes(study: MixStudy) -> int:
    """Of all these runs."""
    return NEAR_MB * MB // study.size.near_divisor


def ways(near: int, policies: Sequence[str]) -> dict[str, Way]:
    """Below the engine, less the least that an empty command takes of three."""
    empty = [_engine([*ENGINE, "--near", str(near), "--", "true"]) for _ in range(3)]
    start = min((each["seconds"] for each in empty if each), default=0.0)

    def way(policy: str) -> Way:
        def run(command: Sequence[str]) -> dict[str, Any] | None:
            made = _engine([*ENGINE, "--near", str(near), "--granularity", policy, "--", *command])
            return made and {**made, "seconds": made["seconds"] - start}

        return run

    return {policy: way(policy) for policy in policies}


def measure(
    mixes: Sequence[Mix], update: Update, how: Mapping[str, Way], note: str
) -> dict[str, Any]:
    """By program and way, one run each, beside the plain one; none where there is no engine."""
    found: dict[str, dict[str, Any]] = {}
    for number, mix in enumerate(mixes):
        executable = workloads.build(mix.program, None) / mix.program
        command = [str(executable), *mix.arguments]
        plain = min(_seconds(command, None) for _ in range(2))
        found[mix.name] = {"plain": plain}
        for place, (name, run) in enumerate(how.items()):
            made = run(command)
            if made is None:
                why = "the engine does not run here: see 'thermocline doctor'"
                return {"found": {}, "notes": [why]}
            found[mix.name][name] = {**made, "seconds": max(plain, made["seconds"])}
            update("running", (number + (place + 1) / len(how)) / len(mixes))
    return {"found": found, "notes": [note]}


def note(near: int) -> str:
    """How real runs were made."""
    return (
        f"real: one run each on this host, near memory {near // MB} MiB, far memory's time charged"
        f" as {MACHINE} has it; the whole run, less the least that an empty command took of three;"
        f" ended after {LIMIT:g} s (then the number is a lower bound)"
    )


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


def cells(found: Mapping[str, Any] | None, names: Sequence[str]) -> tuple[str, ...]:
    """Times over the plain one."""
    if not found:
        return ("-",) * len(names)

    def cell(each: Mapping[str, Any]) -> str:
        if each.get("killed"):
            return "killed"
        return f"{'> ' if each['ended'] else ''}{each['seconds'] / found['plain']:.1f}"

    return tuple(cell(found[name]) for name in names)


def table(mixes: Sequence[Mix], real: Mapping[str, Any]) -> Table:
    """Beside the simulated one."""
    return Table(
        "Real pages, whole runs: time over that of the plain program",
        ("workload", *POLICIES),
        tuple((mix.label, *cells(real["found"].get(mix.name), POLICIES)) for mix in mixes),
    )
