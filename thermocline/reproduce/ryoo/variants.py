"""Other machines of chapter 7: today's translation hardware, and more cores."""

from collections.abc import Callable
from typing import Any

from thermocline.machine.model import Machine
from thermocline.machine.translation import Buffer, Translation

FIVE = "5 levels"
LARGER = "5 levels, 3,072 entries"
COALESCED = "5 levels, 3,072 entries of 4 pages"
# A level more is a page-walk cache more, as large as the highest of the others.
_CACHE = Buffer(entries=2, ways=2, source="assumed")
_SECOND = Buffer(entries=3072, ways=12, source="as AMD Zen 4's second-level TLB of data")


def _translation(**changes: Any) -> Callable[[Machine], Machine]:
    def make(machine: Machine) -> Machine:
        made = machine.translation or Translation()
        caches = [*made.walk_caches, _CACHE][: changes["levels"] - 1]
        changed = made.model_copy(update={"walk_caches": caches, **changes})
        return machine.model_copy(update={"translation": changed})

    return make


_MADE = {
    FIVE: _translation(levels=5),
    LARGER: _translation(levels=5, second=_SECOND),
    COALESCED: _translation(levels=5, second=_SECOND, coalesce=4),
}


def make(machine: Machine, variant: str, cores: int) -> Machine:
    """The machine so changed (`""`: not), and with at least so many cores."""
    return with_cores(_MADE[variant](machine) if variant else machine, cores)


def with_cores(machine: Machine, cores: int) -> Machine:
    """With more cores than it has: the last cache and channels grow with them."""
    had = machine.cpu.cores
    if cores <= had:
        return machine
    last = machine.cache[-1]
    size = last.bytes.model_copy(update={"value": last.bytes.value * cores // had})
    larger = last.model_copy(update={"bytes": size, "shared_by": cores})
    tiers = []
    for tier in machine.tier:
        assert tier.device is not None
        changes: dict[str, Any] = {
            "device": tier.device.model_copy(
                update={"channels": tier.device.channels * cores // had}
            )
        }
        for name in ("read_bandwidth", "write_bandwidth"):
            rate = getattr(tier, name)
            if rate is not None:
                changes[name] = rate.model_copy(update={"value": rate.value * cores / had})
        tiers.append(tier.model_copy(update=changes))
    return machine.model_copy(
        update={
            "cpu": machine.cpu.model_copy(update={"cores": cores}),
            "cache": [*machine.cache[:-1], larger],
            "tier": tiers,
        }
    )
