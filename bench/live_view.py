"""What `thermocline top` costs the program that it watches.

    python bench/live_view.py [--pairs N] [--method METHOD] [--json FILE]

workloads/multigrid.c, annotated: below `top --json`, below `thermocline profile` by the same
method, and alone, in turn.  The program's own processor time (its kernel's included), so that what
top itself uses on another core does not count as the program's; that stands beside it, a second of
the run.  top's own share is the first ratio (bound: 1.01); what measuring costs, with top or
without, is the second.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from thermocline.measuring.paired import Ratio, describe_machine, print_table, write_json

REPOSITORY = Path(__file__).resolve().parent.parent
ARGUMENTS = ("112",)
BOUND = 1.01
RAW = argparse.RawDescriptionHelpFormatter
# Runs a command and leaves its processor time in a file.
TIMED = """
import pathlib, resource, subprocess, sys
subprocess.run(sys.argv[2:], check=True, stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
pathlib.Path(sys.argv[1]).write_text(str(used.ru_utime + used.ru_stime))
"""


def build(directory: Path) -> Path:
    """The annotated program."""
    prefix = Path(os.environ.get("THERMOCLINE_PREFIX", REPOSITORY / "build")).resolve()
    command = ["make", "-s", "-C", str(REPOSITORY / "workloads"), f"OUT={directory}"]
    subprocess.run(
        [*command, f"CC={prefix / 'bin' / 'thermocline-clang'}", "multigrid"], check=True
    )
    return directory / "multigrid"


def run(before: list[str], program: Path, folder: Path) -> tuple[float, float, float]:
    """Processor seconds of the program and of all else, and the seconds that it took."""
    file = folder / "seconds"
    command = [sys.executable, "-c", TIMED, str(file), str(program), *ARGUMENTS]
    start, earlier = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*before, *command], check=True, capture_output=True, cwd=folder)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    whole = used.ru_utime + used.ru_stime - earlier.ru_utime - earlier.ru_stime
    own = float(file.read_text())
    return own, whole - own, time.monotonic() - start


def main() -> int:
    """Measures, prints a table, judges the first ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=RAW)
    parser.add_argument("--pairs", type=int, default=11)
    parser.add_argument("--method", default="pages")
    parser.add_argument("--json")
    options = parser.parse_args()
    thermocline = [sys.executable, "-m", "thermocline"]
    measure = ["--method", options.method]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = build(folder)
        variants = {
            "alone": [],
            "profiled": [*thermocline, "profile", *measure, "--force", "-o", "p.profile", "--"],
            "watched": [*thermocline, "top", "--json", *measure, "--"],
        }
        taken: dict[str, list[tuple[float, float, float]]] = {each: [] for each in variants}
        for pair in range(options.pairs + 1):  # the first is not counted
            names = list(variants)
            for variant in names[pair % 3 :] + names[: pair % 3]:
                taken[variant].append(run(variants[variant], program, folder))

    def ratio(one: str, other: str) -> Ratio:
        pairs = zip(taken[one][1:], taken[other][1:], strict=True)
        return Ratio([ours[0] / theirs[0] for ours, theirs in pairs])

    by_top, by_all = ratio("watched", "profiled"), ratio("watched", "alone")
    beside = Ratio([rest / seconds for _, rest, seconds in taken["watched"][1:]])
    print(describe_machine("none").split(";")[0])
    print_table(
        ["the program's processor time", "ratio", f"bound {BOUND}"],
        [
            ["watched over profiled", str(by_top), by_top.verdict(BOUND)],
            [f"watched over alone ({options.method})", str(by_all), ""],
            ["top's own, a second of the run", str(beside), ""],
        ],
    )
    write_json(
        options.json,
        {
            "method": options.method,
            "watched_over_profiled": by_top.as_json(),
            "watched_over_alone": by_all.as_json(),
            "own_share_of_a_processor": beside.as_json(),
        },
    )
    return int(by_top.verdict(BOUND) == "fail")


if __name__ == "__main__":
    sys.exit(main())
