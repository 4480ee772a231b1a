"""Whether POM-TLB still pays on today's hardware, ours: larger tables, larger TLBs, coalescing."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from thermocline.reproduce.item import Item, Result, Table
from thermocline.reproduce.ryoo import common, translated, variants
from thermocline.reproduce.ryoo.mixes import Mix, MixRun, MixStudy
from thermocline.reproduce.study import Study
from thermocline.simulation import additive

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VARIANTS = {
    "4 levels, 1,536 entries": "",
    variants.FIVE: variants.FIVE,
    variants.LARGER: variants.LARGER,
    variants.COALESCED: variants.COALESCED,
}
TLBS = (translated.BASELINE, translated.POM, translated.NEIGHBOURS)
COLUMNS = (
    "L2 TLB misses, to the first row's",
    "cycles a miss",
    "time in translation",
    "POM-TLB gains: time",
    "additive",
    "neighbours gain: time",
    "additive",
)


# What outgrows every TLB here is given the thesis' whole buffer.
WHOLE = {translated.POM: "pom", translated.NEIGHBOURS: "pom:neighbours=on"}


def _run(mix: Mix, tlb: str, variant: str) -> MixRun:
    return replace(translated.run(mix, WHOLE.get(tlb, tlb) if mix.extra else tlb), variant=variant)


def _mixes(study: Study) -> tuple[MixStudy, list[Mix]]:
    made, mixes = translated.chapter7(study)
    return made, [*mixes, *made.extras(7)]


def runs(study: Study) -> Sequence[MixRun]:
    """Each way to translate on each machine."""
    _, mixes = _mixes(study)
    return translated.both(
        [_run(mix, tlb, variant) for mix in mixes for tlb in TLBS for variant in VARIANTS.values()]
    )


def result(study: Study) -> Result:
    """A row a machine: means over the chapter's mixes, and those that are larger by themselves."""
    made, mixes = _mixes(study)
    found: dict[str, dict[str, list[float]]] = {}
    for name, variant in VARIANTS.items():
        found[name] = {}
        for mix in mixes:
            base, *others = (translated.steady(made, _run(mix, tlb, variant)) for tlb in TLBS)
            first = translated.steady(made, _run(mix, TLBS[0], ""))
            row = [base.misses / max(1, first.misses), base.average, base.overhead]
            for other in others:
                added = (
                    additive.improvement(base.overhead, base.penalty, other.penalty)
                    if base.penalty
                    else 0.0
                )
                row += [base.seconds / other.seconds - 1, added]
            found[name][mix.label] = row
    own = [mix.label for mix in mixes if not mix.extra]
    means = {
        name: [
            sum(column) / len(own) for column in zip(*(rows[label] for label in own), strict=True)
        ]
        for name, rows in found.items()
    }
    tables = [_table("Means of the chapter's workloads, by machine", means)]
    for mix in mixes:
        if mix.extra:
            title = f"{mix.label}, which outgrows every TLB here, with a buffer of 16 MiB"
            tables.append(_table(title, {name: rows[mix.label] for name, rows in found.items()}))
    per_mix = Table(
        "POM-TLB's improvement by simulated time (neighbours in a line), by machine",
        ("workload", *VARIANTS),
        tuple(
            (
                mix.label,
                *(
                    f"{common.percent(rows[mix.label][3])} ({common.percent(rows[mix.label][5])})"
                    for rows in found.values()
                ),
            )
            for mix in mixes
        ),
    )

    def draw(figure: "Figure") -> None:
        series = {
            "POM-TLB": [100 * row[3] for row in means.values()],
            "neighbours (ours)": [100 * row[5] for row in means.values()],
        }
        common.bars(figure, list(means), series, "improvement by simulated time, percent")

    notes = (
        "ours, not the thesis'; the additive model is given the simulated share of time, since"
        " Table 7.1 is of a machine of 2015; in coalescing, frames are as contiguous as the order"
        " of first touches makes them, each copy by itself: a kernel's are less so",
        *translated.notes(made),
    )
    return Result((*tables, per_mix), (), notes, {"machines": found}, draw, (9, 5))


def _table(title: str, rows: dict[str, list[float]]) -> Table:
    return Table(
        title,
        ("machine", *COLUMNS),
        tuple(
            (name, common.percent(row[0]), f"{row[1]:.0f}", *map(common.percent, row[2:]))
            for name, row in rows.items()
        ),
    )


ITEM = Item("today", "POM-TLB on today's translation hardware (ours)", runs, result, None, 7)
