"""Figures 10 and 11: graphs that grow beyond DRAM, in four configurations."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.optane import common, fig9, graphs, paper
from thermocline.reproduce.optane.graphs import KERNELS, Graph
from thermocline.reproduce.optane.runs import OptaneRun, of_graph
from thermocline.reproduce.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STYLE = "graphdirect"
DIVISORS = graphs.DIVISORS
CONFIGURATIONS = fig9.CONFIGURATIONS
HELD = DIVISORS[:2]  # that DRAM holds


def _run(kernel: str, scheme: str, divisor: int) -> OptaneRun:
    return of_graph(Graph(STYLE, kernel), scheme, divisor)


def _wanted(scheme: str, divisor: int) -> bool:
    return scheme != "DRAM" or divisor in HELD


def runs(study: Study) -> Sequence[OptaneRun]:
    """All kernels of one style at all sizes."""
    return [
        each
        for divisor in DIVISORS
        for kernel in KERNELS
        for scheme in CONFIGURATIONS
        if _wanted(scheme, divisor)
        for each in fig9.both(_run(kernel, scheme, divisor))
    ]


def _times(study: Study) -> dict[str, dict[str, list[float | None]]]:
    """Milliseconds of the machine, by kernel, configuration and size."""
    return {
        kernel: {
            scheme: [
                1000 * fig9.seconds(study, _run(kernel, scheme, divisor))
                if _wanted(scheme, divisor)
                else None
                for divisor in DIVISORS
            ]
            for scheme in CONFIGURATIONS
        }
        for kernel in KERNELS
    }


def _gib(study: Study, kernel: str) -> list[str]:
    made = common.of(study)
    return [f"{fig9.gib(made, Graph(STYLE, kernel), divisor):.0f}" for divisor in DIVISORS]


def grown(study: Study) -> Result:
    """Figure 10."""
    found = _times(study)
    table = Table(
        f"Figure 10: time of {graphs.MOST / 1e6:g} million references of each kernel, ms",
        ("kernel", "GiB", *CONFIGURATIONS),
        tuple(
            (
                kernel,
                size,
                *("" if (v := found[kernel][s][at]) is None else f"{v:.2f}" for s in found[kernel]),
            )
            for kernel in KERNELS
            for at, size in enumerate(_gib(study, kernel))
        ),
    )
    base = {kernel: found[kernel]["DRAM"][0] or 1.0 for kernel in KERNELS}
    cached = {
        kernel: [(value or 0.0) / base[kernel] for value in found[kernel]["MemoryMode"]]
        for kernel in KERNELS
    }
    growing = [kernel for kernel, of in cached.items() if of[-1] > 1.1 * of[0]]
    steps = {kernel: of[-1] / of[-2] - of[1] / of[0] for kernel, of in cached.items()}
    claims = (
        Claim(
            "4.4",
            "in BFS, CC and PR the gap between Memory Mode and DRAM grows with the problem",
            ", ".join(f"{k} {of[0]:.2f} to {of[-1]:.2f}" for k, of in cached.items())
            + " times DRAM's time for as many references",
            {"bfs", "cc", "pr"} <= set(growing),
        ),
        Claim(
            "4.4",
            "and more than before once memory exceeds DRAM",
            "the last step grows more than the first in "
            + (", ".join(k for k, step in steps.items() if step > 0) or "none"),
            all(steps[kernel] > 0 for kernel in ("bfs", "cc", "pr")),
        ),
    )

    def draw(figure: "Figure") -> None:
        for axis, kernel in zip(figure.subplots(1, len(KERNELS)), KERNELS, strict=True):
            places = [float(size) for size in _gib(study, kernel)]
            common.lines(axis, places, found[kernel], ("GiB", f"ms, {kernel}"))

    text = fig9.notes(study, DIVISORS)
    data = {"divisors": DIVISORS, "ms": found}
    return Result((table,), claims, text, data, draw, (15, 4))


def gaps(study: Study) -> Result:
    """Figure 11."""
    found = _times(study)
    over = {
        (kernel, scheme): [
            (mine or 0.0) / (cached or 1.0)
            for mine, cached in zip(found[kernel][scheme], found[kernel]["MemoryMode"], strict=True)
        ]
        for scheme in ("PMM", "DRAM-PMM-interleave")
        for kernel in KERNELS
    }
    sizes = _gib(study, KERNELS[0])
    table = Table(
        "Figure 11: time over Memory Mode's",
        ("configuration", "kernel", *(f"{size} GiB" for size in sizes)),
        tuple(
            (scheme, kernel, *(f"{value:.2f}" for value in values))
            for (kernel, scheme), values in over.items()
        ),
        left=2,
    )
    pmm = {kernel: over[kernel, "PMM"] for kernel in KERNELS}
    last = [of[-1] for of in pmm.values()]
    claims = (
        Claim(
            "4.4",
            "the gap between Optane alone and Memory Mode shrinks as problems grow",
            ", ".join(f"{kernel} {of[0]:.1f} to {of[-1]:.1f}" for kernel, of in pmm.items()),
            all(of[-1] < of[0] for of in pmm.values()),
        ),
        Claim(
            "4.4",
            f"at the largest problem it is {paper.GAP_AT_LARGEST[0]} to {paper.GAP_AT_LARGEST[1]}"
            f" times, at small ones up to {paper.SLOWDOWN[1]}",
            f"{common.span(last)} times, up to {max(of[0] for of in pmm.values()):.1f}",
            min(last) > paper.GAP_AT_LARGEST[0] / 1.25
            and max(last) < 1.25 * paper.GAP_AT_LARGEST[1],
        ),
    )

    def draw(figure: "Figure") -> None:
        series = {
            f"{size} GiB": [pmm[kernel][at] for kernel in KERNELS] for at, size in enumerate(sizes)
        }
        common.bars(figure.subplots(), list(KERNELS), series, "PMM's time over MemoryMode's", {})

    text = fig9.notes(study, DIVISORS)
    data = {"divisors": DIVISORS, "over_memory_mode": {" ".join(k): v for k, v in over.items()}}
    return Result((table,), claims, text, data, draw, (8, 4.5))


ITEMS = (
    Item("fig10", "graphs that outgrow DRAM: time by size", runs, grown),
    Item("fig11", "graphs that outgrow DRAM: what Memory Mode is worth", runs, gaps),
)
