"""Paired, interleaved runs of two or more variants of a program, and their ratios.

A shared machine is noisy: medians of two series taken one after the other can differ by
15 % with nothing changed. So each round runs every variant once, in an order that varies,
and only ratios within a round are used; their median comes with a 95 % interval from the
bootstrap. Gates are on instructions retired in user mode, which noise hardly moves. Where
the machine has no instruction counter (many virtual machines), valgrind counts instead,
outside the timed runs. "inconclusive" means that the interval lies on both sides of the gate.

    series = run_paired({"plain": Command(("./a",)), "ours": Command(("./b",))})
    ratio = series.ratio("ours", "plain", "instructions")
    print(ratio, ratio.verdict(1.01))
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from thermocline import paths
from thermocline.errors import ThermoclineError

RESAMPLES = 2000
METRICS = ("instructions", "cycles", "seconds", "peak_resident_bytes")


class BenchError(ThermoclineError):
    """A measurement that cannot be made; the message says what to do."""


@dataclass(frozen=True)
class Command:
    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    directory: Path | None = None
    stdin: Path | None = None


class Sample(NamedTuple):
    seconds: float
    instructions: float | None
    cycles: float | None
    peak_resident_bytes: float
    output: str  # a digest of stdout, to see that variants do the same work


class Ratio:
    """A ratio's values, one a round; prints as `1.006 [1.004, 1.009]`."""

    def __init__(self, values: Sequence[float]) -> None:
        self.values = tuple(values)
        self.median = statistics.median(self.values)
        medians = sorted(_resampled_medians(self.values))
        self.low, self.high = _interval(medians)

    def verdict(self, gate: float) -> str:
        if self.high <= gate:
            return "pass"
        return "fail" if self.low > gate else "inconclusive"

    def as_json(self) -> dict[str, Any]:
        return {"median": self.median, "interval": [self.low, self.high], "rounds": self.values}

    def __str__(self) -> str:
        return f"{self.median:.4f} [{self.low:.4f}, {self.high:.4f}]"


class GeometricMean(Ratio):
    """The geometric mean over programs; each resample draws anew for every program."""

    def __init__(self, ratios: Sequence[Ratio]) -> None:
        self.values = tuple(ratio.median for ratio in ratios)
        self.median = _geometric(self.values)
        draws = [_resampled_medians(ratio.values) for ratio in ratios]
        means = sorted(_geometric(medians) for medians in zip(*draws, strict=True))
        self.low, self.high = _interval(means)


def _geometric(values: Sequence[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, values)))


def _resampled_medians(values: Sequence[float]) -> list[float]:
    draw = random.Random(len(values))
    return [statistics.median(draw.choices(values, k=len(values))) for _ in range(RESAMPLES)]


def _interval(ordered: Sequence[float]) -> tuple[float, float]:
    return ordered[int(0.025 * len(ordered))], ordered[int(0.975 * len(ordered)) - 1]


@dataclass
class Series:
    samples: dict[str, list[Sample]]
    counts: dict[str, list[float]]
    counter: str  # "perf", "valgrind" or "none"

    def values(self, variant: str, metric: str) -> list[float] | None:
        if metric == "instructions":
            return self.counts[variant] or None
        found = [getattr(sample, metric) for sample in self.samples[variant]]
        return None if None in found else found

    def ratio(self, variant: str, baseline: str, metric: str) -> Ratio | None:
        """None when this machine cannot measure the metric."""
        ours, theirs = self.values(variant, metric), self.values(baseline, metric)
        if ours is None or theirs is None:
            return None
        return Ratio([a / b for a, b in zip(ours, theirs, strict=True)])

    def as_json(self, baseline: str) -> dict[str, Any]:
        result: dict[str, Any] = {"counter": self.counter, "baseline": baseline, "variants": {}}
        for variant in self.samples:
            entry: dict[str, Any] = {}
            for metric in METRICS:
                values, ratio = self.values(variant, metric), self.ratio(variant, baseline, metric)
                if values and ratio:
                    entry[metric] = {"median": statistics.median(values)} | ratio.as_json()
            result["variants"][variant] = entry
        return result


