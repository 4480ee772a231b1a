"""Figure 5: Memory Mode's two options against the size of the data."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.optane import accumulate, common, paper
from thermocline.reproduce.optane.runs import OptaneRun
from thermocline.reproduce.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINES = {
    "bandwidth, frames strewn": ("bandwidth", False),
    "bandwidth, frames in order": ("bandwidth", True),
    "latency, frames strewn": ("latency", False),
    "latency, frames in order": ("latency", True),
}
COLOURS = dict(zip(LINES, ("#009e73", "#66c2a5", "#d55e00", "#e69f00"), strict=True))
SIZES = tuple(size for size in accumulate.SIZES if size <= paper.LARGEST["memory-mode"])
CACHE = 192


def runs(study: Study) -> Sequence[OptaneRun]:
    """Each size, option and order of frames."""
    made = [accumulate.memory_mode(size, *line) for size in SIZES for line in LINES.values()]
    return [each for run in made for each in common.needs(run)]


def rates(study: Study) -> dict[str, list[float]]:
    """GB/s by line, in the order of the sizes."""
    return {
        name: [common.measured(study, accumulate.memory_mode(size, *line)).rate for size in SIZES]
        for name, line in LINES.items()
    }


def result(study: Study) -> Result:
    """The lines, and what the text says of them."""
    found = rates(study)
    table = Table(
        "Figure 5: reading an array in Memory Mode, GB/s of both sockets",
        ("GiB", *LINES),
        tuple(
            (f"{size}", *(f"{found[name][at]:.1f}" for name in LINES))
            for at, size in enumerate(SIZES)
        ),
    )
    wide, narrow = found["bandwidth, frames strewn"], found["latency, frames strewn"]
    far = [at for at, size in enumerate(SIZES) if size > CACHE]
    apart = [narrow[at] / wide[at] for at in far]
    before = [n / w for n, w in zip(narrow, wide, strict=True)][: far[0]]
    claims = (
        Claim(
            "4.2",
            "the two options differ once data exceed DRAM (192 GB)",
            f"latency reaches {common.span(apart, '{:.2f}')} of bandwidth's rate there,"
            f" {common.span(before, '{:.2f}')} up to it",
            max(apart) < 0.9,
        ),
        Claim(
            "4.2",
            f"bandwidth saturates at {paper.BANDWIDTH_OPTION} GB/s",
            f"{wide[-1]:.1f} GB/s at {SIZES[-1]} GiB",
            abs(wide[-1] / paper.BANDWIDTH_OPTION - 1) < 0.2,
        ),
        Claim(
            "4.2",
            f"latency sustains only {paper.LATENCY_OPTION} GB/s",
            f"{narrow[-1]:.1f} GB/s at {SIZES[-1]} GiB",
            narrow[-1] < 2 * paper.LATENCY_OPTION,
        ),
    )

    def draw(figure: "Figure") -> None:
        common.lines(figure.subplots(), SIZES, found, ("GiB", "GB/s"), COLOURS)

    more = (
        "Intel does not say what the options do: bandwidth reads Optane once the tag is known to"
        " miss, latency together with the tag (docs/simulator.md)",
    )
    data = {"gib": SIZES, "rate": found}
    return Result((table,), claims, common.notes(study) + more, data, draw, (8, 4.5))


ITEM = Item("fig5", "Memory Mode for bandwidth and for latency, by size", runs, result)
