"""Memory's power under each pattern, where the host lets its energy counters be read.

As Peng et al. 2019, section 4.3: a pattern runs on one socket with all cores.  What its memory
draws less the static power is dynamic.  Static is what the memory of an idle socket draws
meanwhile, for it answers the busy one's coherence; on a host with one socket, what memory draws
while nothing of ours runs, which is less.
"""

import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from thermocline.errors import ThermoclineError, one_line
from thermocline.machine import curves, measurement, powercap, processors
from thermocline.machine.curves import Curve
from thermocline.machine.measurement_plan import FEWEST_GOES, Run
from thermocline.machine.powercap import Domain, Reading

IDLE_SECONDS = 1.0
GOES = 300  # of 4 ms: long against a counter's update
STATIC = "static"  # the pattern of what is drawn without accesses
# Of a run, the first part makes the arrays and the last compares them.
_FIRST, _LAST = 0.4, 0.9


@dataclass(frozen=True)
class Busy:
    """One pattern's run."""

    bytes_a_second: float
    watts: list[float]  # of the measured memory, in each step
    idle: list[float]  # of other sockets' memory


def measure(runs: Sequence[Run], done: Callable[[Run], None]) -> list[Curve]:
    """For each pair of nodes: watts by pattern, and without accesses."""
    found = []
    domains = [domain for domain in powercap.domains() if domain.memory]
    for run in runs:
        assert run.memory_node is not None
        cpus = processors.by_node()
        home = processors.nearest(run.memory_node, list(cpus))
        package = powercap.package_of(cpus[home][0])
        busy_packages = {package, powercap.package_of(cpus[run.cpu_node][0])}
        static = _idle(domains, package)
        idle: list[float] = []
        for pattern in curves.PATTERNS:
            busy = _busy(run, pattern, domains, package, busy_packages)
            idle += busy.idle
            found.append(_curve(run, pattern, busy.bytes_a_second, busy.watts))
            done(run)
        # At no bandwidth.
        found.append(_curve(run, STATIC, 0.0, idle or static))
    return found


def _idle(domains: list[Domain], package: int) -> list[float]:
    until = time.monotonic() + IDLE_SECONDS
    readings = powercap.sample(domains, lambda: time.monotonic() < until)
    return _watts(readings, lambda each: each == package)


def _busy(run: Run, pattern: str, domains: list[Domain], package: int, busy: set[int]) -> Busy:
    process = subprocess.Popen(
        [measurement.program(), *alone(run, pattern)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        readings = powercap.sample(domains, lambda: process.poll() is None)
        out, said = process.communicate()
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    if process.returncode != 0:
        raise ThermoclineError(f"measuring failed: {one_line(said)}")
    middle = readings[int(_FIRST * len(readings)) : max(2, int(_LAST * len(readings)))]
    return Busy(
        statistics.median(measurement.parse(out).values),
        _watts(middle, lambda each: each == package),
        _watts(middle, lambda each: each not in busy),
    )


def _watts(readings: Sequence[Reading], wanted: Callable[[int], bool]) -> list[float]:
    steps = [powercap.watts(before, after, memory=True) for before, after in pairwise(readings)]
    return [watts for step in steps for package, watts in step.items() if wanted(package)]


def alone(run: Run, pattern: str) -> list[str]:
    """The run's arguments for one pattern, for longer."""
    arguments = list(run.arguments)
    for option, value in (("--patterns", pattern), ("--goes", str(GOES))):
        arguments[arguments.index(option) + 1] = value
    return arguments


def _curve(run: Run, pattern: str, rate: float, watts: Sequence[float]) -> Curve:
    if len(watts) < FEWEST_GOES:
        raise ThermoclineError("measuring power failed: too few readings of the counters")
    middle = measurement.interval(watts)
    return Curve(
        what="power",
        pattern=pattern,
        cpu_node=run.cpu_node,
        memory_node=run.memory_node,
        pages="small" if "small" in run.arguments else "huge",
        points=[curves.point("power", rate, middle, len(watts), len(watts))],
    )
