"""How much slower annotated programs run while the trace profile records them.

    python3 bench/trace_slowdown.py [--rounds 5] -- PROGRAM ARG... [-- PROGRAM ARG...]

Each program must have been built by the wrappers.  Runs alternate between plain and
recorded; the ratio is of the medians of user time, and the last line is their geometric
mean, to hold against the goal of 4.
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

GOAL = 4.0
CONFIG = """thermocline-config 1
heap sites
sampler trace
profile {prefix}
interval-ms 100
cache 1 bytes 32768 ways 8 line 64 private
cache 2 bytes 1048576 ways 16 line 64 private
cache 3 bytes 33554432 ways 16 line 64 shared
"""


def user_seconds(command: list[str], config: Path | None) -> float:
    environment = {k: v for k, v in os.environ.items() if k != "THERMOCLINE_CONFIG"}
    if config:
        environment["THERMOCLINE_CONFIG"] = str(config)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def split(words: list[str]) -> list[list[str]]:
    commands: list[list[str]] = [[]]
    for word in words:
        if word == "--":
            commands.append([])
        else:
            commands[-1].append(word)
    return [command for command in commands if command]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("words", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    commands = split(arguments.words)
    if not commands:
        parser.error("name a program to run, after --")
    ratios: list[float] = []
    with tempfile.TemporaryDirectory() as directory:
        config = Path(directory) / "config"
        config.write_text(CONFIG.format(prefix=Path(directory) / "run"))
        for command in commands:
            plain: list[float] = []
            recorded: list[float] = []
            for _ in range(arguments.rounds):
                plain.append(user_seconds(command, None))
                recorded.append(user_seconds(command, config))
            before, after = statistics.median(plain), statistics.median(recorded)
            ratio = after / before if before > 0 else math.nan
            ratios.append(ratio)
            name = Path(command[0]).name
            print(f"{name:<20} plain {before:8.3f} s   recorded {after:8.3f} s   {ratio:6.2f}x")
    mean = math.exp(statistics.fmean(math.log(ratio) for ratio in ratios))
    verdict = "reached" if mean <= GOAL else "missed"
    print(f"geometric mean {mean:.2f}x, goal {GOAL:.0f}x: {verdict}")
    return 0 if mean <= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
