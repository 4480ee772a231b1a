"""Measured bandwidth of split traffic, beside what the two models make of the memories alone.

Which of them it is nearer to tells whether two memories share channels, which no firmware says.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from thermocline.machine.model import Machine


@dataclass(frozen=True)
class Split:
    """Bytes a second of reads with all cores of a node."""

    nodes: str  # node:blocks in a turn
    measured: float
    serial: float  # Eq. 1: the memories take turns
    parallel: float  # they work side by side


def measured(machine: Machine) -> list[Split]:
    """Every split whose memories were also measured alone."""
    found = []
    for curve in machine.measured:
        if curve.what != "intensity" or not curve.nodes:
            continue
        alone = {node: _alone(machine, curve.cpu_node, node) for node in curve.split}
        seconds = [share / rate for node, share in curve.split.items() if (rate := alone[node])]
        if len(seconds) == len(alone):
            rate = curve.values[0]  # at the lowest intensity
            found.append(Split(curve.nodes, rate, 1 / sum(seconds), 1 / max(seconds)))
    return found


def contradicts(machine: Machine, found: Sequence[Split]) -> str:
    """What to change in the machine file if the splits follow the other model; empty if none."""
    if not found or len(machine.tier) != 2:
        return ""
    # Of all splits together, the distance as a ratio.
    serial = sum(abs(math.log(each.measured / each.serial)) for each in found)
    parallel = sum(abs(math.log(each.measured / each.parallel)) for each in found)
    near, far = machine.tier
    shared = machine.share_channels(near, far)
    if shared == (serial < parallel):
        return ""
    if shared:
        return f"the measured splits work side by side: remove shares_channel_with of {near.name}"
    return (
        f"the measured splits take turns: {near.name} and {far.name} may share channels; then add"
        f' shares_channel_with = ["{far.name}"] to {near.name}'
    )


def _alone(machine: Machine, cpu_node: int, node: int) -> float:
    """The same reading with one node's memory; 0 if that was not measured."""
    for curve in machine.measured:
        if (curve.what, curve.cpu_node, curve.memory_node) == ("intensity", cpu_node, node):
            return curve.values[0]
    return 0.0
