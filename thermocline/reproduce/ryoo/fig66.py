"""Figure 6.6: history's threshold, the share of a region that has to be used."""

from collections.abc import Sequence

from thermocline.reproduce.item import Claim, Item, Result
from thermocline.reproduce.ryoo import migrated, varied
from thermocline.reproduce.ryoo.mixes import MixRun, MixStudy
from thermocline.reproduce.study import Study

SHARES = (75, 85, 90)  # percent; the text says 95 once
PUBLISHED = "85 %"


def _columns(study: MixStudy) -> varied.Columns:
    return {
        f"{share} %": lambda mix, s=share: migrated.run(study, mix, f"history:used={s / 100}")  # type: ignore[misc]
        for share in SHARES
    }


def runs(study: Study) -> Sequence[MixRun]:
    """All programs."""
    made, mixes = migrated.chapter6(study)
    return varied.runs(mixes, _columns(made))


def result(study: Study) -> Result:
    """Which is best over all?"""
    made, mixes = migrated.chapter6(study)
    times = varied.found(made, mixes, _columns(made))
    means = {
        title: migrated.mean([each[title] for each in times.values()]) for title in _columns(made)
    }
    least = min(means.values())
    claim = Claim(
        "6.3.5",
        "85 % is the best threshold",
        "geometric means " + ", ".join(f"{title} {each:.2f}" for title, each in means.items()),
        means[PUBLISHED] <= least * 1.001,
    )
    return varied.result(made, "Figure 6.6, history by its threshold", times, (claim,))


ITEM = Item("fig6.6", "history by its threshold", runs, result, None, 6)
