"""Figure 6.5: granularities with faster and with slower far memory."""

from collections.abc import Sequence

from thermocline.reproduce.item import Claim, Item, Result
from thermocline.reproduce.ryoo import migrated, varied
from thermocline.reproduce.ryoo.migrated import DYNAMIC, FIXED
from thermocline.reproduce.ryoo.mixes import MixRun, MixStudy
from thermocline.reproduce.study import Study

RATIOS = (2, 8)  # far memory's latency over near memory's


def _columns(study: MixStudy) -> varied.Columns:
    return {
        f"{policy} {ratio}x": lambda mix, p=policy, r=ratio: migrated.run(study, mix, p, far=r)  # type: ignore[misc]
        for ratio in RATIOS
        for policy in (*FIXED, *DYNAMIC)
    }


def runs(study: Study) -> Sequence[MixRun]:
    """Four programs, two latencies."""
    made, mixes = migrated.chapter6(study)
    return varied.runs(varied.representative(mixes), _columns(made))


def result(study: Study) -> Result:
    """Does latency matter to the dynamic schemes?"""
    made, mixes = migrated.chapter6(study)
    times = varied.found(made, varied.representative(mixes), _columns(made))
    behind = {
        ratio: migrated.mean(
            [
                min(each[f"{policy} {ratio}x"] for policy in DYNAMIC)
                / min(each[f"{policy} {ratio}x"] for policy in FIXED)
                for each in times.values()
            ]
        )
        for ratio in RATIOS
    }
    claim = Claim(
        "6.3.5",
        "dynamic schemes are close to the best fixed granularity whatever far memory's latency",
        ", ".join(f"{each:.2f} times as long at {ratio}x" for ratio, each in behind.items())
        + " (the better of the two, geometric mean)",
        max(behind.values()) < 1 + migrated.ALIKE,
    )
    return varied.result(
        made, "Figure 6.5, far memory of 2 and 8 times the latency", times, (claim,)
    )


ITEM = Item("fig6.5", "granularities by far memory's latency", runs, result, None, 6)
