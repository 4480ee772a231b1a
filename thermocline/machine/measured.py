"""A detected machine with what was measured of it in place of what it only said.

A tier's figures are of its nodes' nearest processors, as HMAT's are: bandwidths are the best that
any number of threads got, added up over its nodes; latency is that of random reads of the largest
buffer.
"""

import platform
from collections.abc import Iterable
from datetime import UTC, datetime

from thermocline import units
from thermocline.machine.curves import Curve, What
from thermocline.machine.figures import Figure
from thermocline.machine.measurement import Found
from thermocline.machine.model import Machine, Tier


def apply(machine: Machine, found: Found) -> Machine:
    """The machine with its curves, and with tiers' figures taken from them."""
    day = datetime.now(UTC).date().isoformat()
    tiers = [_tier(tier, found.curves, day) for tier in machine.tier]
    tiers = _powered(tiers, found.curves, day)
    remote = remote_latency(found.curves)
    cpu = machine.cpu
    if remote is not None and cpu.sockets > 1:
        source = (
            f"measured: thermocline machine measure, {day}: random reads, other node's less own"
        )
        cpu = cpu.model_copy(update={"remote_latency": Figure(value=remote, source=source)})
    return machine.model_copy(
        update={
            "description": f"measured on {platform.node()} by 'thermocline machine measure', {day}",
            "cpu": cpu,
            "tier": tiers,
            "measured": found.curves,
        }
    )


def local(curves: Iterable[Curve], what: What, pattern: str, node: int) -> Curve | None:
    """The curve of a node from its nearest processors: with the best values at the end."""
    mine = [c for c in curves if (c.what, c.pattern, c.memory_node) == (what, pattern, node)]
    if not mine:
        return None
    if what == "latency":
        return min(mine, key=lambda curve: curve.values[-1])
    return max(mine, key=lambda curve: max(curve.values))


def remote_latency(curves: Iterable[Curve]) -> float | None:
    """What another node's memory adds to a random read: the median over pairs that are alike."""
    import statistics

    chased = [c for c in curves if c.what == "latency" and c.pattern == "random"]
    ends = {(c.cpu_node, c.memory_node): c.values[-1] for c in chased}
    nodes = {cpu for cpu, _ in ends}  # those with processors: the same kind of memory
    added = [
        seconds - ends[memory, memory]
        for (cpu, memory), seconds in ends.items()
        if memory in nodes and memory != cpu and (memory, memory) in ends
    ]
    return max(0.0, statistics.median(added)) if added else None


def _tier(tier: Tier, curves: list[Curve], day: str) -> Tier:
    new: dict[str, Figure] = {}
    for name, pattern in (("read_bandwidth", "read"), ("write_bandwidth", "nt-write")):
        if figure := _bandwidth(tier, curves, pattern, day):
            new[name] = figure
    chased = [local(curves, "latency", "random", node) for node in tier.nodes]
    last = [curve.points[-1] for curve in chased if curve]
    if last:
        least = min(last, key=lambda point: units.parse_seconds(point.value))
        what = f"random reads of {least.at}, {least.low} to {least.high}"
        new["latency"] = _figure(units.parse_seconds(least.value), what, day)
    return tier.model_copy(update=new)


def _bandwidth(tier: Tier, curves: list[Curve], pattern: str, day: str) -> Figure | None:
    nodes = [local(curves, "bandwidth", pattern, node) for node in tier.nodes]
    best = [curve.best for curve in nodes if curve]
    if not best or len(best) != len(tier.nodes):
        return None
    low = sum(units.parse_bandwidth(point.low) for point in best)
    high = sum(units.parse_bandwidth(point.high) for point in best)
    what = (
        f"{pattern} with {best[0].at:g} thread(s)"
        f"{' a node' if len(best) > 1 else ''}, {units.format_bandwidth(low)} to"
        f" {units.format_bandwidth(high)}"
    )
    return _figure(sum(units.parse_bandwidth(point.value) for point in best), what, day)


def _powered(tiers: list[Tier], curves: list[Curve], day: str) -> list[Tier]:
    """With energies and static power; a socket's counter is of all its memory together."""
    made = []
    counted: dict[int, str] = {}  # node with processors -> the tier that has its static power
    for tier in tiers:
        new: dict[str, Figure] = {}
        for name, pattern in (("read_energy", "read"), ("write_energy", "nt-write")):
            each = [_joules_a_bit(curves, pattern, node) for node in tier.nodes]
            known = [joules for joules in each if joules is not None]
            if known and len(known) == len(each):
                what = f"{pattern}, dynamic watts by RAPL over bandwidth"
                new[name] = _figure(sum(known) / len(known), what, day)
        homes = [(node, curve) for node in tier.nodes if (curve := _power(curves, "static", node))]
        if homes:
            watts = [c.values[0] for _, c in homes if c.cpu_node not in counted]
            what = (
                "RAPL, without accesses"
                if watts
                else f"counted as {counted[homes[0][1].cpu_node]}'s"
            )
            new["static_watts"] = _figure(sum(watts), what, day)
            counted |= {c.cpu_node: tier.name for _, c in homes if c.cpu_node not in counted}
        made.append(tier.model_copy(update=new))
    return made


def _power(curves: list[Curve], pattern: str, node: int) -> Curve | None:
    """From the processors that read it fastest."""
    reading = local_power(curves, node)
    return next(
        (
            curve
            for curve in curves
            if reading
            and (curve.what, curve.pattern) == ("power", pattern)
            and (curve.cpu_node, curve.memory_node) == (reading.cpu_node, node)
        ),
        None,
    )


def local_power(curves: Iterable[Curve], node: int) -> Curve | None:
    """The curve of reads of a node's memory at the highest bandwidth."""
    mine = [c for c in curves if (c.what, c.pattern, c.memory_node) == ("power", "read", node)]
    return max(mine, key=lambda curve: curve.at[0], default=None)


def _joules_a_bit(curves: list[Curve], pattern: str, node: int) -> float | None:
    busy, static = _power(curves, pattern, node), _power(curves, "static", node)
    if busy is None or static is None:
        return None
    return max(0.0, busy.values[0] - static.values[0]) / busy.at[0] / 8


def _figure(value: float, what: str, day: str) -> Figure:
    return Figure(value=value, source=f"measured: thermocline machine measure, {day}: {what}")
