"""Figure 9: five kernels in two styles, of graphs that DRAM holds, in four configurations."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.optane import common, graphs, paper, small
from thermocline.reproduce.optane.graphs import KERNELS, STYLES, Graph
from thermocline.reproduce.optane.runs import OptaneRun, OptaneStudy, earlier, of_graph
from thermocline.reproduce.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CONFIGURATIONS = ("DRAM", "MemoryMode", "PMM", "DRAM-PMM-interleave")
DIVISORS = graphs.DIVISORS[:2]
Times = Mapping[tuple[str, str, int], Mapping[str, float]]


def both(run: OptaneRun) -> tuple[OptaneRun, OptaneRun]:
    """With the kernel, and the sweep before it alone."""
    return run, earlier(run, 0)


def seconds(study: Study, run: OptaneRun) -> float:
    """Of the kernel's references."""
    whole, sweep = (float(common.of(study).answer(each)["seconds"]) for each in both(run))
    return whole - sweep


def gib(study: OptaneStudy, graph: Graph, divisor: int) -> float:
    """What the program's memory stands for."""
    return study.traces[graph].touched * divisor / common.GIB


def notes(study: Study, divisors: Sequence[int]) -> tuple[str, ...]:
    """What the graphs' numbers were made at."""
    machine = common.of(study).whole_machine
    return (
        *(small.described(machine, divisor) for divisor in (divisors[0], divisors[-1])),
        *common.notes(study)[1:],
        f"Kronecker graphs of 2^{graphs.SCALE} vertices; the graph stays and the machine shrinks,"
        f" so that a divisor stands for a problem's size; {graphs.MOST / 1e6:g} million references"
        " of each kernel, after a sweep over all its memory; without a prefetcher, whose lines"
        " caches this small could not hold",
    )


def runs(study: Study) -> Sequence[OptaneRun]:
    """Both styles, all kernels and configurations, at two sizes."""
    return [
        each
        for divisor in DIVISORS
        for style in STYLES
        for kernel in KERNELS
        for scheme in CONFIGURATIONS
        for each in both(of_graph(Graph(style, kernel), scheme, divisor))
    ]


def times(study: Study) -> Times:
    """Over DRAM's time, by style, kernel and divisor."""
    found = {}
    for divisor in DIVISORS:
        for style in STYLES:
            for kernel in KERNELS:
                all_of = {
                    scheme: seconds(study, of_graph(Graph(style, kernel), scheme, divisor))
                    for scheme in CONFIGURATIONS
                }
                base = all_of["DRAM"]
                found[style, kernel, divisor] = {s: t / base for s, t in all_of.items()}
    return found


def result(study: Study) -> Result:
    """Normalised times, and what section 4.4 says."""
    made = common.of(study)
    found = times(study)
    table = Table(
        "Figure 9: time over that in DRAM",
        ("style", "kernel", "GiB", *CONFIGURATIONS[1:]),
        tuple(
            (
                STYLES[style],
                kernel,
                f"{gib(made, Graph(style, kernel), divisor):.0f}",
                *(f"{of[scheme]:.2f}" for scheme in CONFIGURATIONS[1:]),
            )
            for (style, kernel, divisor), of in found.items()
        ),
        left=2,
    )

    def draw(figure: "Figure") -> None:
        axes = figure.subplots(1, len(STYLES), sharey=True)
        for axis, style in zip(axes, STYLES, strict=True):
            series = {
                scheme: [found[style, kernel, DIVISORS[0]][scheme] for kernel in KERNELS]
                for scheme in CONFIGURATIONS[1:]
            }
            common.bars(axis, list(KERNELS), series, f"time over DRAM's, {STYLES[style]}")
            axis.axhline(1, color="red", linestyle=":")

    data = {"over_dram": {f"{s} {k} {d}": of for (s, k, d), of in found.items()}}
    text = notes(study, DIVISORS)
    return Result((table,), claims(found), text, data, draw, (10, 4.5))


def claims(found: Times) -> tuple[Claim, ...]:
    """Of section 4.4."""
    pmm = [of["PMM"] for of in found.values()]
    cached = [of["MemoryMode"] for of in found.values()]
    gain = common.mean([of["PMM"] / of["DRAM-PMM-interleave"] for of in found.values()])
    cached_gain = common.mean([of["PMM"] / of["MemoryMode"] for of in found.values()])
    least = {
        style: min(KERNELS, key=lambda k: max(found[style, k, d]["PMM"] for d in DIVISORS))
        for style in STYLES
    }
    most = {
        style: max(KERNELS, key=lambda k: max(found[style, k, d]["PMM"] for d in DIVISORS))
        for style in STYLES
    }

    def of(kernel: str) -> str:
        parts = (
            f"{STYLES[style]} {max(found[style, kernel, d]['PMM'] for d in DIVISORS):.1f}"
            for style in STYLES
        )
        return ", ".join(parts)

    return (
        Claim(
            "4.4",
            f"Optane alone is {paper.SLOWDOWN[0]} to {paper.SLOWDOWN[1]} times slower",
            f"{common.span(pmm)} times",
            min(pmm) > paper.SLOWDOWN[0] / 1.25 and max(pmm) > paper.SLOWDOWN[1] / 1.5,
        ),
        Claim(
            "4.4",
            "triangles suffer least (up to 5 times in Ligra, 2.5 in GAP)",
            f"{of('tc')} times; least: {', '.join(f'{STYLES[s]} {k}' for s, k in least.items())}",
            set(least.values()) == {"tc"},
        ),
        Claim(
            "4.4",
            "breadth-first search suffers most (15 times in Ligra, 18 in GAP)",
            f"{of('bfs')} times; most: {', '.join(f'{STYLES[s]} {k}' for s, k in most.items())}",
            set(most.values()) == {"bfs"},
        ),
        Claim(
            "4.4",
            "Memory Mode is about as fast as DRAM",
            f"{common.span(cached, '{:.2f}')} times DRAM's time",
            max(cached) < 1.25,
        ),
        Claim(
            "4.4",
            "interleaving is about twice as fast as Optane alone, less than Memory Mode is",
            f"{gain:.1f} times, Memory Mode {cached_gain:.1f} times (geometric means)",
            1.5 < gain < cached_gain,
        ),
    )


ITEM = Item("fig9", "graphs that DRAM holds, in four configurations", runs, result)
