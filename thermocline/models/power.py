"""Power and energy: the power-line and the arch-line beside the roofline (Choi et al. 2013).

All of it is modelled: a byte costs what the machine file says of the tier (read_energy), or else
its device (docs/memory-devices.md); memory has static power, and cores have `core_watts` all the
time.  What nothing says is left out, and said.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from thermocline.machine import devices
from thermocline.machine.model import Device, Machine, Tier
from thermocline.models import roofline

_LINE = 64


@dataclass(frozen=True)
class TierPower:
    """Of sequential reads."""

    joules_a_byte: float
    static_watts: float  # without any access


@dataclass(frozen=True)
class Draw:
    """What a split draws at an intensity."""

    flops: float  # a second
    bytes: float  # a second
    memory_watts: float
    static_watts: float  # of memory; part of memory_watts
    cpu_watts: float

    @property
    def watts(self) -> float:
        """All of it."""
        return self.memory_watts + self.cpu_watts

    @property
    def flops_a_joule(self) -> float:
        """The arch-line's height."""
        return self.flops / self.watts

    @property
    def bytes_a_joule(self) -> float:
        """Peng et al.'s efficiency: bandwidth per dynamic watt of memory."""
        return self.bytes / (self.memory_watts - self.static_watts)


def of_tier(tier: Tier) -> TierPower | None:
    """The tier's own figures count before its device's."""
    dynamic, static = _of_device(tier.device) if tier.device else (None, 0.0)
    if tier.read_energy is not None:
        dynamic = 8 * tier.read_energy.value
    if tier.static_watts is not None:
        static = tier.static_watts.value
    return None if dynamic is None else TierPower(dynamic, static)


def _of_device(device: Device) -> tuple[float, float]:
    json = devices.resolve(device.standard, device.channels, ranks=device.ranks, link=device.link)
    dynamic, static = _nvm(json) if "nvm" in json else _dram(json)
    if "link" in json:
        dynamic += json["link"]["pj_per_byte"] * 1e-12
        static += json["link"]["static_mw"] / 1000
    return dynamic, static


def _dram(json: dict[str, Any]) -> tuple[float, float]:
    """A row is opened once for all of its bytes; open rows and refreshes cost all the time."""
    dram, energy = json["dram"], json["dram"]["energy"]
    picojoules = energy["read_pj"] / dram["burst_bytes"] + energy["activate_pj"] / dram["row_bytes"]
    ranks = json["channels"] * dram["ranks"]
    period = dram["timing"]["refi"] * dram["clock_ps"]
    refresh = energy["refresh_pj"] / period if period else 0.0  # pJ/ps: watts
    fixed = json["channels"] * energy["static_mw"] / 1000
    return picojoules * 1e-12, ranks * (energy["open_mw"] / 1000 + refresh) + fixed


def _nvm(json: dict[str, Any]) -> tuple[float, float]:
    nvm = json["nvm"]
    picojoules = nvm["read_pj"] / nvm["block_bytes"] + nvm["transfer_pj"] / _LINE
    return picojoules * 1e-12, json["channels"] * nvm["static_mw"] / 1000


def missing(machine: Machine) -> list[str]:
    """What the file leaves out, so that there is no power of it."""
    lacking = [f"energy of {tier.name}" for tier in machine.tier if of_tier(tier) is None]
    return lacking + ([] if machine.cpu.core_watts else ["core_watts"])


def draw(machine: Machine, shares: Sequence[float], intensity: float) -> Draw | None:
    """None where a tier's energy is not known."""
    parts = [of_tier(tier) for tier in machine.tier]
    flops = roofline.attainable(machine, shares, intensity)
    rate = flops / intensity
    dynamic = static = 0.0
    for part, share in zip(parts, shares, strict=True):
        if part is None:
            return None
        dynamic += share * rate * part.joules_a_byte
        static += part.static_watts
    cpu = machine.cpu.core_watts.value * machine.cpu.cores if machine.cpu.core_watts else 0.0
    return Draw(flops, rate, dynamic + static, static, cpu)
