"""Figure 7.6: row-buffer hits of POM-TLB's requests to memory."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.ryoo import common, paper, translated
from thermocline.reproduce.ryoo.mixes import MixRun
from thermocline.reproduce.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NEAR = 0.05


def runs(study: Study) -> Sequence[MixRun]:
    """POM-TLB, cached and not."""
    _, mixes = translated.chapter7(study)
    return [
        translated.run(mix, tlb) for mix in mixes for tlb in (translated.POM, translated.UNCACHED)
    ]


def result(study: Study) -> Result:
    """Near memory carries the buffer's requests and no others."""
    made, mixes = translated.chapter7(study)
    found = {
        mix.name: [
            float(made.answer(translated.run(mix, tlb))["tiers"][0]["row_hit_rate"] or 0)
            for tlb in (translated.POM, translated.UNCACHED)
        ]
        for mix in mixes
    }
    mean = [sum(column) / len(mixes) for column in zip(*found.values(), strict=True)]
    table = Table(
        "Figure 7.6: row-buffer hits of POM-TLB's requests to memory",
        ("workload", "cached", "not cached"),
        (
            *((mix.label, *map(common.percent, found[mix.name])) for mix in mixes),
            ("mean", *map(common.percent, mean)),
        ),
    )
    claim = Claim(
        "7.2.8",
        f"{common.percent(paper.ROW_HITS)} on average",
        f"{common.percent(mean[0])} ({common.percent(mean[1])} without caches)",
        abs(mean[0] - paper.ROW_HITS) < NEAR,
    )

    def draw(figure: "Figure") -> None:
        series = {
            name: [each[number] for each in found.values()]
            for number, name in enumerate(("cached", "not cached"))
        }
        common.bars(figure, [mix.label for mix in mixes], series, "row-buffer hits")

    notes = (
        "of whole slices; entries that are written count too; rows of the simulated HBM are 8 KiB"
        " (Table 5.2), the chapter's 2 KiB",
        *translated.notes(made),
    )
    return Result((table,), (claim,), notes, {"row_hits": found}, draw, (9, 4.5))


ITEM = Item("fig7.6", "row-buffer hits of POM-TLB", runs, result, None, 7)
