"""Figure 4.5: what translation costs virtualised over native, for each miss."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from thermocline.reproduce import ryoo_table71
from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.ryoo import common, translated
from thermocline.reproduce.ryoo.mixes import Mix, MixRun, MixStudy
from thermocline.reproduce.study import Study
from thermocline.simulation.translation import Mode

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MODES: tuple[Mode, ...] = ("nested", "native")


def runs(study: Study) -> Sequence[MixRun]:
    """The walker, both ways."""
    _, mixes = translated.chapter7(study)
    return translated.both(
        [translated.run(mix, translated.BASELINE, mode) for mix in mixes for mode in MODES]
    )


def _ratio(study: MixStudy, mix: Mix) -> float:
    nested, native = (
        translated.steady(study, translated.run(mix, translated.BASELINE, mode)).average
        for mode in MODES
    )
    return nested / native if native else 0.0


def result(study: Study) -> Result:
    """Ratios, ours and Table 7.1's."""
    made, mixes = translated.chapter7(study)
    ours = {mix.name: _ratio(made, mix) for mix in mixes}
    missing = [each for each in ours.values() if each > 0]  # of mixes that miss at all
    theirs = {
        name: row.virtual_penalty / row.native_penalty
        for name, row in ryoo_table71.PROGRAMS.items()
    }
    table = Table(
        "Figure 4.5: cycles for each L2 TLB miss, virtualised / native",
        ("workload", "simulated", "thesis: measured"),
        tuple(
            (
                mix.label,
                f"{ours[mix.name]:.2f}" if ours[mix.name] else "no misses",
                f"{theirs[mix.stands_for]:.2f}",
            )
            for mix in mixes
        ),
    )
    claim = Claim(
        "4.3",
        f"virtualised costs {min(theirs.values()):.1f} to {max(theirs.values()):.0f} times native"
        f" ({common.mean(list(theirs.values())):.2f} on average)",
        f"{min(missing):.2f} to {max(missing):.2f} times ({common.mean(missing):.2f})"
        if missing
        else "no mix misses",
        bool(missing) and min(missing) >= 1,
    )

    def draw(figure: "Figure") -> None:
        labels = [mix.label for mix in mixes]
        series = {
            "simulated": list(ours.values()),
            "thesis": [theirs[mix.stands_for] for mix in mixes],
        }
        common.bars(figure, labels, series, "virtualised / native")

    notes = (
        "simulated, not measured: this needs nested virtualisation and walk-cycle events",
        *translated.notes(made),
    )
    return Result((table,), (claim,), notes, {"ours": ours, "thesis": theirs}, draw, (9, 4.5))


ITEM = Item("fig4.5", "translation's cost, virtualised over native", runs, result, None, 7)
