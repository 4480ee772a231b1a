"""Whether `machine measure` gives the bandwidths that likwid-bench gives.

    python bench/measure_likwid.py [--rounds N] [--threads N] [--json FILE]

The same pattern, sizes, vectors and processors by thermocline-measure and by likwid-bench (Debian's
likwid), one after the other in each round, the first of the two in turn.  The ratio is the median
over rounds with its 95 % interval; the goal is that it lies within 5 % of one.  Both run
before other programs (nice -20) where that is allowed, or those would decide; and of likwid-bench
the least often interrupted of some runs is taken, as ours leaves out disturbed goes itself.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
from pathlib import Path
from typing import Any

from thermocline.machine import measurement, processors
from thermocline.measuring.paired import BenchError, Ratio

GOAL = 0.05
MEGABYTES = 256  # of all arrays together; many times the last level of cache
GOES = 21
TRIES = 3
# Ours and likwid's name; they count the same bytes.
PATTERNS = {
    "read": "load",
    "nt-write": "store_mem",
    "nt-copy": "copy_mem",
    "1r1w": "update",
}
SUFFIX = {"avx512": "_avx512", "avx2": "_avx", "sse2": "_sse"}


def urgent() -> None:
    """In the child: before other programs, but not real-time, in which likwid's threads spin.

    Linux weighs sessions first (autogroups), and niceness only within one.
    """
    os.setsid()
    with contextlib.suppress(OSError):
        os.nice(-20)
        Path("/proc/self/autogroup").write_text("-20")


def call(command: list[str]) -> str:
    """What it prints."""
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=60, preexec_fn=urgent
    )
    if done.returncode != 0:
        raise BenchError(f"{command[0]}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def ours(pattern: str, cpus: list[int], pages: str) -> tuple[float, str]:
    """Bytes a second, and the vectors used."""
    text = call(
        [
            str(measurement.program()),
            "bandwidth",
            *("--cpus", ",".join(map(str, cpus)), "--threads", str(len(cpus))),
            *("--bytes", str(MEGABYTES * 10**6), "--patterns", pattern),
            *("--goes", str(GOES), "--pages", pages),
        ]
    )
    line = measurement.parse(text)
    return statistics.median(line.values), line.isa


def likwid(pattern: str, cpus: list[int], isa: str) -> float:
    """Bytes a second."""
    kernel = PATTERNS[pattern] + SUFFIX[isa]
    group = f"S0:{MEGABYTES}MB:{len(cpus)}"
    command = ["likwid-bench", "-t", kernel, "-w", group, "-i", str(12 * len(cpus))]
    tries = []
    for _ in range(TRIES):  # the one in which others took its processors least often
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_nivcsw
        text = call(command)
        taken = resource.getrusage(resource.RUSAGE_CHILDREN).ru_nivcsw - before
        tries.append((taken, text))
        if taken == 0:
            break
    text = min(tries)[1]
    found = re.search(r"MByte/s:\s+([0-9.]+)", text)
    if not found:
        raise BenchError(f"likwid-bench -t {kernel} printed no MByte/s")
    return float(found[1]) * 1e6


def pair(pattern: str, cpus: list[int], pages: str, isa: str, first: bool) -> tuple[float, float]:
    """One round: ours, and theirs."""
    theirs = 0.0 if first else likwid(pattern, cpus, isa)
    mine, _ = ours(pattern, cpus, pages)
    return mine, likwid(pattern, cpus, isa) if first else theirs


def main() -> None:
    """Runs all and prints a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, help="[one a core]")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if not shutil.which("likwid-bench"):
        raise SystemExit("measure_likwid: apt-get install likwid")
    huge = Path("/sys/kernel/mm/transparent_hugepage/enabled").read_text()
    pages = "huge" if "[always]" in huge else "small"
    cpus = min(processors.by_node().items())[1][: options.threads]
    rows: list[dict[str, Any]] = []
    print(f"{len(cpus)} thread(s), {MEGABYTES} MB, pages {pages}; GB/s")
    print(f"{'':<10} {'ours':>8} {'likwid':>8}  ratio [95 %]")
    for pattern in PATTERNS:
        _, isa = ours(pattern, cpus, pages)
        rounds = [pair(pattern, cpus, pages, isa, n % 2 == 0) for n in range(options.rounds)]
        ratio = Ratio([mine / theirs for mine, theirs in rounds])
        mine, theirs = (statistics.median(side) / 1e9 for side in zip(*rounds, strict=True))
        inside = ratio.low >= 1 - GOAL and ratio.high <= 1 + GOAL
        outside = ratio.low > 1 + GOAL or ratio.high < 1 - GOAL
        verdict = "met" if inside else "missed" if outside else "inconclusive"
        print(f"{pattern:<10} {mine:>8.2f} {theirs:>8.2f}  {ratio} {verdict}", flush=True)
        rows.append({"pattern": pattern, "ratio": ratio.as_json(), "verdict": verdict})
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
