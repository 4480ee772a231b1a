"""Figure 5.5: speed-up by access rate, of CAMEO that moves nothing above a share."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.ryoo import common, paper
from thermocline.reproduce.ryoo.mixes import Mix, MixRun
from thermocline.reproduce.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RATES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
FAST = 0.7  # mixes whose CAMEO gets this far say something of an optimum


def _run(mix: Mix, rate: float) -> MixRun:
    # Entries in the error-correcting bits, for they are no part of this figure's question.
    split = "" if rate == 1 else f":split={rate}"
    return common.run(mix, f"cameo:entry_bytes=0{split}")


def runs(study: Study) -> Sequence[MixRun]:
    """All rates of all mixes."""
    _, mixes = common.chapter5(study)
    return [common.baseline(mix) for mix in mixes] + [
        _run(mix, rate) for mix in mixes for rate in RATES
    ]


def result(study: Study) -> Result:
    """The rate that was reached stands beside the speed-up."""
    made, mixes = common.chapter5(study)
    found = {
        mix.name: [
            (
                common.near_share(made.answer(_run(mix, rate))),
                common.over_baseline(made, _run(mix, rate)),
            )
            for rate in RATES
        ]
        for mix in mixes
    }
    table = Table(
        "Figure 5.5: speed-up over no near memory (access rate reached), by the limit of the rate",
        ("workload", *(f"{rate:g}" for rate in RATES)),
        tuple(
            (mix.label, *(f"{speed:.3f} ({rate:.2f})" for rate, speed in found[mix.name]))
            for mix in mixes
        ),
    )
    reaching = [mix for mix in mixes if found[mix.name][-1][0] > FAST]
    best = {
        mix.name: max(zip(RATES, found[mix.name], strict=True), key=lambda each: each[1][1])[0]
        for mix in reaching
    }
    claim = Claim(
        "5.1.5",
        f"the best access rate is {paper.BEST_ACCESS_RATE:g}, not 1",
        (
            "best limit: " + ", ".join(f"{name} {rate:g}" for name, rate in best.items())
            if best
            else f"no mix serves more than {FAST:.0%} of its reads near"
        ),
        bool(best) and all(rate < 1 for rate in best.values()),
    )

    def draw(figure: "Figure") -> None:
        axis = figure.subplots()
        for mix in mixes:
            rates, speeds = zip(*found[mix.name], strict=True)
            axis.plot(rates, speeds, marker="o", markersize=4, label=mix.label)
        axis.axvline(paper.BEST_ACCESS_RATE, color="black", linewidth=0.8)
        axis.set_xlabel("share of reads that near memory served")
        axis.set_ylabel("speed-up over no near memory")
        axis.grid(alpha=0.3)
        axis.legend(fontsize=8)

    notes = (
        "limits bind only where CAMEO would serve more than that from near memory; lines that are"
        " near stay there, so that a limit may be passed; entries cost nothing here",
        *common.notes(made, mixes),
    )
    return Result((table,), (claim,), notes, {"limits": RATES, "found": found}, draw, (7, 5))


ITEM = Item("fig5.5", "speed-up by access rate (CAMEO)", runs, result, None, 5)
