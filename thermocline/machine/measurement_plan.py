"""What `machine measure` runs: which kernels, over how much memory, for which pairs of nodes."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from thermocline.errors import Misuse, ThermoclineError
from thermocline.machine import curves, processors
from thermocline.machine.curves import Pages, What
from thermocline.machine.model import Machine

KIB, MIB, GIB = 2**10, 2**20, 2**30
FEWEST_GOES = 6  # of fewer, no interval holds the median in 95 % of cases
PAUSES = (0, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)
INTENSITIES = 9  # as many as the kernels have; see measure/kernels.h
# Blocks of a further tier in a turn of so many: as in Peng et al. 2019, Figs. 16 and 17.
TURN = 10
SPLITS = (1, 3, 5, 7, 9)
ISAS = ("auto", "sse2", "avx2", "avx512")
_ROOM = 4  # of the free memory, at most one part of so many is measured


@dataclass(frozen=True)
class Wanted:
    """What to measure, and how."""

    what: tuple[What, ...] = ("latency", "bandwidth", "intensity", "loaded", "power")
    goes: int = 15
    largest: int = GIB  # buffer of a latency
    quick: bool = False
    pages: Pages = "huge"
    directory: Path | None = None  # of a file that is measured instead
    isa: str = "auto"
    cpu_nodes: tuple[int, ...] = ()  # empty: all
    memory_nodes: tuple[int, ...] = ()


@dataclass(frozen=True)
class Run:
    """One call of the native program."""

    what: What
    cpu_node: int
    memory_node: int | None
    arguments: tuple[str, ...]
    points: int  # that it prints
    nodes: str = ""  # several, which traffic is split over


def check(wanted: Wanted) -> None:
    """Misuse for what there is not."""
    for option, given, known in (
        ("--what", wanted.what, get_args(What)),
        ("--pages", (wanted.pages,), ("huge", "small")),
        ("--isa", (wanted.isa,), ISAS),
    ):
        for text in given:
            if text not in known:
                raise Misuse(f"{option} {text!r}: give {', '.join(known)}")


def plan(wanted: Wanted, machine: Machine) -> list[Run]:
    """The runs; Misuse where something can't be measured here."""
    check(wanted)
    if wanted.goes < FEWEST_GOES:
        raise Misuse(f"--goes {wanted.goes}: give {FEWEST_GOES} or more, or there is no interval")
    cpus = processors.by_node()
    free = processors.free_bytes()
    runs = []
    for cpu_node in _chosen(wanted.cpu_nodes, list(cpus), "processors"):
        if wanted.directory is not None:
            runs += _of_pair(wanted, machine, cpus[cpu_node], cpu_node, None, min(free.values()))
            continue
        for node in _chosen(wanted.memory_nodes, sorted(free), "memory"):
            runs += _of_pair(wanted, machine, cpus[cpu_node], cpu_node, node, free[node])
        if "intensity" in wanted.what:
            runs += _splits(runs, wanted, machine, cpu_node, list(cpus))
    return runs


def _splits(
    runs: Sequence[Run], wanted: Wanted, machine: Machine, cpu_node: int, with_cpus: list[int]
) -> list[Run]:
    """Reading that is split between the nearest node of the first tier and of a further one."""
    measured = [run for run in runs if (run.what, run.cpu_node) == ("intensity", cpu_node)]
    near_by = [
        run for run in measured if processors.nearest(run.memory_node or 0, with_cpus) == cpu_node
    ]
    near = [run for run in near_by if run.memory_node in machine.tier[0].nodes]
    far = [run for run in near_by if run.memory_node not in machine.tier[0].nodes]
    made = []
    for blocks in SPLITS[:: 2 if wanted.quick else 1] if near and far else ():
        nodes = f"{near[0].memory_node}:{TURN - blocks},{far[0].memory_node}:{blocks}"
        # As much memory as the one with less of it free allowed.
        arguments = list(min((near[0], far[0]), key=_bytes).arguments)
        arguments[arguments.index("--nodes") + 1] = nodes
        made.append(Run("intensity", cpu_node, None, tuple(arguments), INTENSITIES, nodes))
    return made


def _bytes(run: Run) -> int:
    return int(run.arguments[run.arguments.index("--bytes") + 1])


def _chosen(asked: Sequence[int], there: Sequence[int], what: str) -> Sequence[int]:
    for node in asked:
        if node not in there:
            known = ", ".join(map(str, there))
            raise Misuse(f"node {node} has no {what} for this process: there are nodes {known}")
    return asked or there


def _of_pair(
    wanted: Wanted, machine: Machine, cpus: list[int], cpu_node: int, node: int | None, free: int
) -> list[Run]:
    room = free // _ROOM
    large = min(room, max(256 * MIB, 12 * _last_level(machine)))
    if room < 8 * MIB:
        raise ThermoclineError(f"node {node} has no free memory to measure: end other programs")
    common = ["--cpus", _list(cpus), "--goes", str(wanted.goes), "--isa", wanted.isa]
    if wanted.directory is not None:
        common += ["--directory", str(wanted.directory)]
    elif processors.NODES.is_dir():
        common += ["--nodes", str(node)]
    common += ["--pages", "small" if wanted.pages == "small" else "huge"]
    made = []
    for what in wanted.what:
        arguments, points = _arguments(what, wanted, len(cpus), large, min(room, wanted.largest))
        verb = "bandwidth" if what == "power" else what
        if points:
            made.append(Run(what, cpu_node, node, (verb, *common, *arguments), points))
    return made


def _arguments(
    what: What, wanted: Wanted, cores: int, large: int, largest: int
) -> tuple[list[str], int]:
    if what == "latency":
        sizes = _sizes(largest, 4 if wanted.quick else 2)
        orders = curves.ORDERS
        return ["--bytes", _list(sizes), "--patterns", ",".join(orders)], len(orders) * len(sizes)
    if what == "bandwidth":
        threads = [cores] if wanted.quick else ladder(cores)
        patterns = ",".join(curves.PATTERNS)
        points = len(curves.PATTERNS) * len(threads)
        return ["--bytes", str(large), "--threads", _list(threads), "--patterns", patterns], points
    if what == "intensity":
        return ["--bytes", str(large), "--threads", str(cores)], INTENSITIES
    if what == "power":  # a pattern at a time: see power_measurement.py
        every = ["--bytes", str(large), "--threads", str(cores), "--patterns", "read"]
        return every, 0 if wanted.directory else len(curves.PATTERNS)
    if cores < 2:  # nobody would load the memory
        return [], 0
    pauses = PAUSES[:: 3 if wanted.quick else 1]
    return ["--bytes", str(large // 2), "--pauses", _list(pauses)], len(pauses)


def _list(values: Sequence[int]) -> str:
    return ",".join(map(str, values))


def _last_level(machine: Machine) -> int:
    """Bytes of all instances of the last level of cache."""
    last = machine.cache[-1]
    return int(last.bytes.value) * max(1, machine.cpu.cores // last.shared_by)


def _sizes(largest: int, factor: int) -> list[int]:
    sizes = [16 * KIB]
    while sizes[-1] * factor <= largest:
        sizes.append(sizes[-1] * factor)
    return sizes


def ladder(most: int) -> list[int]:
    """Numbers of threads: all up to eight, then some of each doubling."""
    steps = [n for n in range(1, most + 1) if n <= 8 or n % (2 ** ((n - 1).bit_length() - 3)) == 0]
    return sorted({*steps, most})
