"""Runs programs here, with and without recording, and predicts them on what the probe measured."""

import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from thermocline import paths
from thermocline.errors import ThermoclineError, one_line
from thermocline.machine import calibration, probe, store
from thermocline.machine.model import Machine
from thermocline.simulation import comparison, scheme
from thermocline.simulation.config import Setting
from thermocline.simulation.runner import Bars

# All of a run is recorded: a time can't be compared with a sample's.
BUDGET = "200000G"
RUNS = 9
SCHEME = scheme.parse("first-touch")


@dataclass(frozen=True)
class Sample:
    """A workload at a size: some ten million references, and far more memory than caches hold."""

    source: str
    arguments: tuple[str, ...]

    @property
    def name(self) -> str:
        """The program's."""
        return Path(self.source).stem


FULL = (
    Sample("workloads/stream.c", ("4000000", "1")),
    Sample("workloads/hashjoin.cpp", ("300000", "1")),
    Sample("workloads/graph.cpp", ("18", "1")),
    Sample("workloads/hydro.cpp", ("50", "1")),
    Sample("workloads/spline.cpp", ("32", "1")),
    Sample("workloads/filters.c", ("700", "1")),
    Sample("workloads/multigrid.c", ("24",)),
)
QUICK = (
    Sample("workloads/stream.c", ("1000000", "1")),
    Sample("workloads/hashjoin.cpp", ("60000", "1")),
    Sample("workloads/graph.cpp", ("15", "1")),
    Sample("workloads/hydro.cpp", ("24", "1")),
)


def calibrate(
    machine: Machine | None,
    quick: bool,
    stage: Callable[[str], None],
    bars: Bars,
) -> calibration.Calibration:
    """Compiles, measures, times, records and simulates: some minutes, `quick` half of one.

    `machine` is a file of this host; without one its caches and memory are measured.  `stage` is
    told what is done next; `bars` show how far simulation is.
    """
    with tempfile.TemporaryDirectory(prefix="thermocline-calibrate-") as folder:
        scratch = Path(folder)
        program = probe.build(scratch)
        if machine is None:
            stage("measuring caches and memory")
            machine = probe.host(probe.measure(program))
        samples = QUICK if quick else FULL
        for sample in samples:
            stage(f"compiling {sample.name}")
            probe.compile_c(paths.shared(sample.source), scratch / sample.name)
        stage("timing")
        clocks = _clocks([_command(sample, scratch) for sample in samples], program)
        traces = []
        for sample in samples:
            stage(f"recording {sample.name}")
            traces.append(_record(_command(sample, scratch)))
        stage("simulating")
        # The whole machine, for the programs have it all; and all data in its one tier.
        setting = Setting(machine, threads=1, touched_bytes=0, whole=True)
        rows = comparison.rows(comparison.survey(traces), setting, [SCHEME], [], [])
        progress = bars("simulating", sum(row.trace.references for row in rows))
        answers = comparison.run(rows, progress, None)
    return calibration.Calibration(
        host=platform.node() or "host",
        cpu=machine.cpu.model,
        quick=quick,
        machine=store.to_toml(machine),
        assumed=_assumed(answers[0].row.configured.assumed, machine),
        programs=[
            _program(sample, answer, clock)
            for sample, answer, clock in zip(samples, answers, clocks, strict=True)
        ],
    )


def _assumed(core: Sequence[str], machine: Machine) -> list[str]:
    device = machine.tier[0].device
    memory = f"{device.channels} channels of {device.standard}" if device else "its memory"
    return [*core, memory] if probe.was_measured(machine) else list(core)


def _command(sample: Sample, scratch: Path) -> list[str]:
    return [str(scratch / sample.name), *sample.arguments]


def _clocks(commands: Sequence[Sequence[str]], empty: Path) -> list[list[float]]:
    """Seconds of each command's runs, in turn, less those of a program that ends at once.

    That is the probe without its argument, which is misuse.
    """
    taken: list[list[float]] = [[] for _ in commands]
    idle = []
    for _ in range(RUNS):
        idle.append(_processor_seconds([str(empty)], (2,)))
        for runs, command in zip(taken, commands, strict=True):
            runs.append(_processor_seconds(command, (0,)))
    start = statistics.median(idle)
    return [[max(1e-6, seconds - start) for seconds in runs] for runs in taken]


def _processor_seconds(command: Sequence[str], good: Sequence[int]) -> float:
    """User and system time: what else runs on the host is not in it, page faults are."""
    process = subprocess.Popen(
        list(command), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    if process.returncode not in good:
        raise ThermoclineError(f"{command[0]} failed: {one_line(said) or process.returncode}")
    return usage.ru_utime + usage.ru_stime


def _record(command: Sequence[str]) -> Path:
    """The command's trace, beside its program."""
    trace = Path(f"{command[0]}.trace")
    verb = [sys.executable, "-m", "thermocline", "trace", "--budget", BUDGET, "-o", str(trace)]
    done = subprocess.run([*verb, "--", *command], capture_output=True, text=True, check=False)
    if done.returncode or not trace.exists():
        said = one_line(done.stderr) or "it left no trace"
        raise ThermoclineError(f"recording {trace.stem} failed: {said}")
    return trace


def _program(
    sample: Sample, answer: comparison.Answer, clock: Sequence[float]
) -> calibration.Program:
    middle = statistics.median(clock)
    low, _, high = statistics.quantiles(clock, n=4)
    return calibration.Program(
        name=sample.name,
        arguments=list(sample.arguments),
        references=answer.row.trace.references,
        instructions=int(answer.json["instructions"]),
        touched_bytes=int(answer.row.trace.survey["touched_bytes"]),
        predicted_seconds=answer.seconds,
        clock_seconds=middle,
        clock_spread=(high - low) / 2 / middle,
    )
