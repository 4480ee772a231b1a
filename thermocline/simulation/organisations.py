"""What organisations that swap lines need of a machine beside its tiers."""

from typing import Any

from thermocline.machine.devices import Fidelity
from thermocline.machine.memories import memories
from thermocline.machine.model import Machine
from thermocline.planning.model import Plan
from thermocline.simulation import scale as scaling
from thermocline.simulation.scheme import Scheme

PAGE = 4096
# Of near memory, at most a part of so many is kept for entries.
_KEPT = 4


def options(
    machine: Machine,
    scheme: Scheme,
    scale: scaling.Scale,
    fidelity: Fidelity,
    devices: list[dict[str, Any]],
    plan: Plan | None = None,
) -> dict[str, Any]:
    """The organisation's part of the configuration; adds a memory of its own if it has one."""
    json: dict[str, Any] = {"name": scheme.organisation.name, **scheme.organisation.options}
    if json["name"] != "silc-fm":
        return json
    rates = [tier.read_bandwidth.value if tier.read_bandwidth else 0 for tier in machine.tier]
    if min(rates) > 0:
        # Ryoo 2017, section 5.1.5: memories are best used when each serves its share.
        json.setdefault("split", rates[0] / sum(rates))
    if plan and json.get("plan") == "on":
        # Of a site in several tiers the hardware decides.
        json["sites"] = {site.key: site.tier for site in plan.sites if not site.shares}
    if json.get("metadata") == "channel":
        # One of the near memory's channels more, as much smaller as the machine is.
        near = next(each.json for each in memories(machine, fidelity) if 0 in each.tiers)
        json["metadata_memory"] = len(devices)
        one = scaling.memory({**near, "channels": machine.cpu.sockets}, scale)
        devices += [one] * scale.sockets
    return json


def limit_far(sizes: list[int], touched_bytes: int) -> None:
    """Makes far memory so small that near and far together are as large as the program.

    Which far lines share a near one is a question of the ratio. What the organisation keeps of
    near memory is made up for. Sizes are bytes by tier.
    """
    if touched_bytes > sizes[0]:
        far = touched_bytes - sizes[0] + sizes[0] // _KEPT + PAGE
        sizes[1] = min(sizes[1], far)
