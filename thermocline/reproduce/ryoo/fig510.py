"""Figure 5.10: energy-delay product relative to no near memory.

The memories' energy is computed from the devices' files.  The thesis adds cores by McPAT and does
not print them: two assumptions show how much they matter.
"""

from collections.abc import Callable, Sequence
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
    made = [common.run(mix, scheme) for mix in mixes for scheme in BARS]
    return made + common.halves(mixes)


def energy(study: MixStudy, run: MixRun, watts: float) -> float:
    """Joules; a system without near memory has none to feed."""
    answer = study.answer(run)
    joules = float(answer["energy"]["memory_joules"])
    if run.scheme == "all-slow":
        joules = float(answer["tiers"][1]["energy_joules"])
    return joules + watts * study.size.copies * float(answer["seconds"])


def energy_delay(study: MixStudy, run: MixRun, watts: float) -> float:
    """Joules times seconds."""
    return energy(study, run, watts) * float(study.answer(run)["seconds"])


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
    doubled = {
        what: common.doubled(mixes, _relative(made, measure, watts))
        for what, measure, watts in DOUBLED
    }
    tables += (
        Table(
            "Energy and energy-delay relative to no near memory over half the slice, over all of"
            " it, and the change",
            (
                "workload",
                *(
                    f"{common.NAMES[scheme]}, {what}"
                    for what in doubled
                    for scheme in common.CHECKED
                ),
            ),
            tuple(
                (
                    mix.label,
                    *(
                        common.change(*each[mix.name][scheme])
                        for each in doubled.values()
                        for scheme in common.CHECKED
                    ),
                )
                for mix in mixes
            ),
        ),
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

    data = {
        "relative": {f"{watts:g} W": each for watts, each in found.items()},
        "doubled": doubled,
    }
    return Result(tables, claims, common.notes(made, mixes), data, draw, (12, 5))


def _relative(
    study: MixStudy, measure: Callable[[MixStudy, MixRun, float], float], watts: float
) -> Callable[[MixRun, MixRun], float]:
    return lambda base, run: measure(study, run, watts) / measure(study, base, watts)


# What is looked at over half a slice, too, and the cores' watts in it.
DOUBLED = (
    ("memories' energy", energy, CORE_WATTS[0]),
    ("energy-delay, memories alone", energy_delay, CORE_WATTS[0]),
    (f"energy-delay, {CORE_WATTS[1]:g} W a core", energy_delay, CORE_WATTS[1]),
)


ITEM = Item("fig5.10", "energy-delay product", runs, result, None, 5)
