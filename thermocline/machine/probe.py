"""Measures this host's caches and memory, and makes a machine for the simulator of it.

hwloc says how large caches are, not how fast, and on a shared host not how much of them is
ours.  machines/probe.c is compiled and run; what it can't measure stays for the simulator to
assume, which says so.
"""

import math
import subprocess
from pathlib import Path

from pydantic import Field, ValidationError

from thermocline import paths
from thermocline.errors import ThermoclineError, one_line
from thermocline.machine import devices
from thermocline.machine.detect import detect
from thermocline.machine.figures import Figure
from thermocline.machine.model import Cache, Device, Machine, Tier
from thermocline.machine.topology import parse_list
from thermocline.validation import Strict, first_problem

FOOTPRINT = 2**28
_SOURCE = "measured: thermocline machine calibrate"
# What stands for the host's memory: the rest of its measured latency is put before it.
_DEVICE = "DDR4-2400"


class Measured(Strict):
    """What the probe prints; seconds and bytes a second."""

    cycle: float = Field(gt=0)  # of the clock
    chase: list[tuple[int, float]] = Field(min_length=4)  # footprint in bytes, seconds a load
    gather: float = Field(gt=0)  # a random load that waits for no other
    read_bandwidth: float = Field(gt=0)  # of all processors together
    threads: int = Field(ge=1)

    @property
    def memory(self) -> float:
        """Latency of memory: of the largest footprint."""
        return self.chase[-1][1]


def build(scratch: Path) -> Path:
    """Compiles the probe."""
    program = scratch / "probe"
    compile_c(paths.shared("machines/probe.c"), program)
    return program


def measure(program: Path) -> Measured:
    """Runs the probe; some ten seconds."""
    done = subprocess.run([program, str(FOOTPRINT)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ThermoclineError(one_line(done.stderr) or "the memory probe failed")
    return parse(done.stdout)


def parse(text: str) -> Measured:
    """Checks what the probe printed."""
    try:
        return Measured.model_validate_json(text)
    except ValidationError as error:
        raise ThermoclineError(
            f"the memory probe printed nonsense: {first_problem(error)}"
        ) from None


def compile_c(source: Path, program: Path) -> None:
    """One annotated program of one C or C++ file, optimised as one would optimise any."""
    compiler = paths.wrapper(
        "thermocline-clang++" if source.suffix == ".cpp" else "thermocline-clang"
    )
    command = [str(compiler), "-O2", "-g1", str(source), "-o", str(program), "-lm", "-lpthread"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise ThermoclineError(f"{compiler} is missing: see 'thermocline doctor'") from None
    if done.returncode != 0:
        raise ThermoclineError(f"{source.name} does not compile: {one_line(done.stderr)}")


def was_measured(machine: Machine) -> bool:
    """Whether its memory's figures are the probe's."""
    latency = machine.tier[0].latency
    return latency is not None and latency.source == _SOURCE


def host(measured: Measured) -> Machine:
    """This host with one tier, the one that an ordinary run's memory comes from."""
    found = detect().machine
    return machine(found, _local_tier(found), measured)


def machine(found: Machine, tier: Tier, measured: Measured) -> Machine:
    """A detected machine with one of its tiers and the measured figures.

    Levels of cache keep hwloc's sizes but the last, which is as large as chases show it to be:
    the largest footprint that takes less than halfway from the level before to memory.
    """
    hertz = 1 / measured.cycle
    caches: list[Cache] = []
    seconds = measured.chase[0][1]
    for cache in found.cache:
        size = int(cache.bytes.value)
        before = int(caches[-1].bytes.value) if caches else 0
        last = cache is found.cache[-1] and bool(caches)
        if last:
            middle = (seconds + measured.memory) / 2
            size = max((b for b, took in measured.chase if took < middle and b <= size), default=0)
            if size < 2 * before:  # others have it: not there, for us
                break
        seconds = _latency(measured, before, size)
        block = cache.ways * cache.line
        shown = Figure(value=max(1, size // block) * block, source=_SOURCE if last else "hwloc")
        cycles = Figure(value=max(1, round(seconds * hertz)), source=_SOURCE)
        caches.append(cache.model_copy(update={"bytes": shown, "cycles": cycles}))
    outstanding = Figure(value=max(1, round(measured.memory / measured.gather)), source=_SOURCE)
    cpu = found.cpu.model_copy(
        update={"frequency": Figure(value=hertz, source=_SOURCE), "outstanding": outstanding}
    )
    # Twice as many channels as the measured bandwidth takes, so that it isn't they who limit.
    channels = max(1, math.ceil(2 * measured.read_bandwidth / _peak(_DEVICE)))
    only = tier.model_copy(
        update={
            "latency": Figure(value=measured.memory, source=_SOURCE),
            "read_bandwidth": Figure(value=measured.read_bandwidth, source=_SOURCE),
            "shares_channel_with": [],
            "device": Device(standard=_DEVICE, channels=channels),
        }
    )
    return found.model_copy(update={"cpu": cpu, "cache": caches, "tier": [only]})


def _peak(device: str) -> float:
    """Bytes a second of one channel."""
    json = devices.resolve(device, 1)
    dram = json["dram"]
    return float(
        json["channels"] * dram["burst_bytes"] * 1e12 / dram["burst_cycles"] / dram["clock_ps"]
    )


def _latency(measured: Measured, before: int, size: int) -> float:
    """Seconds of a hit in a level of so many bytes behind one of `before` bytes.

    Behind another level: of the smallest footprint that is twice as large as that, of which a
    chase round and round finds little there.  Of the first level: half of it, which it holds.
    """
    if not before:
        fits = [took for footprint, took in measured.chase if 2 * footprint <= size]
        return fits[-1] if fits else measured.chase[0][1]
    fits = [took for footprint, took in measured.chase if 2 * before <= footprint <= size]
    return fits[0] if fits else measured.memory


def _local_tier(found: Machine) -> Tier:
    """Of the first node with processors, which is where the kernel looks first."""
    try:
        text = Path("/sys/devices/system/node/has_cpu").read_text(encoding="ascii")
        node = min(parse_list(text))
    except (OSError, ValueError):
        return found.tier[0]
    return next((tier for tier in found.tier if node in tier.nodes), found.tier[0])
