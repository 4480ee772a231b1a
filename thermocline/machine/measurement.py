"""Measures this host's memory through thermocline-measure, for each pair of nodes.

Each point is the median of several goes, with the exact 95 % interval of a median (from order
statistics), which assumes nothing of how goes are distributed.  The native program leaves out goes
in which something else had one of the processors, as far as there are enough others.
"""

import json
import statistics
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from thermocline import paths
from thermocline.errors import ThermoclineError, one_line
from thermocline.machine import curves
from thermocline.machine.curves import Curve, Pages, What
from thermocline.machine.measurement_plan import Run, Wanted
from thermocline.validation import Strict, first_problem

COVERAGE = 0.95


class Line(Strict):
    """What it prints for each point."""

    kind: What
    isa: str
    huge_share: float = Field(ge=0, le=1)
    dax: bool
    values: list[float] = Field(min_length=1)
    pattern: str = ""
    bytes: int = 0
    threads: int = 0
    flops_per_byte: float = 0
    pause: int = 0
    quiet: int | None = None
    bandwidth: list[float] = Field(default=[])


@dataclass
class Found:
    """The curves, and what a person should know of them."""

    curves: list[Curve] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    isa: str = ""


def program() -> Path:
    """thermocline-measure."""
    found = paths.library("thermocline-measure")
    if not found.exists():
        raise ThermoclineError(f"{found} is missing: run make build, or set THERMOCLINE_PREFIX")
    return found


def measure(runs: Sequence[Run], wanted: Wanted, done: Callable[[Run], None]) -> Found:
    """Runs all; `done` is called after every point."""
    found = Found()
    disturbed = points = 0
    small = False
    for run in runs:
        if run.what == "power":
            continue
        lines = []
        for line in _lines(run):
            lines.append(line)
            done(run)
            points += 1
            disturbed += line.quiet is not None and line.quiet < len(line.values)
            small |= wanted.pages == "huge" and line.huge_share < 0.5
        found.isa = lines[-1].isa
        found.curves += _curves(run, lines, wanted)
    found.curves += _power([run for run in runs if run.what == "power"], found, done)
    if disturbed:
        found.notes.append(
            f"in {disturbed} of {points} points other programs had our processors for a part of "
            "the time: bandwidths are too low there; measure again when the host is idle"
        )
    if wanted.directory is not None and any(curve.pages == "file" for curve in found.curves):
        found.notes.append(
            f"{wanted.directory} has no DAX: what was measured is the page cache, which is "
            "ordinary memory"
        )
    elif small and wanted.directory is None:
        found.notes.append("the kernel gave few huge pages: TLB misses are in the figures")
    return found


def _power(runs: Sequence[Run], found: Found, done: Callable[[Run], None]) -> list[Curve]:
    from thermocline.machine import power_measurement, powercap

    if not runs:
        return []
    if lacking := powercap.lacks():
        found.notes.append(f"power was not measured: {lacking}; what is said of it is modelled")
        return []
    return power_measurement.measure(runs, done)


def _lines(run: Run) -> Iterator[Line]:
    process = subprocess.Popen(
        [program(), *run.arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stderr is not None
    try:
        with process.stdout, process.stderr:
            for text in process.stdout:
                yield parse(text)
            said = process.stderr.read()
            status = process.wait()
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    if status != 0:
        said = one_line(said.removeprefix("thermocline: ")) or f"it ended with status {status}"
        raise ThermoclineError(f"measuring failed: {said}")


def parse(text: str) -> Line:
    """Checks one line of the native program."""
    try:
        return Line.model_validate(json.loads(text))
    except ValidationError as error:
        raise ThermoclineError(f"measuring printed nonsense: {first_problem(error)}") from None
    except json.JSONDecodeError:
        raise ThermoclineError(f"measuring printed nonsense: {one_line(text, 80)}") from None


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Median, and its 95 % interval."""
    from scipy.stats import quantile_test

    held: Any = quantile_test(values, p=0.5).confidence_interval(COVERAGE)
    return statistics.median(values), float(held.low), float(held.high)


def _curves(run: Run, lines: Sequence[Line], wanted: Wanted) -> list[Curve]:
    made = []
    pages: Pages = wanted.pages
    if wanted.directory is not None:
        pages = "dax" if lines[0].dax else "file"
    for pattern in dict.fromkeys(line.pattern for line in lines):
        mine = [line for line in lines if line.pattern == pattern]
        made.append(
            Curve(
                what=run.what,
                pattern=pattern or ("accumulate" if run.what == "intensity" else "random"),
                cpu_node=run.cpu_node,
                memory_node=run.memory_node,
                nodes=run.nodes,
                pages=pages,
                threads=mine[0].threads if run.what == "intensity" else None,
                points=[_point(line) for line in mine],
            )
        )
    return made


def _point(line: Line) -> curves.Point:
    at: float
    if line.kind == "latency":
        at = line.bytes
    elif line.kind == "bandwidth":
        at = line.threads
    elif line.kind == "intensity":
        at = line.flops_per_byte
    else:
        at = statistics.median(line.bandwidth)
    goes = len(line.values)
    quiet = goes if line.quiet is None else line.quiet
    return curves.point(line.kind, at, interval(line.values), goes, quiet)
