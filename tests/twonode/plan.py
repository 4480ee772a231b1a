"""Writes the configuration of a guided run (docs/internals.md) for a test program.

By convention a program's allocations in functions named fast_* go to tier 0, in slow_*
to tier 1, in half_* evenly to both, in round_* to tier 0, spread over its nodes, and those in any
other function are left out of the plan.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from elftools.elf.elffile import ELFFile


class Tier(NamedTuple):
    nodes: tuple[int, ...]  # none: the tier is only modelled
    capacity: int = 0

    @property
    def node_list(self) -> str:
        return ",".join(map(str, self.nodes)) or "-"

    @property
    def policy(self) -> str:
        """As the kernel spells it in numa_maps."""
        if not self.nodes:
            return "default"
        if len(self.nodes) == 1:
            return f"prefer:{self.nodes[0]}"
        return f"prefer (many):{_ranges(self.nodes)}"


def _ranges(nodes: tuple[int, ...]) -> str:
    first, last = nodes[0], nodes[-1]
    if nodes == tuple(range(first, last + 1)):
        return f"{first}-{last}"
    return ",".join(map(str, nodes))


def site_keys(program: Path) -> list[str]:
    """The keys in a program's or library's own table (docs/internals.md, thermocline_keys)."""
    with program.open("rb") as stream:
        section = ELFFile(stream).get_section_by_name("thermocline_keys")
        assert section, f"{program} was not annotated: it has no section thermocline_keys"
        strings = section.data().decode().split("\0")
    # String 0 describes the table; each site has three; an empty string ends them.
    end = strings.index("", 1)
    return strings[1:end:3]


def planned_class(key: str) -> int | None:
    """A tier's number, or that of the split class, or that of the one that is spread."""
    function = key.split("!", 1)[1].split("@", 1)[0]
    kinds = ("fast", "slow", "half", "round")
    found = re.search(rf"\b({'|'.join(kinds)})_", function)
    return None if not found else kinds.index(found.group(1))


def configuration(
    tiers: Iterable[Tier],
    keys: Iterable[str],
    *,
    heap: str = "guided",
    sampler: str = "none",
    default_tier: int = 1,
    nonheap_tier: int | None = None,
    report: str | None = None,
    interval_ms: int = 100,
) -> str:
    lines = ["thermocline-config 1", f"heap {heap}", f"sampler {sampler}"]
    lines.append(f"interval-ms {interval_ms}")
    if sampler == "trace":
        lines.append("cache 1 bytes 32768 ways 8 line 64 private")
        lines.append("cache 2 bytes 262144 ways 16 line 64 shared")
    if report:
        lines.append(f"report {report}")
    for number, tier in enumerate(tiers):
        lines.append(f"tier {number} nodes {tier.node_list} capacity {tier.capacity}")
    lines.append(f"default-tier {default_tier}")
    lines.append(f"nonheap-tier {'-' if nonheap_tier is None else nonheap_tier}")
    sites = {key: planned_class(key) for key in keys}
    assert {0, 1} <= set(sites.values()), f"no fast or no slow site among {sorted(sites)}"
    if {2, 3} & set(sites.values()):
        lines += ["class 2 shares 1,1", "class 3 shares 1,0 spread"]
    lines += [f"site {number} {key}" for key, number in sites.items() if number is not None]
    return "\n".join(lines) + "\n"


def environment(tiers: Iterable[Tier]) -> dict[str, str]:
    """What programs/placement.h reads: the nodes of each tier and the expected policy."""
    variables = {}
    for number, tier in enumerate(tiers):
        variables[f"TIER{number}"] = tier.node_list
        variables[f"POLICY{number}"] = tier.policy
    return variables