def run_paired(
    variants: Mapping[str, Command],
    *,
    rounds: int = 15,
    count_rounds: int = 2,
    same_output: bool = True,
) -> Series:
    """Runs every variant `rounds` times, interleaved; one unmeasured run of each comes first.

    `count_rounds` is how often valgrind counts where there is no counter; 0 leaves it out.
    """
    order = list(variants)
    shuffle = random.Random(1)
    with tempfile.TemporaryDirectory() as scratch:
        warm = {name: measure(command, Path(scratch)) for name, command in variants.items()}
        outputs = {sample.output for sample in warm.values()}
        if same_output and len(outputs) != 1:
            raise BenchError(f"{', '.join(variants)} print different things: compare them by hand")
        samples: dict[str, list[Sample]] = {name: [] for name in variants}
        for _ in range(rounds):
            shuffle.shuffle(order)
            for name in order:
                samples[name].append(measure(variants[name], Path(scratch)))
        if all(sample.instructions is not None for sample in warm.values()):
            counts = {
                name: [sample.instructions for sample in taken if sample.instructions]
                for name, taken in samples.items()
            }
            return Series(samples, counts, "perf")
        if count_rounds == 0 or not shutil.which("valgrind"):
            return Series(samples, {name: [] for name in variants}, "none")
        counts = {
            name: [count_by_valgrind(command, Path(scratch)) for _ in range(count_rounds)]
            for name, command in variants.items()
        }
        return Series(samples, counts, "valgrind")


@functools.cache
def _measure_program() -> Path:
    """measure.c, compiled once per version of it."""
    source = Path(__file__).with_name("measure.c")
    cache = paths.cache()
    digest = hashlib.sha256(source.read_bytes()).hexdigest()[:16]
    program = cache / f"measure-{digest}"
    if not program.exists():
        compiler = shutil.which("cc") or shutil.which("clang-22")
        if not compiler:
            raise BenchError("no C compiler for measure.c: apt-get install clang-22")
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as scratch:
            fresh = Path(scratch) / "measure"
            subprocess.run([compiler, "-O2", str(source), "-o", str(fresh)], check=True)
            fresh.rename(program)
    return program


def _run(command: Command, prefix: Sequence[str], scratch: Path) -> str:
    """Runs the command behind `prefix`; the digest of what it printed."""
    with (
        open(command.stdin or os.devnull, "rb") as stdin,
        (scratch / "stdout").open("w+b") as stdout,
        (scratch / "stderr").open("w+b") as stderr,
    ):
        answer = subprocess.run(
            [*prefix, *command.argv],
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd=command.directory,
            env={**os.environ, **command.environment},
            check=False,
        )
        if answer.returncode != 0:
            said = (scratch / "stderr").read_text(errors="replace").strip()
            raise BenchError(f"{' '.join([*prefix, *command.argv])} failed: {said[-500:]}")
        stdout.seek(0)
        return hashlib.sha256(stdout.read()).hexdigest()


def measure(command: Command, scratch: Path) -> Sample:
    result = scratch / "result"
    digest = _run(command, [str(_measure_program()), str(result)], scratch)
    seconds, instructions, cycles, resident, status = result.read_text().split()
    if status != "0":
        said = (scratch / "stderr").read_text(errors="replace").strip()
        raise BenchError(f"{' '.join(command.argv)} ended with status {status}: {said[-500:]}")
    return Sample(
        float(seconds),
        None if instructions == "-" else float(instructions),
        None if cycles == "-" else float(cycles),
        float(resident),
        digest,
    )


def count_by_valgrind(command: Command, scratch: Path) -> float:
    """Instructions executed in user mode by the command and its children."""
    for old in scratch.glob("count.*"):
        old.unlink()
    tool = ["valgrind", "--tool=exp-bbv", "--instr-count-only=yes", "--trace-children=yes"]
    tool += [f"--bb-out-file={scratch}/blocks", f"--pc-out-file={scratch}/positions"]
    _run(command, [*tool, f"--log-file={scratch}/count.%p"], scratch)
    logs = "".join(log.read_text() for log in scratch.glob("count.*"))
    return float(sum(map(int, re.findall(r"Total instructions: (\d+)", logs))))


def print_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    for row in (heads, *rows):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        print("  ".join(cells).rstrip())


def describe_machine(counter: str) -> str:
    source = {
        "perf": "instructions from the CPU's counter",
        "valgrind": "instructions counted by valgrind (this machine has no counter)",
        "none": "no instruction counts here: apt-get install valgrind",
    }[counter]
    return f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}; {source}"


def write_json(path: str | None, document: Mapping[str, Any]) -> None:
    if path:
        Path(path).write_text(json.dumps(document, indent=1) + "\n")
        print(f"written to {path}", file=sys.stderr)
