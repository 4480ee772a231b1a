"""A machine's tiers as the simulator's memories: tiers that share channels are one memory."""

from dataclasses import dataclass
from typing import Any

from thermocline.errors import Misuse
from thermocline.machine import devices
from thermocline.machine.model import Machine, Tier


@dataclass(frozen=True)
class SimulatedMemory:
    """One of the simulator's memories."""

    json: dict[str, Any]
    # Tier number -> the memory's address at which it begins.
    tiers: dict[int, int]


def memories(machine: Machine, fidelity: devices.Fidelity = "faithful") -> list[SimulatedMemory]:
    """Those of all tiers; which tier is where, is in each."""
    left = list(range(len(machine.tier)))
    made = []
    while left:
        number = left.pop(0)
        tier = machine.tier[number]
        partners = [n for n in left if machine.share_channels(tier, machine.tier[n])]
        if not partners:
            made.append(SimulatedMemory(_json(machine, tier, fidelity), {number: 0}))
            continue
        if len(partners) > 1:
            raise Misuse(f"{machine.name}: more than two tiers share the channels of {tier.name}")
        left.remove(partners[0])
        made.append(_shared(machine, number, partners[0], fidelity))
    return made


def unloaded_ps(machine: Machine, tier: Tier) -> int:
    """What a read of the tier's device alone takes, without its link; NVM's from its media."""
    device = devices.find(_device(machine, tier).standard)
    if isinstance(device, devices.NvmDevice):
        host = devices.find_dram(device.channel)
        cycles = host.timing_cycles()["cl"] + host.structure.burst_cycles.whole()
        media = device.nvm.buffer_time.ps() + device.nvm.media_read.ps()
        return media + cycles * host.clock.ps()
    return devices.find_dram(_device(machine, tier).standard).unloaded_ps()


def _device(machine: Machine, tier: Tier) -> Any:
    if tier.device is None:
        raise Misuse(
            f"{machine.name}: tier {tier.name} can't be simulated: it names no device"
            ' (device = { standard = "DDR4-2400", channels = 6 })'
        )
    return tier.device


def _json(machine: Machine, tier: Tier, fidelity: devices.Fidelity) -> dict[str, Any]:
    device = _device(machine, tier)
    json = devices.resolve(
        device.standard,
        device.channels,
        ranks=device.ranks,
        link=device.link,
        fidelity=fidelity,
    )
    return json | {"name": tier.name}


def _shared(
    machine: Machine, first: int, second: int, fidelity: devices.Fidelity
) -> SimulatedMemory:
    pair = {n: _device(machine, machine.tier[n]) for n in (first, second)}
    kinds = {n: devices.find(device.standard) for n, device in pair.items()}
    dram = [n for n in pair if isinstance(kinds[n], devices.Dram)]
    nvm = [n for n in pair if isinstance(kinds[n], devices.NvmDevice)]
    names = " and ".join(machine.tier[n].name for n in pair)
    if len(dram) != 1 or len(nvm) != 1:
        raise Misuse(f"{machine.name}: of {names}, which share channels, one must be NVM")
    if pair[first].channels != pair[second].channels:
        raise Misuse(f"{machine.name}: {names} share channels, but name different numbers of them")
    near, far = dram[0], nvm[0]
    base = machine.tier[near].capacity_bytes
    json = devices.resolve(
        pair[near].standard,
        pair[near].channels,
        ranks=pair[near].ranks,
        link=pair[near].link,
        fidelity=fidelity,
        nvm=pair[far].standard,
        nvm_base=base,
    )
    return SimulatedMemory(json | {"name": names.replace(" and ", "+")}, {near: 0, far: base})
