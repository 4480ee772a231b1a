"""How long a machine's tiers need for bytes read and written.

Tiers on channels of their own work side by side, so the slowest decides; tiers that share
channels (Optane behind the DRAM's controller) take turns, so their times add up (Peng et al.
2019, Eq. 1, is that case).  Bandwidth only: latency, cores and caches are the simulator's.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from thermocline.errors import Misuse
from thermocline.machine.model import Machine


@dataclass(frozen=True)
class Speed:
    """Bytes per second of each tier, and the number of the channels that it is on."""

    read: tuple[float, ...]
    write: tuple[float, ...]
    channel: tuple[int, ...]

    def seconds(self, reads: Sequence[float], writes: Sequence[float]) -> float:
        """The least time in which the tiers can move these bytes."""
        busy = [0.0] * (max(self.channel) + 1)
        for tier, channel in enumerate(self.channel):
            busy[channel] += reads[tier] / self.read[tier] + writes[tier] / self.write[tier]
        return max(busy)


def known(machine: Machine) -> bool:
    """Whether the machine file gives every tier's bandwidth."""
    return all(tier.read_bandwidth and tier.write_bandwidth for tier in machine.tier)


def of(machine: Machine) -> Speed:
    """A machine's speed; Misuse where its file leaves a bandwidth out."""
    read, write = [], []
    for tier in machine.tier:
        if not tier.read_bandwidth or not tier.write_bandwidth:
            raise Misuse(
                f"{machine.name}: tier {tier.name} has no read and write bandwidth, which times "
                "are predicted from: add them to the machine file (see docs/machine-files.md)"
            )
        read.append(tier.read_bandwidth.value)
        write.append(tier.write_bandwidth.value)
    channel: list[int] = []
    for index, tier in enumerate(machine.tier):
        shared = [
            channel[other]
            for other in range(index)
            if machine.share_channels(tier, machine.tier[other])
        ]
        channel.append(shared[0] if shared else max(channel, default=-1) + 1)
    return Speed(tuple(read), tuple(write), tuple(channel))
