"""Figure 7.3: what POM-TLB, a shared L2 TLB and a TSB gain over the walker.

By two models: the simulator's own time, and the thesis' additive one, which is given Table 7.1's
share of time in translation and our ratio of walkers' cycles.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from thermocline.reproduce import ryoo_table71
from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.ryoo import common, paper, translated
from thermocline.reproduce.ryoo.mixes import Mix, MixRun, MixStudy
from thermocline.reproduce.study import Study
from thermocline.simulation import additive

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BARS = {
    "pom": translated.POM,
    "shared-l2": translated.SHARED,
    "tsb": translated.TSB,
    "ours": translated.NEIGHBOURS,
}
NEAR = 0.02  # gains this near are alike


def runs(study: Study) -> Sequence[MixRun]:
    """All last levels, nested."""
    _, mixes = translated.chapter7(study)
    return translated.both(
        [translated.run(mix, tlb) for mix in mixes for tlb in (translated.BASELINE, *BARS.values())]
    )


def gains(study: MixStudy, mix: Mix, tlb: str) -> tuple[float, float]:
    """By the simulator's time, and by the additive model."""
    base = translated.steady(study, translated.run(mix, translated.BASELINE))
    made = translated.steady(study, translated.run(mix, tlb))
    overhead = ryoo_table71.PROGRAMS[mix.stands_for].virtual_overhead
    if not base.penalty:
        return base.seconds / made.seconds - 1, 0.0
    # Of the same misses of the first level, so that all of a mix's cycles can be compared.
    added = additive.improvement(overhead, base.penalty, made.penalty)
    return base.seconds / made.seconds - 1, added


def result(study: Study) -> Result:
    """Both models."""
    made, mixes = translated.chapter7(study)
    found = {mix.name: {name: gains(made, mix, tlb) for name, tlb in BARS.items()} for mix in mixes}
    means = {
        name: [sum(each[name][model] for each in found.values()) / len(mixes) for model in (0, 1)]
        for name in BARS
    }
    rows = {mix.label: found[mix.name] for mix in mixes} | {"mean": means}
    tables = tuple(
        Table(
            f"Figure 7.3: improvement over the walker, {text}",
            ("workload", *(translated.NAMES[tlb] for tlb in BARS.values())),
            tuple(
                (label, *(common.percent(each[name][model]) for name in BARS))
                for label, each in rows.items()
            ),
        )
        for model, text in (
            (0, "by simulated time"),
            (1, "by the additive model on Table 7.1's shares of time (input)"),
        )
    )
    claims = [
        Claim(
            "7.2.5",
            f"{translated.NAMES[BARS[name]]} gains {common.percent(stated)} on average",
            f"{common.percent(means[name][1])} by the additive model,"
            f" {common.percent(means[name][0])} by simulated time",
            abs(means[name][1] - stated) < NEAR,
        )
        for name, stated in paper.IMPROVEMENT.items()
    ]
    each_gains = ", ".join(
        f"{translated.NAMES[BARS[name]]} {common.percent(means[name][0])}"
        for name in paper.IMPROVEMENT
    )
    claims.append(
        Claim(
            "7.2.5",
            "POM-TLB gains most, then the shared L2 TLB, then the TSB",
            f"{each_gains} by simulated time",
            means["pom"][0] > means["shared-l2"][0] > means["tsb"][0],
        )
    )

    def draw(figure: "Figure") -> None:
        series = {
            translated.NAMES[BARS[name]]: [100 * each[name][0] for each in rows.values()]
            for name in BARS
        }
        common.bars(figure, list(rows), series, "improvement by simulated time, percent")

    notes = (
        "the additive model leaves out a shared L2 TLB's longer hits, which simulated time has;"
        " POM-TLB's penalty is not published, so that the thesis' own bars can't be computed",
        *translated.notes(made),
    )
    return Result(tables, tuple(claims), notes, {"improvement": found}, draw, (10, 5))


ITEM = Item("fig7.3", "POM-TLB, shared L2 TLB and TSB over the walker", runs, result, None, 7)
