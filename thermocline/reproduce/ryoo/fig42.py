"""Figure 4.2: three programs by granularity."""

from collections.abc import Sequence

from thermocline.reproduce.item import Claim, Item, Result
from thermocline.reproduce.ryoo import migrated, varied
from thermocline.reproduce.ryoo.migrated import FIXED
from thermocline.reproduce.ryoo.mixes import Mix, MixRun, MixStudy
from thermocline.reproduce.study import Study

THREE = {"xsbench": "4K", "graph500": "64K", "lulesh": "2M"}  # what section 4.2 says is best


def three(study: Study) -> tuple[MixStudy, list[Mix]]:
    """The study, and the three programs in the figure's order."""
    made, mixes = migrated.chapter6(study)
    return made, [mix for name in THREE for mix in mixes if mix.stands_for == name]


def runs(study: Study) -> Sequence[MixRun]:
    """Fixed granularities."""
    made, mixes = three(study)
    return migrated.runs(made, mixes, FIXED)


def result(study: Study) -> Result:
    """Times, and which is best."""
    made, mixes = three(study)
    found = migrated.slowdowns(made, mixes, FIXED)
    times = {mix.label: {p: found[mix.name][p].slowdown for p in FIXED} for mix in mixes}
    claims = [
        Claim(
            "4.2",
            f"{mix.stands_for} is fastest with {THREE[mix.stands_for]}",
            ", ".join(f"{p} {each:.2f}" for p, each in times[mix.label].items()),
            migrated.preference(found[mix.name]) == THREE[mix.stands_for],
        )
        for mix in mixes
    ]
    return varied.result(made, "Figure 4.2", times, claims)


ITEM = Item("fig4.2", "three programs by granularity", runs, result, None, 6)
