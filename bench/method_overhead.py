"""What the methods of profiling cost real programs, against the same programs unprofiled.

    python bench/method_overhead.py [--programs lua,gawk] [--methods none,pages] [--rounds N]
        [--json FILE]

All variants are one annotated executable. `none` is the profiling heap alone, which every method
needs: what a method adds to it is its ratio over `none`. Gates (time, geometric mean over the
programs, at the default budgets): pages 1.05, bursts 1.10. `sample` takes part where the processor
samples addresses. Where it can't, page faults at one in 1024 take their path through the kernel's
rings, named so: their cost says nothing of PEBS, IBS or SPE. Time is compared, not instructions:
what these methods cost is mostly the kernel's.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from thermocline import methods
from thermocline.machine import store
from thermocline.measuring.paired import (
    Command,
    GeometricMean,
    Ratio,
    Series,
    describe_machine,
    print_table,
    run_paired,
    write_json,
)
from thermocline.measuring.real_programs import REAL_PROGRAMS, BuiltProgram, prefix
from thermocline.methods.base import Request
from thermocline.run import config

BASELINE, HEAP = "unprofiled", "none"
GATES = {"pages": 1.05, "bursts": 1.10}
FAULTS = "sample, page faults"
DEFAULT_METHODS = ("none", "sample", "pages", "bursts")
METRICS = ("seconds", "peak_resident_bytes")


def configurations(names: list[str], work: Path) -> dict[str, Path]:
    """A configuration for each method that this host offers."""
    machine = store.find("detect")
    found = {}
    for name in names:
        method = methods.find(name)
        title, rate, event = name, None, None
        if lacks := method.lacks():
            print(f"{name}: {lacks}")
            if name != "sample":
                continue
            title, rate, event = FAULTS, 1024, "page-faults"
        out = work / title.replace(" ", "-").replace(",", "")
        request = Request((), out / "profile", machine, work, rate, event)
        out.mkdir()
        file = out / "config"
        file.write_text(config.for_profile(out / "profile", machine, method.directives(request)))
        found[title] = file
    return found


def measure(program: BuiltProgram, files: dict[str, Path], rounds: int) -> Series:
    link = program.link("annotated", [str(prefix() / "bin" / "thermocline-clang")])
    subprocess.run(link.run.argv, cwd=link.run.directory, check=True)
    commands: dict[str, Command] = {BASELINE: program.command(link.executable)}
    for title, file in files.items():
        commands[title] = program.command(link.executable, {"THERMOCLINE_CONFIG": str(file)})
    return run_paired(commands, rounds=rounds, count_rounds=0)


def ratios(series: dict[str, Series], title: str, baseline: str, metric: str) -> list[Ratio]:
    found = [each.ratio(title, baseline, metric) for each in series.values()]
    return [ratio for ratio in found if ratio]


def print_results(series: dict[str, Series], titles: list[str]) -> bool:
    """The tables; whether a gate is missed."""
    rows = [
        [program, title, *(str(each.ratio(title, BASELINE, metric) or "-") for metric in METRICS)]
        for program, each in series.items()
        for title in titles
    ]
    print_table(["program", "method", "time", "peak resident"], rows)
    print()
    failed, rows = False, []
    for title in titles:
        mean = GeometricMean(ratios(series, title, BASELINE, "seconds"))
        added = "-"
        if HEAP in titles and title != HEAP:
            added = str(GeometricMean(ratios(series, title, HEAP, "seconds")))
        verdict = mean.verdict(GATES[title]) if title in GATES else ""
        failed |= verdict == "fail"
        gate = f"{GATES[title]}: {verdict}" if title in GATES else ""
        rows.append([title, str(mean), added, gate])
    print_table(["method", "time, geometric mean", "over the heap alone", "gate"], rows)
    return failed


def main() -> int:
    """Builds, measures, prints tables; status 1 when a gate is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--programs", default=",".join(REAL_PROGRAMS))
    parser.add_argument("--methods", default=",".join(DEFAULT_METHODS))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--work", type=Path, default=prefix() / "bench" / "real")
    parser.add_argument("--json", help="also write the numbers here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        files = configurations(options.methods.split(","), Path(scratch))
        series = {
            program: measure(BuiltProgram(program, options.work), files, options.rounds)
            for program in options.programs.split(",")
        }
    failed = print_results(series, list(files))
    print(describe_machine(next(iter(series.values())).counter))
    document: dict[str, Any] = {
        "gates": GATES,
        "programs": {name: each.as_json(BASELINE) for name, each in series.items()},
    }
    write_json(options.json, document)
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
