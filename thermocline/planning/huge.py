"""Which sites should lie in pages of 2 MiB: those whose page walks cost time that these would save.

A trace is simulated twice, as the plan has its sites, with all pages of 4 KiB and with all of
2 MiB.  What a site saves is the difference of the time that page walkers were at its misses of the
second-level TLB: more than the program waited for them, where walks overlap with other work.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thermocline.errors import Misuse
from thermocline.machine.model import Machine
from thermocline.planning.model import Plan, PlannedSite
from thermocline.simulation.runner import Bars

PAGE = 2 * 2**20
LEAST = 0.01  # of the program's time, which a site has to save


@dataclass(frozen=True)
class Site:
    """One site's page walks."""

    key: str
    small_misses: int  # of the second-level TLB, with pages of 4 KiB
    large_misses: int  # and of 2 MiB
    saved_seconds: float  # of walkers
    saved_share: float  # of the threads' time with small pages
    huge: bool


def judge(
    small: Mapping[str, Any], large: Mapping[str, Any], plan: Plan, threads: int
) -> dict[str, Site]:
    """From the simulator's answers of the two runs; the plan's sites that missed at all."""
    before, after = _by_key(small), _by_key(large)
    time = float(small["seconds"]) * threads
    found = {}
    for planned in plan.sites:
        mine, then = before.get(planned.key), after.get(planned.key, _NOTHING)
        if mine is None:
            continue
        saved = float(mine["penalty_seconds"]) - float(then["penalty_seconds"])
        share = max(0.0, saved / time) if time else 0.0
        found[planned.key] = Site(
            planned.key,
            int(mine["second_misses"]),
            int(then["second_misses"]),
            saved,
            share,
            share >= LEAST and _fits(planned),
        )
    return found


_NOTHING: Mapping[str, Any] = {"second_misses": 0, "penalty_seconds": 0.0}


def _by_key(answer: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {site["key"]: site for site in answer["translation"]["sites"]}


def _fits(site: PlannedSite) -> bool:
    """A site of less than a page would only waste memory; one in parts has none to itself."""
    return site.bytes >= PAGE and sum(share > 0 for share in site.shares) <= 1


def simulate(trace: Path, machine: Machine, plan: Plan, bars: Bars) -> dict[str, Site]:
    """Both runs, with one bar."""
    from thermocline.simulation import config, runner, scheme, translation

    survey = runner.survey(trace)
    progress = bars("simulating page walks", 2 * int(survey["references"]))
    configurations = []
    for share in (0.0, 1.0):
        setting = config.Setting(
            machine=machine,
            threads=int(survey["threads"]),
            touched_bytes=int(survey["touched_bytes"]),
            near_bytes=plan.capacity_bytes,
            translation=translation.Choice("native", translation.parse("baseline"), share),
        )
        configurations.append(config.configure(setting, trace, scheme.parse("membrain"), plan).json)
    small, large = runner.run_all(configurations, progress)
    if {site.key for site in plan.sites}.isdisjoint(survey["owners"]):
        raise Misuse(f"{trace} has none of the plan's sites: record it with the program profiled")
    return judge(small, large, plan, int(survey["threads"]))


def marked(plan: Plan, sites: Mapping[str, Site]) -> Plan:
    """The plan with `huge` at the sites that are worth it."""
    made = [
        site.model_copy(update={"huge": site.key in sites and sites[site.key].huge})
        for site in plan.sites
    ]
    return plan.model_copy(update={"sites": made})
