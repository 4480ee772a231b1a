"""Figure 16: power of a socket's memory by traffic distribution and arithmetic intensity."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.optane import common, paper, split
from thermocline.reproduce.optane.runs import OptaneRun
from thermocline.reproduce.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SAME = 0.1
ALIKE = 0.01


def runs(study: Study) -> Sequence[OptaneRun]:
    """Every intensity and distribution."""
    return split.runs()


def result(study: Study) -> Result:
    """Watts, and what section 5.3 says of them."""
    found = [
        [split.of(study, share, i)[1].memory / common.SOCKETS for share in split.OPTANE]
        for i in split.INTENSITIES
    ]
    table = Table(
        "Figure 16: memory of one socket, W, static 38 W included (modelled)",
        ("flops / byte", *map(split.name, split.OPTANE)),
        tuple(
            (f"{i:g}", *(f"{watts:.0f}" for watts in row))
            for i, row in zip(split.INTENSITIES, found, strict=True)
        ),
    )
    first, dram = found[0], [row[0] for row in found]
    rising = all(row == sorted(row, reverse=True) for row in found[: split.INTENSITIES.index(2)])
    falling = all(
        later < (1 + ALIKE) * sooner
        for column in zip(*found, strict=True)
        for sooner, later in pairwise(column)
    )
    claims = (
        Claim(
            "5.3",
            f"at 2^-3 flops a byte {paper.ALL_DRAM_WATTS} W with all traffic in DRAM and"
            f" {paper.ALL_OPTANE_WATTS} W in Optane: {paper.LESS_POWER} times less",
            f"{first[0]:.0f} and {first[-1]:.0f} W: {first[0] / first[-1]:.2f} times",
            abs(first[0] / first[-1] / paper.LESS_POWER - 1) < SAME,
        ),
        Claim(
            "5.3",
            "below 2 flops a byte power grows with DRAM's share",
            "so it does in each row" if rising else "not in each row",
            rising,
        ),
        Claim(
            "5.3",
            "power falls steadily as intensity grows",
            f"{dram[0]:.0f} to {dram[-1]:.0f} W in DRAM"
            + ("" if falling else ", not in each column at each step"),
            falling,
        ),
    )

    def draw(figure: "Figure") -> None:
        axis = figure.subplots()
        image = axis.imshow(found, aspect="auto", cmap="inferno", origin="lower")
        axis.set_xticks(range(len(split.OPTANE)), [f"{100 * s:.0f} %" for s in split.OPTANE])
        axis.set_yticks(range(len(split.INTENSITIES)), [f"{i:g}" for i in split.INTENSITIES])
        axis.set_xlabel("traffic to Optane")
        axis.set_ylabel("flops / byte")
        figure.colorbar(image, ax=axis, label="W")

    data = {"optane": split.OPTANE, "flops_per_byte": split.INTENSITIES, "watts": found}
    return Result((table,), claims, (*common.notes(study), split.NOTE), data, draw, (7, 4.5))


ITEM = Item("fig16", "power of memory by distribution and intensity (modelled)", runs, result)
