"""Figure 5.11: speed-up by near memory's share of memory."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.ryoo import common, paper
from thermocline.reproduce.ryoo.mixes import MixRun
from thermocline.reproduce.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BARS = (*common.RIVALS, common.SILC, common.FREE)


def runs(study: Study) -> Sequence[MixRun]:
    """All schemes at all ratios."""
    _, mixes = common.chapter5(study)
    made = [common.baseline(mix) for mix in mixes]
    return made + [
        common.run(mix, scheme, ratio)
        for mix in mixes
        for ratio in common.SHARES
        for scheme in BARS
    ]


def result(study: Study) -> Result:
    """Geometric means over all mixes, and by group."""
    made, mixes = common.chapter5(study)
    found = {
        name: {
            ratio: {
                scheme: common.mean(
                    [common.over_baseline(made, common.run(mix, scheme, ratio)) for mix in those]
                )
                for scheme in BARS
            }
            for ratio in common.SHARES
        }
        for name, those in common.grouped(made, mixes).items()
    }
    table = Table(
        "Figure 5.11: speed-up over no near memory by near : far, geometric means",
        ("MPKI", "near : far", *(common.NAMES[scheme] for scheme in BARS)),
        tuple(
            (name, ratio, *(f"{value:.3f}" for value in each.values()))
            for name, ratios in found.items()
            for ratio, each in ratios.items()
        ),
        left=2,
    )
    all_ = found["all"]

    def best(ratio: str) -> float:
        return max(all_[ratio][scheme] for scheme in common.RIVALS)

    claims = tuple(
        Claim(
            "5.2.4",
            f"at {ratio} SILC-FM {ours:.2f}, the best rival {rival:.2f}",
            f"{all_[ratio][common.SILC]:.2f} ({all_[ratio][common.FREE]:.2f} with free entries)"
            f" and {best(ratio):.2f}",
            abs(all_[ratio][common.SILC] - ours) < 0.1 and abs(best(ratio) - rival) < 0.1,
        )
        for ratio, (ours, rival) in paper.BY_CAPACITY.items()
    )
    growth = {scheme: all_["1/4"][scheme] / all_["1/16"][scheme] - 1 for scheme in ("hma", "cameo")}
    claims += (
        Claim(
            "5.2.4",
            "more near memory helps CAMEO, and hardly HMA",
            ", ".join(
                f"{common.NAMES[scheme]} {100 * value:+.1f} %" for scheme, value in growth.items()
            )
            + " from 1/16 to 1/4",
            growth["cameo"] > growth["hma"],
        ),
    )

    def draw(figure: "Figure") -> None:
        axis = figure.subplots()
        for scheme in BARS:
            axis.plot(
                list(common.SHARES),
                [all_[ratio][scheme] for ratio in common.SHARES],
                marker="o",
                label=common.NAMES[scheme],
                color=common.COLOURS[scheme],
            )
        axis.set_xlabel("near : far")
        axis.set_ylabel("speed-up over no near memory")
        axis.grid(alpha=0.3)
        axis.legend(fontsize=8)

    return Result((table,), claims, common.notes(made, mixes), {"speedup": found}, draw, (7, 5))


ITEM = Item("fig5.11", "speed-up by near memory's capacity", runs, result, None, 5)
