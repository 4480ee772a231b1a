"""Which sites a hardware cache serves better than their place in a plan does.

A trace is simulated twice: guided by the plan, and with the same fast memory as a cache of the
slow one.  Per site the two are compared by how long the cores stood still for its data.  In the
cache all sites compete, as they would; a site is not simulated by itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from thermocline.errors import Misuse
from thermocline.machine.model import Machine
from thermocline.planning.model import Plan
from thermocline.simulation.runner import Bars

Suits = Literal["", "cache", "placement", "either"]
CACHE = "memory-mode"  # all of tier 0 caches tier 1
# Waits that differ by less, of the longer, are alike: queues alone move them by some percent.
ALIKE = 0.10
# Of all waiting: a site with less than this in both runs does not care.
LEAST = 0.001


@dataclass(frozen=True)
class Site:
    """One site's data, placed and cached."""

    key: str
    placed_seconds: float  # that cores waited for it
    cached_seconds: float
    bytes: int  # read, placed
    near_share: float  # of these, from tier 0
    hit_rate: float  # of the cache, for this site's reads
    suits: Suits


def judge(placed: Mapping[str, Any], cached: Mapping[str, Any]) -> dict[str, Site]:
    """From the simulator's answers of the two runs."""
    ours, theirs = _by_key(placed), _by_key(cached)
    least = LEAST * max(_waits(ours), _waits(theirs))
    found = {}
    for key in sorted(ours.keys() | theirs.keys()):
        mine, other = ours.get(key, _NOTHING), theirs.get(key, _NOTHING)
        here, there = float(mine["stall_seconds"]), float(other["stall_seconds"])
        near, *far = (int(tier["read_bytes"]) for tier in mine["tiers"])
        read = near + sum(far)
        missed = sum(int(tier["read_bytes"]) for tier in other["tiers"][1:])
        found[key] = Site(
            key,
            here,
            there,
            read,
            near / read if read else 0.0,
            max(0.0, 1 - missed / read) if read else 0.0,
            _suits(here, there, least),
        )
    return found


def _suits(placed: float, cached: float, least: float) -> Suits:
    if max(placed, cached) <= least or abs(placed - cached) <= ALIKE * max(placed, cached):
        return "either"
    return "cache" if cached < placed else "placement"


_NOTHING: Mapping[str, Any] = {"stall_seconds": 0.0, "tiers": ({"read_bytes": 0},)}


def _by_key(answer: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {site["key"]: site for site in answer["sites"]}


def _waits(sites: Mapping[str, Mapping[str, Any]]) -> float:
    return sum(float(site["stall_seconds"]) for site in sites.values())


def simulate(trace: Path, machine: Machine, plan: Plan, bars: Bars) -> dict[str, Site]:
    """Both runs, with one bar."""
    from thermocline.simulation import config, runner, scheme

    survey = runner.survey(trace)
    progress = bars("simulating", 2 * int(survey["references"]))
    setting = config.Setting(
        machine=machine,
        threads=int(survey["threads"]),
        touched_bytes=int(survey["touched_bytes"]),
        near_bytes=plan.capacity_bytes,
    )
    runs = [(scheme.parse("membrain"), plan), (scheme.parse(CACHE), None)]
    configurations = [config.configure(setting, trace, each, its).json for each, its in runs]
    found = judge(*runner.run_all(configurations, progress))
    if not any(site.key in found for site in plan.sites):
        raise Misuse(f"{trace} has none of the plan's sites: record it with the program profiled")
    return found


def marked(plan: Plan, sites: Mapping[str, Site]) -> Plan:
    """The plan with each site's `suits`; empty where the trace doesn't have it."""
    made = [
        site.model_copy(update={"suits": sites[site.key].suits if site.key in sites else ""})
        for site in plan.sites
    ]
    return plan.model_copy(update={"sites": made})
