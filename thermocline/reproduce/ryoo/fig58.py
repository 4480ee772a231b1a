"""Figure 5.8: SILC-FM beside its rivals."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.ryoo import common, paper
from thermocline.reproduce.ryoo.mixes import MixRun
from thermocline.reproduce.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAMEO_FREE = "cameo:entry_bytes=0"
BARS = (*common.RIVALS, CAMEO_FREE, common.SILC, common.FREE)
NAMES = {**common.NAMES, CAMEO_FREE: "CAMEO, entries free"}
MOVING = ("hma", "cameo", "cameo-p", "pom", common.SILC)
EQUAL = 0.05  # speed-ups this near are alike


def runs(study: Study) -> Sequence[MixRun]:
    """All schemes."""
    _, mixes = common.chapter5(study)
    made = [common.baseline(mix) for mix in mixes]
    return made + [common.run(mix, scheme) for mix in mixes for scheme in BARS]


def result(study: Study) -> Result:
    """Speed-ups, and what the text says of them."""
    made, mixes = common.chapter5(study)
    found = {
        mix.name: {scheme: common.over_baseline(made, common.run(mix, scheme)) for scheme in BARS}
        for mix in mixes
    }
    table = Table(
        "Figure 5.8: speed-up over no near memory",
        ("workload", *(NAMES[scheme] for scheme in BARS)),
        tuple(common.rows(made, mixes, {name: list(of.values()) for name, of in found.items()})),
    )
    moved = {
        mix.name: [common.moved(made.answer(common.run(mix, scheme))) for scheme in MOVING]
        for mix in mixes
    }
    lines = Table(
        "Lines moved for each read (not in the thesis)",
        ("workload", *(NAMES[scheme] for scheme in MOVING)),
        tuple(common.rows(made, mixes, moved, "{:.2f}".format)),
    )
    means = {scheme: common.mean([each[scheme] for each in found.values()]) for scheme in BARS}

    def draw(figure: "Figure") -> None:
        labels = [mix.label for mix in mixes]
        series = {
            scheme: [found[mix.name][scheme] for mix in mixes]
            for scheme in BARS
            if scheme != CAMEO_FREE
        }
        common.bars(figure, labels, series, "speed-up over no near memory", common.COLOURS)

    data = {"speedup": found, "mean": means, "moved": moved}
    return Result((table, lines), claims(means), common.notes(made, mixes), data, draw, (12, 5))


def claims(means: Mapping[str, float]) -> tuple[Claim, ...]:
    """Of section 5.2.3 and the summary."""
    best = max(common.RIVALS, key=lambda scheme: means[scheme])
    stated = paper.BY_CAPACITY["1/4"]
    gain, free = (means[scheme] / means[best] - 1 for scheme in (common.SILC, common.FREE))
    entries = means[common.FREE] / means[common.SILC] - 1
    return (
        Claim(
            "5.3",
            f"SILC-FM is {common.percent(paper.OVER_BEST_RIVAL)} faster than the best rival"
            f" ({common.percent(stated[0] / stated[1] - 1)} by Figure 5.11)",
            f"{100 * gain:+.1f} % against {common.NAMES[best]}; {100 * free:+.1f} % if entries"
            f" were free, which is worth {100 * entries:+.1f} % to it",
            gain > stated[0] / stated[1] - 1 - EQUAL,
        ),
        Claim(
            "5.2.3",
            "HMA is much faster than Random",
            f"{100 * (means['hma'] / means['random'] - 1):+.1f} %",
            means["hma"] > (1 + EQUAL) * means["random"],
        ),
        Claim(
            "5.2.3",
            "CAMEO is faster than HMA and PoM, and CAMEO-P than CAMEO",
            ", ".join(
                f"{common.NAMES[scheme]} {means[scheme]:.2f}"
                for scheme in ("hma", "pom", "cameo", "cameo-p")
            )
            + f"; {means[CAMEO_FREE]:.2f} if CAMEO's entries were free",
            max(means["hma"], means["pom"]) < means["cameo"] < means["cameo-p"],
        ),
    )


ITEM = Item("fig5.8", "SILC-FM and its rivals", runs, result, None, 5)
