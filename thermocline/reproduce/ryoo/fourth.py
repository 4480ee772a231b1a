"""The same die-stacked memory as POM-TLB or as a fourth data cache, which section 7.1.2 asks."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from thermocline import units
from thermocline.reproduce.item import Item, Result, Table
from thermocline.reproduce.ryoo import common, translated
from thermocline.reproduce.ryoo.mixes import Mix, MixRun
from thermocline.reproduce.ryoo.sizes import with_mean
from thermocline.reproduce.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The thesis' 16 MB, these cores' part, for a cache: less would not be more than the third level.
CACHE_BYTES = translated.WHOLE_BYTES // 2
# One channel of HBM is slower than the DDR4 behind it; a stack has eight.
CHANNELS = 8.0
CACHES = {"L4, tags in memory": "memory-mode", "L4, Alloy": "alloy"}
TLBS = {"POM-TLB": translated.POM, "POM-TLB, neighbours (ours)": translated.NEIGHBOURS}


def _cache(mix: Mix, scheme: str) -> MixRun:
    run = translated.run(mix, translated.BASELINE)
    share = units.exact_bytes(CACHE_BYTES)
    return replace(run, scheme=scheme, share=share, near_bandwidth=CHANNELS)


def runs(study: Study) -> Sequence[MixRun]:
    """The walker alone, with either cache, and POM-TLB."""
    _, mixes = translated.chapter7(study)
    tlbs = (translated.BASELINE, *TLBS.values())
    made = [translated.run(mix, tlb) for mix in mixes for tlb in tlbs]
    made += [_cache(mix, scheme) for mix in mixes for scheme in CACHES.values()]
    return translated.both(made)


def result(study: Study) -> Result:
    """Improvement over the walker without either."""
    made, mixes = translated.chapter7(study)
    gain: dict[str, list[float]] = {}
    for mix in mixes:
        base = translated.steady(made, translated.run(mix, translated.BASELINE))
        others = [translated.run(mix, tlb) for tlb in TLBS.values()]
        others += [_cache(mix, scheme) for scheme in CACHES.values()]
        gain[mix.label] = [
            base.seconds / translated.steady(made, other).seconds - 1 for other in others
        ]
    columns = (*TLBS, *CACHES)
    table = Table(
        f"POM-TLB of {units.format_bytes(translated.BYTES)}, or a cache of"
        f" {units.format_bytes(CACHE_BYTES)}: improvement by simulated time over neither",
        ("workload", *columns),
        tuple((label, *map(common.percent, row)) for label, row in with_mean(gain).items()),
    )

    def draw(figure: "Figure") -> None:
        series = {
            name: [100 * row[number] for row in gain.values()]
            for number, name in enumerate(columns)
        }
        common.bars(figure, list(gain), series, "improvement by simulated time, percent")

    notes = (
        "ours: the thesis asks and does not answer; the caches are this project's organisations"
        " with their tags (docs/organisations.md), looked up behind the last level, and have the"
        f" thesis' 16 MB for 8 cores and {CHANNELS:.0f} channels; a larger POM-TLB gains nothing"
        " (sizes)",
        *translated.notes(made),
    )
    return Result((table,), (), notes, {"improvement": gain}, draw, (9, 4.5))


ITEM = Item("l4", "near memory as POM-TLB or as L4 data cache (ours)", runs, result, None, 7)
