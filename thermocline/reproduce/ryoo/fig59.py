"""Figure 5.9: which memory serves the program's reads."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.ryoo import common, paper
from thermocline.reproduce.ryoo.mixes import MixRun
from thermocline.reproduce.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BARS = (*common.RIVALS, "silc-fm:bypass=off", common.SILC)
NAMES = {**common.NAMES, "silc-fm:bypass=off": "SILC-FM, no bypass"}
NEAR = 0.05  # shares this near are alike


def runs(study: Study) -> Sequence[MixRun]:
    """All schemes."""
    _, mixes = common.chapter5(study)
    made = [common.baseline(mix) for mix in mixes]
    return made + [common.run(mix, scheme) for mix in mixes for scheme in BARS]


def result(study: Study) -> Result:
    """Near memory's shares."""
    made, mixes = common.chapter5(study)
    found = {
        mix.name: {
            scheme: common.near_share(made.answer(common.run(mix, scheme))) for scheme in BARS
        }
        for mix in mixes
    }
    means = {scheme: sum(each[scheme] for each in found.values()) / len(mixes) for scheme in BARS}
    rows = {mix.label: found[mix.name] for mix in mixes} | {"mean": means}
    table = Table(
        "Figure 5.9: share of the program's reads that near memory serves (far: the rest)",
        ("workload", *(NAMES[scheme] for scheme in BARS)),
        tuple(
            (label, *(common.percent(each[scheme]) for scheme in BARS))
            for label, each in rows.items()
        ),
    )
    claims = tuple(
        Claim(
            "5.2.3",
            f"{common.NAMES[scheme]} serves {common.percent(share)} of the demanded bandwidth near",
            common.percent(means[scheme]),
            abs(means[scheme] - share) < NEAR,
        )
        for scheme, share in paper.NEAR_SHARE.items()
    )

    def draw(figure: "Figure") -> None:
        series = {NAMES[scheme]: [each[scheme] for each in rows.values()] for scheme in BARS}
        common.bars(figure, list(rows), series, "share of reads served near")

    notes = (
        "reads only, without what schemes move or look up; near memory is 20 % of the footprint,"
        " which is what random pages would serve if all were read alike",
        *common.notes(made, mixes),
    )
    return Result((table,), claims, notes, {"near": found}, draw, (12, 5))


ITEM = Item("fig5.9", "near and far memory's shares of the reads", runs, result, None, 5)
