"""POM-TLB from 1 to 64 MB, ours: the thesis has 16 MB alone."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from thermocline import units
from thermocline.reproduce.item import Item, Result, Table
from thermocline.reproduce.ryoo import common, translated
from thermocline.reproduce.ryoo.mixes import MixRun
from thermocline.reproduce.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MB = (1, 2, 4, 8, 16, 32, 64)


def _tlb(mb: int) -> str:
    return f"pom:bytes={mb * 2**20 // translated.POM_DIVISOR}"


def runs(study: Study) -> Sequence[MixRun]:
    """POM-TLB at each size, and the walker."""
    _, mixes = translated.chapter7(study)
    tlbs = (translated.BASELINE, *map(_tlb, MB))
    return translated.both([translated.run(mix, tlb) for mix in mixes for tlb in tlbs])


def result(study: Study) -> Result:
    """Gain by simulated time, and misses that need no walk."""
    made, mixes = translated.chapter7(study)
    gain, gone = {}, {}
    for mix in mixes:
        base = translated.steady(made, translated.run(mix, translated.BASELINE))
        each = [translated.steady(made, translated.run(mix, _tlb(mb))) for mb in MB]
        gain[mix.label] = [base.seconds / one.seconds - 1 for one in each]
        gone[mix.label] = [1 - one.walks / max(1, one.misses) for one in each]
    titles = tuple(units.format_bytes(mb * 2**20 // translated.POM_DIVISOR) for mb in MB)
    tables = tuple(
        Table(
            f"{what}, by the size of POM-TLB (16 MB of the thesis are"
            f" {units.format_bytes(translated.BYTES)})",
            ("workload", *titles),
            tuple((label, *map(common.percent, row)) for label, row in with_mean(values).items()),
        )
        for what, values in (
            ("Improvement over the walker by simulated time", gain),
            ("Misses of the second-level TLB without a walk", gone),
        )
    )

    def draw(figure: "Figure") -> None:
        axis = figure.subplots()
        for label, row in gone.items():
            axis.plot(MB, [100 * value for value in row], marker="o", label=label)
        axis.set_xscale("log", base=2)
        axis.set_xlabel(f"POM-TLB, MB (simulated: 1/{translated.POM_DIVISOR})")
        axis.set_ylabel("misses without a walk, percent")
        axis.legend(fontsize=8)

    data = {"mb": MB, "improvement": gain, "without_walk": gone}
    return Result(
        tables, (), ("ours, not the thesis'", *translated.notes(made)), data, draw, (8, 5)
    )


def with_mean(values: dict[str, list[float]]) -> dict[str, list[float]]:
    """And the arithmetic mean of all rows."""
    means = [sum(column) / len(values) for column in zip(*values.values(), strict=True)]
    return {**values, "mean": means}


ITEM = Item("sizes", "POM-TLB from 1 to 64 MB (ours)", runs, result, None, 7)
