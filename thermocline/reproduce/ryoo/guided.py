"""Ours, not the thesis': pages where a plan says, with and without SILC-FM moving their lines."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.ryoo import common
from thermocline.reproduce.ryoo.mixes import Mix, MixRun
from thermocline.reproduce.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STRATEGY = "thermos"
# Scheme, and what its pages are placed by.
BARS = {
    "random": "Random",
    "membrain": "guided",
    common.SILC: "SILC-FM",
    "guided*silc-fm": "guided, and SILC-FM",
    common.FREE: "SILC-FM, entries free",
    "guided*silc-fm:metadata=free": "guided, and that",
    "guided*silc-fm:plan=on": "guided, and SILC-FM told",
    "guided*silc-fm:plan=on:metadata=free": "guided, and that told",
}
# Of those, what takes both and pays for entries.
TOGETHER = ("guided*silc-fm", "guided*silc-fm:plan=on")
EQUAL = 0.01


def _run(mix: Mix, scheme: str) -> MixRun:
    run = common.run(mix, scheme)
    return replace(run, strategy=STRATEGY) if scheme.startswith(("guided", "membrain")) else run


def runs(study: Study) -> Sequence[MixRun]:
    """Software alone, hardware alone, both."""
    _, mixes = common.chapter5(study)
    made = [common.baseline(mix) for mix in mixes]
    return made + [_run(mix, scheme) for mix in mixes for scheme in BARS]


def result(study: Study) -> Result:
    """Speed-ups over no near memory."""
    made, mixes = common.chapter5(study)
    found = {
        mix.name: {scheme: common.over_baseline(made, _run(mix, scheme)) for scheme in BARS}
        for mix in mixes
    }
    values = {name: list(each.values()) for name, each in found.items()}
    table = Table(
        f"Guided by {STRATEGY}, and SILC-FM: speed-up over no near memory (not in the thesis)",
        ("workload", *BARS.values()),
        tuple(common.rows(made, mixes, values)),
    )
    better = [
        mix.name
        for mix in mixes
        if max(found[mix.name][scheme] for scheme in TOGETHER)
        > (1 + EQUAL) * max(found[mix.name]["membrain"], found[mix.name][common.SILC])
    ]
    claim = Claim(
        "ours",
        "software guidance and hardware together beat either alone",
        f"on {len(better)} of {len(mixes)}: {', '.join(better) or 'none'}",
        len(better) == len(mixes),
    )

    def draw(figure: "Figure") -> None:
        labels = [mix.label for mix in mixes]
        series = {name: [found[mix.name][scheme] for mix in mixes] for scheme, name in BARS.items()}
        common.bars(figure, labels, series, "speed-up over no near memory")

    notes = (
        "the plan is of the whole run's exact profile, for one copy's part of near memory; under"
        " SILC-FM it says where a page is placed first, and lines move from there as they would",
        "SILC-FM that is told locks in the blocks of sites that the plan puts near, and moves"
        " nothing for those that it puts far; of sites in both it decides as ever",
        *common.notes(made, mixes),
    )
    return Result((table,), (claim,), notes, {"speedup": found}, draw, (12, 5))


ITEM = Item("guided", "ours: guided placement with and without SILC-FM", runs, result, None, 5)
