"""What the migration engine is told: THERMOCLINE_MIGRATE, whose reader is engine/settings.cpp.

With a plan the program is guided as well, by three tiers: the near one holds the sites that the
plan has in tier 0, the far one those that it has in its last, and the one between all the rest,
which the engine moves.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from thermocline import paths
from thermocline.errors import ThermoclineError
from thermocline.machine.figures import Bandwidth
from thermocline.machine.model import Machine, Tier
from thermocline.planning.model import Plan, PlannedSite
from thermocline.run import config, preload
from thermocline.run.config import RunTier, Setting

VARIABLE = "THERMOCLINE_MIGRATE"
KEPT_NEAR, MOVED, KEPT_FAR = range(3)


def settings(words: Mapping[str, str | int], near: Tier, far: Tier) -> str:
    """These words, and where far memory is or what it costs."""
    return ";".join([*(f"{name}={value}" for name, value in words.items()), *_memory(near, far)])


def _memory(near: Tier, far: Tier) -> list[str]:
    """The nodes, or what a move costs: the slower side of each direction, and far's latency."""
    if near.nodes and far.nodes:
        return [f"near-node={node}" for node in near.nodes] + [
            f"far-node={node}" for node in far.nodes
        ]
    latency = round(float(far.latency.value) * 1e9) if far.latency is not None else 0

    def slower(*rates: Bandwidth | None) -> int:
        return min((int(rate.value) for rate in rates if rate is not None), default=0)

    return [
        f"in-latency-ns={latency}",
        f"out-latency-ns={latency}",
        f"in-bandwidth={slower(far.read_bandwidth, near.write_bandwidth)}",
        f"out-bandwidth={slower(near.read_bandwidth, far.write_bandwidth)}",
    ]


def configuration(plan: Plan, machine: Machine, report: Path) -> str:
    """Of the guided half; a process's report of it goes to REPORT.PID.json."""
    near, far = (tuple(tier.nodes) for tier in (machine.tier[0], machine.tier[-1]))
    if not near or not far:
        near = far = ()
    tiers = [RunTier("near", near, None), RunTier("moved", (), None), RunTier("far", far, None)]
    last = max(1, plan.tiers - 1)
    sites = [
        site.model_copy(update={"tier": _tier_of(site, last), "shares": [], "spread": False})
        for site in plan.sites
    ]
    kept = plan.model_copy(
        update={"default_tier": MOVED, "nonheap_tier": "none", "nonheap_bytes": 0, "sites": sites}
    )
    return config.for_run(
        report, kept, Setting(tiers, machine, not near), trace=False, context=plan.preload_context
    )


def _tier_of(site: PlannedSite, last: int) -> int:
    """What is in several tiers, or between the first and the last, moves."""
    if sum(share > 0 for share in site.shares) > 1 or 0 < site.tier < last:
        return MOVED
    return KEPT_NEAR if site.tier == 0 else KEPT_FAR


def environment(text: str, preloaded: bool = False) -> dict[str, str]:
    """What the command gets besides its own; `preloaded`: it is not annotated, and guided."""
    library = paths.library("libthermocline-migrate.so")
    if not library.is_file():
        raise ThermoclineError(f"{library} is missing: run make build, or set THERMOCLINE_PREFIX")
    if not _may_watch():
        raise ThermoclineError(
            "userfaultfd with fork events is not permitted here: run as root, or give "
            "CAP_SYS_PTRACE"
        )
    more = preload.environment() if preloaded else {}
    already = more.get("LD_PRELOAD") or os.environ.get("LD_PRELOAD")
    both = f"{library}:{already}" if already else str(library)
    return {**more, VARIABLE: text, "LD_PRELOAD": both}


def _may_watch() -> bool:
    """Whether this process has CAP_SYS_PTRACE (bit 19), which following forks takes."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("CapEff:"):
            return bool(int(line.split()[1], 16) >> 19 & 1)
    return False
