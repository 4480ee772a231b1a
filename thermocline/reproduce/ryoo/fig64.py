"""Figure 6.4: granularities with less and with more near memory."""

from collections.abc import Sequence

from thermocline.reproduce.item import Claim, Item, Result
from thermocline.reproduce.ryoo import migrated, varied
from thermocline.reproduce.ryoo.migrated import DYNAMIC, FIXED
from thermocline.reproduce.ryoo.mixes import Mix, MixRun, MixStudy
from thermocline.reproduce.study import Study

CAPACITIES = (300, 400, 500)  # MB, in the thesis' size


def _columns(study: MixStudy) -> varied.Columns:
    return {
        f"{policy} {near}": lambda mix, p=policy, n=near: migrated.run(study, mix, p, near_mb=n)  # type: ignore[misc]
        for near in CAPACITIES
        for policy in (*FIXED, *DYNAMIC)
    }


def runs(study: Study) -> Sequence[MixRun]:
    """Four programs, three capacities."""
    made, mixes = migrated.chapter6(study)
    return varied.runs(varied.representative(mixes), _columns(made))


def result(study: Study) -> Result:
    """Does more near memory help, and does the preference stay?"""
    made, mixes = migrated.chapter6(study)
    four: list[Mix] = varied.representative(mixes)
    times = varied.found(made, four, _columns(made))
    best = {
        mix.stands_for: [
            min(FIXED, key=lambda policy: times[mix.label][f"{policy} {near}"])
            for near in CAPACITIES
        ]
        for mix in four
    }
    least, most = CAPACITIES[0], CAPACITIES[-1]
    falls = [
        times[mix.label][f"{policy} {most}"] <= times[mix.label][f"{policy} {least}"] * 1.02
        for mix in four
        for policy in FIXED
    ]
    claims = (
        Claim(
            "6.3.5",
            "the overhead falls with more near memory",
            f"in {sum(falls)} of {len(falls)} cases ({least} to {most} MB, fixed granularities)",
            all(falls),
        ),
        Claim(
            "6.3.5",
            "the best fixed granularity is the same at all capacities",
            "; ".join(f"{name} {', '.join(each)}" for name, each in best.items()),
            all(len(set(each)) == 1 for each in best.values()),
        ),
    )
    return varied.result(made, "Figure 6.4, near memory of 300 to 500 MB", times, claims)


ITEM = Item("fig6.4", "granularities by near memory's capacity", runs, result, None, 6)
