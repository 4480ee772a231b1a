"""Figure 7.5: accuracy of POM-TLB's predictors of page size and of cache bypass."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.ryoo import common, paper, translated
from thermocline.reproduce.ryoo.mixes import MixRun
from thermocline.reproduce.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PREDICTORS = ("size", "bypass")
NEAR = 0.05


def runs(study: Study) -> Sequence[MixRun]:
    """POM-TLB."""
    _, mixes = translated.chapter7(study)
    return translated.both([translated.run(mix, translated.POM) for mix in mixes])


def result(study: Study) -> Result:
    """Right guesses of all."""
    made, mixes = translated.chapter7(study)
    found: dict[str, list[float]] = {}
    for mix in mixes:
        last = translated.steady(made, translated.run(mix, translated.POM)).last
        found[mix.name] = [
            int(last[f"{each}_predictions_right"]) / max(1, int(last[f"{each}_predictions"]))
            for each in PREDICTORS
        ]
    mean = [sum(column) / len(mixes) for column in zip(*found.values(), strict=True)]
    table = Table(
        "Figure 7.5: accuracy of POM-TLB's predictors",
        ("workload", *PREDICTORS),
        (
            *((mix.label, *map(common.percent, found[mix.name])) for mix in mixes),
            ("mean", *map(common.percent, mean)),
        ),
    )
    claims = tuple(
        Claim(
            "7.2.7",
            f"the {name} predictor is right in {common.percent(stated)}",
            common.percent(ours),
            abs(ours - stated) < NEAR,
        )
        for name, ours, stated in zip(
            PREDICTORS, mean, (paper.SIZE_ACCURACY, paper.BYPASS_ACCURACY), strict=True
        )
    )

    def draw(figure: "Figure") -> None:
        series = {
            name: [each[number] for each in found.values()]
            for number, name in enumerate(PREDICTORS)
        }
        common.bars(figure, [mix.label for mix in mixes], series, "accuracy")

    notes = (
        "pages are large by chance here, each region for itself; in a recorded run neighbours are"
        " alike, which the size predictor's entries, shared by pages 2 MiB apart, would like",
        *translated.notes(made),
    )
    return Result((table,), claims, notes, {"accuracy": found}, draw, (9, 4.5))


ITEM = Item("fig7.5", "accuracy of POM-TLB's predictors", runs, result, None, 7)
