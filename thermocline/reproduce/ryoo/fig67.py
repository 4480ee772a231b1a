"""Figure 6.7: sampling's threshold, how many more shootdowns 4 KiB has to cost than 2 MiB."""

from collections.abc import Sequence

from thermocline.reproduce.item import Claim, Item, Result
from thermocline.reproduce.ryoo import migrated, varied
from thermocline.reproduce.ryoo.mixes import MixRun, MixStudy
from thermocline.reproduce.study import Study

RATIOS = (1, 2, 4)


def _columns(study: MixStudy) -> varied.Columns:
    return {
        f"{ratio}x": lambda mix, r=ratio: migrated.run(study, mix, f"sampling:ratio={r}")  # type: ignore[misc]
        for ratio in RATIOS
    }


def runs(study: Study) -> Sequence[MixRun]:
    """All programs."""
    made, mixes = migrated.chapter6(study)
    return varied.runs(mixes, _columns(made))


def result(study: Study) -> Result:
    """Does a conservative ratio cost something?"""
    made, mixes = migrated.chapter6(study)
    times = varied.found(made, mixes, _columns(made))
    slower = {
        mix.stands_for: times[mix.label]["4x"] / times[mix.label]["2x"]
        for mix in mixes
        if times[mix.label]["4x"] > (1 + migrated.ALIKE) * times[mix.label]["2x"]
    }
    claim = Claim(
        "6.3.5",
        "at 4x, mg does not reach its best",
        "slower at 4x than at 2x by more than 5 %: "
        + (", ".join(f"{name} {each:.2f}" for name, each in slower.items()) or "none"),
        "mg" in slower,
    )
    return varied.result(made, "Figure 6.7, sampling by its ratio", times, (claim,))


ITEM = Item("fig6.7", "sampling by its ratio of shootdowns", runs, result, None, 6)
