"""Figure 7.7: POM-TLB with and without its entries in the data caches."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.ryoo import common, paper, translated
from thermocline.reproduce.ryoo.fig73 import gains
from thermocline.reproduce.ryoo.mixes import MixRun
from thermocline.reproduce.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BARS = (translated.POM, translated.UNCACHED)
NEAR = 0.02


def runs(study: Study) -> Sequence[MixRun]:
    """Both, and the walker."""
    _, mixes = translated.chapter7(study)
    return translated.both(
        [translated.run(mix, tlb) for mix in mixes for tlb in (translated.BASELINE, *BARS)]
    )


def result(study: Study) -> Result:
    """Improvements by simulated time and by the additive model."""
    made, mixes = translated.chapter7(study)
    found = {mix.name: [gains(made, mix, tlb) for tlb in BARS] for mix in mixes}

    def mean(model: int) -> list[float]:
        return [
            sum(each[number][model] for each in found.values()) / len(mixes) for number in (0, 1)
        ]

    timed, added = mean(0), mean(1)
    columns = ("workload", *(translated.NAMES[tlb] for tlb in BARS))
    table = Table(
        "Figure 7.7: improvement over the walker by simulated time (by the additive model)",
        columns,
        tuple(
            (label, *(f"{common.percent(t)} ({common.percent(a)})" for t, a in pairs))
            for label, pairs in (
                *((mix.label, found[mix.name]) for mix in mixes),
                ("mean", list(zip(timed, added, strict=True))),
            )
        ),
    )
    claim = Claim(
        "7.2.9",
        f"caching is worth {common.points(paper.CACHING)}",
        f"{common.points(added[0] - added[1])} by the additive model,"
        f" {common.points(timed[0] - timed[1])} by simulated time",
        abs(added[0] - added[1] - paper.CACHING) < NEAR,
    )

    def draw(figure: "Figure") -> None:
        series = {
            translated.NAMES[tlb]: [100 * each[number][0] for each in found.values()]
            for number, tlb in enumerate(BARS)
        }
        labels = [mix.label for mix in mixes]
        common.bars(figure, labels, series, "improvement by simulated time, percent")

    data = {"improvement": found}
    return Result((table,), (claim,), translated.notes(made), data, draw, (9, 4.5))


ITEM = Item("fig7.7", "POM-TLB with and without data caching", runs, result, None, 7)
