"""Figure 7.4: where POM-TLB's entries are found; and how many walks it spares, by its size."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from thermocline import units
from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.ryoo import common, paper, translated
from thermocline.reproduce.ryoo.mixes import MixRun
from thermocline.reproduce.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Of the buffer; the middle one is every other item's.
SIZES = (translated.BYTES // 4, translated.BYTES, 4 * translated.BYTES)


def _tlb(size: int) -> str:
    return f"pom:bytes={size}"


def runs(study: Study) -> Sequence[MixRun]:
    """POM-TLB at three sizes."""
    _, mixes = translated.chapter7(study)
    tlbs = (*map(_tlb, SIZES), translated.NEIGHBOURS)
    return translated.both([translated.run(mix, tlb) for mix in mixes for tlb in tlbs])


def result(study: Study) -> Result:
    """Hit ratios of the levels that a lookup passes, and walks that are gone."""
    made, mixes = translated.chapter7(study)
    at = {
        (mix.name, size): translated.steady(made, translated.run(mix, _tlb(size)))
        for mix in mixes
        for size in SIZES
    }
    hits: dict[str, tuple[float, float, float]] = {}
    gone = {
        mix.name: [
            1 - at[mix.name, size].walks / max(1, at[mix.name, size].misses) for size in SIZES
        ]
        for mix in mixes
    }
    for mix in mixes:
        near = translated.steady(made, translated.run(mix, translated.NEIGHBOURS))
        second, third = _hits(at[mix.name, translated.BYTES])
        hits[mix.name] = (second, third, _hits(near)[0])
    mean = [sum(column) / len(mixes) for column in zip(*hits.values(), strict=True)]
    spared = [sum(column) / len(mixes) for column in zip(*gone.values(), strict=True)]
    table = Table(
        f"Figure 7.4: POM-TLB of {units.format_bytes(translated.BYTES)}: lookups that a data cache"
        " answers, of those that reach it; and L2 TLB misses without a walk, by size",
        (
            "workload",
            "L2 cache",
            "L3 cache",
            "L2 cache, neighbours (ours)",
            *(units.format_bytes(size) for size in SIZES),
        ),
        (
            *(
                (mix.label, *map(common.percent, (*hits[mix.name], *gone[mix.name])))
                for mix in mixes
            ),
            ("mean", *map(common.percent, (*mean, *spared))),
        ),
    )
    claims = (
        Claim(
            "7.2.6",
            f"the L2 data cache answers {common.percent(paper.L2_HITS)}",
            f"{common.percent(mean[0])}; {common.percent(mean[2])} if neighbouring pages shared a"
            " line (ours)",
            abs(mean[0] - paper.L2_HITS) < 0.05,
        ),
        Claim(
            "7.3",
            f"{common.percent(paper.WALKS_GONE)} of walks are gone at 16 MB",
            f"{common.percent(spared[1])} at 1/{translated.POM_DIVISOR} of it,"
            f" {common.percent(spared[0])} at a quarter of that, {common.percent(spared[2])} at"
            " four times",
            spared[1] > paper.WALKS_GONE - 0.01,
        ),
    )

    def draw(figure: "Figure") -> None:
        labels = [mix.label for mix in mixes]
        series = {
            "L2 cache": [each[0] for each in hits.values()],
            "L3 cache": [each[1] for each in hits.values()],
            "L2 cache, neighbours (ours)": [each[2] for each in hits.values()],
            "misses without a walk": [each[1] for each in gone.values()],
        }
        common.bars(figure, labels, series, "share")

    notes = (
        f"the thesis' {common.percent(paper.POM_HITS)} for the buffer itself is of lookups that no"
        " cache had; here a cached line without the entry is a miss as well, so that walks stand"
        " in its place",
        *translated.notes(made),
    )
    data = {"hits": hits, "without_walk": gone, "sizes": SIZES}
    return Result((table,), claims, notes, data, draw, (10, 5))


def _hits(steady: translated.Steady) -> tuple[float, float]:
    """Of the second level's lookups, and of those that go on to the third."""
    found = [int(each) for each in steady.last["found_at"]]
    second, third, memory = found[1:]
    return second / max(1, sum(found)), third / max(1, third + memory)


ITEM = Item("fig7.4", "where POM-TLB's entries are found, and walks spared", runs, result, None, 7)
