"""Figure 5.10: energy-delay product relative to no near memory.

The memories' energy is computed from the devices' files.  The thesis adds cores by McPAT and does
not print them: two assumptions show how much they matter.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.ryoo import common, paper
from thermocline.reproduce.ryoo.mixes import Mix, MixRun, MixStudy
from thermocline.reproduce.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BARS = (*common.RIVALS, common.SILC, common.FREE)
CORE_WATTS = (0.0, 5.0)  # of each core with its caches: assumed
NEAR = 0.05


def runs(study: Study) -> Sequence[MixRun]:
    """All schemes."""
    _, mixes = common.chapter5(study)
    made = [common.baseline(mix) for mix in mixes]
    return made + [common.run(mix, scheme) for mix in mixes for scheme in BARS]


def energy_delay(study: MixStudy, run: MixRun, watts: float) -> float:
    """Joules times seconds; a system without near memory has none to feed."""
    answer = study.answer(run)
    seconds = float(answer["seconds"])
    joules = float(answer["energy"]["memory_joules"])
    if run.scheme == "all-slow":
        joules = float(answer["tiers"][1]["energy_joules"])
    return (joules + watts * study.size.copies * seconds) * seconds


def result(study: Study) -> Result:
    """Both assumptions."""
    made, mixes = common.chapter5(study)

    def relative(mix: Mix, watts: float) -> list[float]:
        base = energy_delay(made, common.baseline(mix), watts)
        return [energy_delay(made, common.run(mix, each), watts) / base for each in BARS]

    found = {watts: {mix.name: relative(mix, watts) for mix in mixes} for watts in CORE_WATTS}
    tables = tuple(
        Table(
            "Figure 5.10: energy-delay relative to no near memory, "
            + (f"{watts:g} W a core (assumed)" if watts else "memories alone"),
            ("workload", *(common.NAMES[scheme] for scheme in BARS)),
            tuple(common.rows(made, mixes, found[watts])),
        )
        for watts in CORE_WATTS
    )
    claims: tuple[Claim, ...] = ()
    for watts in CORE_WATTS:
        columns = zip(*found[watts].values(), strict=True)
        means = dict(zip(BARS, map(common.mean, columns), strict=True))
        ours, cameo = means[common.SILC], means["cameo"]
        claims += (
            Claim(
                "5.2.3",
                f"energy-delay {common.percent(paper.LESS_ENERGY_DELAY)} below the baseline and"
                f" {common.percent(paper.LESS_THAN_CAMEO)} below CAMEO",
                f"{100 * (ours - 1):+.1f} % against the baseline, {100 * (ours / cameo - 1):+.1f} %"
                f" against CAMEO; {100 * (means[common.FREE] - 1):+.1f} % with free entries"
                f" ({watts:g} W a core)",
                abs(1 - ours - paper.LESS_ENERGY_DELAY) < NEAR
                and abs(1 - ours / cameo - paper.LESS_THAN_CAMEO) < NEAR,
            ),
        )

    def draw(figure: "Figure") -> None:
        labels = [mix.label for mix in mixes]
        series = {
            scheme: [found[CORE_WATTS[-1]][mix.name][number] for mix in mixes]
            for number, scheme in enumerate(BARS)
        }
        common.bars(figure, labels, series, "energy-delay / no near memory", common.COLOURS)

    data = {f"{watts:g} W": each for watts, each in found.items()}
    return Result(tables, claims, common.notes(made, mixes), {"relative": data}, draw, (12, 5))


ITEM = Item("fig5.10", "energy-delay product", runs, result, None, 5)
