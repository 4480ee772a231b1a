"""For flexmalloc (github.com/intel/flexmalloc): memory definitions and code locations.

It compares call paths by file name and line, frame by frame, cut at the longest location's
length.  A site without callers is one frame; with callers, a path counts only where the
program was built without inlining them, as flexmalloc sees machine frames.
"""

from thermocline.errors import Misuse
from thermocline.exports.model import Export, heap_limit, placed
from thermocline.machine.model import Machine, Tier
from thermocline.planning.model import Plan

_ALLOCATOR = {
    "HBM": "memkind/hbwmalloc",
    "MCDRAM": "memkind/hbwmalloc",
    "DRAM": "posix",
    "NVM": "memkind/pmem",
}
_MIB = 2**20


def export(plan: Plan, machine: Machine) -> Export:
    """The two files that flexmalloc.sh takes."""
    names = [_allocator(tier) for tier in machine.tier]
    if len(set(names)) != len(names):
        raise Misuse(f"flexmalloc has one allocator for several tiers of {machine.name}")
    found = placed(plan)
    fallback = names[plan.default_tier]
    # Characters by which flexmalloc takes a line apart.
    told = {
        path: tier
        for path, tier in found.tier_of.items()
        if not any(set("!@>:") & set(frame.name) for frame in path)
    }
    lines = {
        " > ".join(f"{frame.name}:{frame.line}" for frame in path): tier
        for path, tier in told.items()
        if names[tier] != fallback
    }
    lost = list(found.lost)
    if left := len(found.tier_of) - len(told):
        lost.append(f"it can't read the names of some files, of so many places: {left}")
    if any(len(path) > 1 for path in found.tier_of):
        lost.append("callers count only where nothing was inlined: build with -g -fno-inline")
    if plan.nonheap_bytes:
        lost.append("what is not heap is not placed")
    text = [
        "# Thermocline's plan, one call path a line.",
        *(f"{path} @ {names[tier]}" for path, tier in lines.items()),
        "",
    ]
    if not lines:
        raise Misuse("the plan names no site outside of its default tier that has a source line")
    definitions = [line for tier in machine.tier for line in _definition(plan, machine, tier)]
    return Export(
        {
            ".flexmalloc.definitions": "\n".join([*definitions, ""]),
            ".flexmalloc.locations": "\n".join(text),
        },
        # A return address is a line too far as often as not.
        f"FLEXMALLOC_CALLSTACK_MINUS1=yes FLEXMALLOC_FALLBACK_ALLOCATOR={fallback} "
        "flexmalloc.sh {out}.flexmalloc.definitions {out}.flexmalloc.locations {command}",
        lost,
    )


def _allocator(tier: Tier) -> str:
    if tier.kind not in _ALLOCATOR:
        raise Misuse(
            f"flexmalloc has no allocator for {tier.name} ({tier.kind}): try --for numactl"
        )
    return _ALLOCATOR[tier.kind]


def _definition(plan: Plan, machine: Machine, tier: Tier) -> list[str]:
    name = _allocator(tier)
    size = tier.capacity_bytes
    if tier == machine.tier[0]:
        size = heap_limit(plan, size)
    what = "@ /mnt/pmem0" if name == "memkind/pmem" else f"Size {max(1, size // _MIB)} MBytes"
    return [f"# Memory configuration for allocator {name}", what]
