"""Figure 4.4: cycles for each miss of the second-level TLB, under virtualisation."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from thermocline.reproduce import ryoo_table71
from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.ryoo import common, translated
from thermocline.reproduce.ryoo.mixes import MixRun
from thermocline.reproduce.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def runs(study: Study) -> Sequence[MixRun]:
    """The walker, nested."""
    _, mixes = translated.chapter7(study)
    return translated.both([translated.run(mix, translated.BASELINE) for mix in mixes])


def result(study: Study) -> Result:
    """Simulated ones beside Table 7.1's, which the figure shows."""
    made, mixes = translated.chapter7(study)
    ours = {
        mix.name: translated.steady(made, translated.run(mix, translated.BASELINE)).average
        for mix in mixes
    }
    theirs = {mix.name: ryoo_table71.PROGRAMS[mix.stands_for].virtual_penalty for mix in mixes}
    table = Table(
        "Figure 4.4: cycles of translation for each L2 TLB miss, virtualised",
        ("workload", "simulated", "thesis: measured"),
        tuple((mix.label, f"{ours[mix.name]:.0f}", f"{theirs[mix.name]:.0f}") for mix in mixes),
    )
    missing = [each for each in ours.values() if each > 0]  # of mixes that miss at all
    all_ = [row.virtual_penalty for row in ryoo_table71.PROGRAMS.values()]
    claim = Claim(
        "4.3",
        f"a miss takes {min(all_):.0f} to {max(all_):.0f} cycles",
        f"{min(missing):.0f} to {max(missing):.0f}" if missing else "no mix misses",
        bool(missing) and min(all_) / 2 <= min(missing) and max(missing) <= 2 * max(all_),
    )

    def draw(figure: "Figure") -> None:
        labels = [mix.label for mix in mixes]
        series = {"simulated": list(ours.values()), "thesis": list(theirs.values())}
        common.bars(figure, labels, series, "cycles for each L2 TLB miss")

    notes = ("simulated, not measured: this needs walk-cycle events", *translated.notes(made))
    return Result((table,), (claim,), notes, {"ours": ours, "thesis": theirs}, draw, (9, 4.5))


ITEM = Item("fig4.4", "cycles of translation for each L2 TLB miss", runs, result, None, 7)
