"""Figure 5.7: SILC-FM by feature, as its words have it and with entries that cost nothing."""

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.ryoo import common, paper
from thermocline.reproduce.ryoo.mixes import Mix, MixRun
from thermocline.reproduce.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STEPS = {
    "swap": ":locking=off:ways=1:bypass=off",
    "+ locking": ":ways=1:bypass=off",
    "+ 4 ways": ":bypass=off",
    "+ bypass": "",
}
KINDS = {common.SILC: "entries cost what they move", common.FREE: "entries free"}


def _run(mix: Mix, kind: str, step: str) -> MixRun:
    return common.run(mix, kind + STEPS[step])


def runs(study: Study) -> Sequence[MixRun]:
    """Each feature on top of those before."""
    _, mixes = common.chapter5(study)
    made = [common.baseline(mix) for mix in mixes]
    made += [common.run(mix, "random") for mix in mixes]
    return made + [_run(mix, kind, step) for kind in KINDS for mix in mixes for step in STEPS]


def result(study: Study) -> Result:
    """Two tables, and the features' gains in points."""
    made, mixes = common.chapter5(study)
    found = {
        kind: {
            mix.name: [
                common.over_baseline(made, run)
                for run in (
                    common.run(mix, "random"),
                    *(_run(mix, kind, step) for step in STEPS),
                )
            ]
            for mix in mixes
        }
        for kind in KINDS
    }
    tables = tuple(
        Table(
            f"Figure 5.7: speed-up over no near memory, by feature; {text}",
            ("workload", "Random", *STEPS),
            tuple(common.rows(made, mixes, found[kind])),
        )
        for kind, text in KINDS.items()
    )
    moved = {
        mix.name: [common.moved(made.answer(_run(mix, common.SILC, step))) for step in STEPS]
        for mix in mixes
    }
    tables += (
        Table(
            "Lines moved for each read (not in the thesis: it says where the time goes)",
            ("workload", *STEPS),
            tuple(common.rows(made, mixes, moved, "{:.2f}".format)),
        ),
    )
    claims: tuple[Claim, ...] = ()
    for kind, text in KINDS.items():
        means = [common.mean(column) for column in zip(*found[kind].values(), strict=True)]
        claims += _claims(means, text)

    def draw(figure: "Figure") -> None:
        labels = [mix.label for mix in mixes]
        series = {
            name: [found[common.SILC][mix.name][number] for mix in mixes]
            for number, name in enumerate(("Random", *STEPS))
        }
        common.bars(figure, labels, series, "speed-up over no near memory")

    return Result(
        tables, claims, common.notes(made, mixes), {"speedup": found, "moved": moved}, draw, (11, 5)
    )


def _claims(means: Sequence[float], text: str) -> tuple[Claim, ...]:
    gains = [after - before for before, after in itertools.pairwise(means[1:])]
    stated = (paper.LOCKING, paper.ASSOCIATIVITY, paper.BYPASS)
    return (
        Claim(
            "5.2.3",
            f"swapping alone: {paper.SWAP:g} times",
            f"{means[1]:.2f} times ({text}; Random {means[0]:.2f})",
            abs(means[1] - paper.SWAP) < 0.1,
        ),
        Claim(
            "5.2.3",
            "locking, associativity and bypass add "
            + ", ".join(common.points(each) for each in stated),
            ", ".join(common.points(each) for each in gains) + f" ({text})",
            all(abs(ours - theirs) < 0.03 for ours, theirs in zip(gains, stated, strict=True)),
        ),
        Claim(
            "5.2.3",
            "each feature helps on average",
            f"from {means[1]:.2f} to {means[-1]:.2f} ({text})",
            all(gain > 0 for gain in gains),
        ),
    )


ITEM = Item("fig5.7", "SILC-FM's speed-up by feature", runs, result, None, 5)
