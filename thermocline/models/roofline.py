"""The roofline: what arithmetic a machine can do at an intensity (operations a byte of traffic).

Above the ridge the cores limit, below it the memory.  The roof is the measured one (the best point
of `machine measure`'s accumulation) where the file has it, else cores x clock x operations a cycle.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from thermocline.errors import Misuse
from thermocline.machine.curves import Curve
from thermocline.machine.model import Machine
from thermocline.models import traffic
from thermocline.profiles.model import Site

# Of Peng et al. 2019, Figs. 16 and 17, and two more.
INTENSITIES = tuple(2.0**power for power in range(-3, 6))


@dataclass(frozen=True)
class Roof:
    """Operations a second that the cores can do, and whose word that is."""

    flops: float
    source: str


def roof(machine: Machine) -> Roof:
    """Misuse if the file says nothing of the cores' arithmetic."""
    found: dict[int, float] = {}
    for curve in _accumulations(machine):
        best = max(at * value for at, value in zip(curve.at, curve.values, strict=True))
        found[curve.cpu_node] = max(best, found.get(curve.cpu_node, 0.0))
    if found:
        return Roof(sum(found.values()), "measured")
    cpu = machine.cpu
    if cpu.frequency is None or cpu.flops_per_cycle is None:
        raise Misuse(
            f"{machine.name} says nothing of its cores' arithmetic: add frequency and "
            "flops_per_cycle to [cpu], or measure it (thermocline machine measure)"
        )
    peak = cpu.cores * cpu.frequency.value * cpu.flops_per_cycle.value
    return Roof(peak, cpu.flops_per_cycle.source)


def attainable(machine: Machine, shares: Sequence[float], intensity: float) -> float:
    """Operations a second on read traffic that is split so."""
    return min(roof(machine).flops, intensity * traffic.bandwidth(machine, shares))


def ridge(machine: Machine, shares: Sequence[float]) -> float:
    """The intensity from which on the cores limit."""
    return roof(machine).flops / traffic.bandwidth(machine, shares)


def measured(machine: Machine) -> list[tuple[Curve, list[tuple[float, float]]]]:
    """Measured points: intensity, operations a second; a list a pair of nodes."""
    return [
        (curve, [(at, at * value) for at, value in zip(curve.at, curve.values, strict=True)])
        for curve in _accumulations(machine)
    ]


def _accumulations(machine: Machine) -> list[Curve]:
    return [curve for curve in machine.measured if curve.what == "intensity"]


@dataclass(frozen=True)
class OnRoofline:
    """A site by its references: a profile does not count floating-point operations."""

    key: str
    traffic_bytes: int
    per_byte: float  # references, of the traffic's bytes
    rates: tuple[float, ...]  # references a second at most, with its data in each tier
    bound: tuple[str, ...]  # "memory" or "cores", in each tier


def sites(machine: Machine, profiled: Sequence[Site]) -> list[OnRoofline]:
    """Sites with traffic, the heaviest first.

    A reference is an instruction, of which cores do `width` a cycle at most: where that is the
    limit in both tiers, it does not matter which one the site is in.
    """
    cpu = machine.cpu
    if cpu.frequency is None or cpu.width is None:
        raise Misuse(
            f"{machine.name} says nothing of its cores' clock and width, which is the roof for "
            "references: add frequency and width to [cpu]"
        )
    peak = cpu.cores * cpu.frequency.value * cpu.width.value
    alone = [
        [float(i == tier) for i in range(len(machine.tier))] for tier in range(len(machine.tier))
    ]
    found = []
    for site in sorted(profiled, key=lambda site: (-site.traffic_bytes, site.key)):
        references = site.loads + site.stores
        if not site.traffic_bytes or not references:
            continue
        per_byte = references / site.traffic_bytes
        writes = site.write_bytes / site.traffic_bytes
        moved = [per_byte * traffic.bandwidth(machine, shares, writes) for shares in alone]
        found.append(
            OnRoofline(
                site.key,
                site.traffic_bytes,
                per_byte,
                tuple(min(peak, rate) for rate in moved),
                tuple("memory" if rate < peak else "cores" for rate in moved),
            )
        )
    return found


def format_flops(rate: float) -> str:
    """For people: `410 Gflop/s`."""
    return f"{rate / 1e9:.4g} Gflop/s"
