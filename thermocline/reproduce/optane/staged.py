"""Ours: what it is worth to sort edges in DRAM before they go to Optane (section 4.4's advice).

Ligra sorts edges where they lie; the paper proposes to do that in DRAM, a batch at a time, without
measuring it.  Both ways are in workloads/graphs/build.h.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.optane import common, fig9, small
from thermocline.reproduce.optane.graphs import Graph
from thermocline.reproduce.optane.runs import GUIDED, OptaneRun, of_graph
from thermocline.reproduce.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCALE, MOST = 13, 16_000_000
STAGED = "staged in DRAM, the rest in Optane"
ROWS = {
    "in place, DRAM": ("plain", "DRAM"),
    "in place, Memory Mode": ("plain", "MemoryMode"),
    "in place, Optane": ("plain", "PMM"),
    "staged, all in Optane": ("staged", "PMM"),
    STAGED: ("staged", GUIDED),
}


def _run(row: str) -> OptaneRun:
    advice, scheme = ROWS[row]
    graph = Graph("graphdirect", "bfs", 2 * small.THREADS, SCALE, advice, "makeRows", MOST)
    near = "fillStaged" if scheme == GUIDED else ""
    return of_graph(graph, scheme, small.DIVISOR, near)


def runs(study: Study) -> Sequence[OptaneRun]:
    """Both ways, in all memories."""
    return [each for row in ROWS for each in fig9.both(_run(row))]


def result(study: Study) -> Result:
    """Times, and bytes that Optane's modules are given."""
    made = common.of(study)
    times = {row: fig9.seconds(study, _run(row)) * 1000 for row in ROWS}
    written = {}
    for row in ROWS:
        whole, sweep = (made.answer(each)["tiers"][1] for each in fig9.both(_run(row)))
        written[row] = whole["write_bytes"] - sweep["write_bytes"]
    table = Table(
        "Scattering and sorting a graph's edges into rows (not in the paper)",
        ("", "ms", "over DRAM", "Optane's writes, of those in place"),
        tuple(
            (
                row,
                f"{ms:.2f}",
                f"{ms / times['in place, DRAM']:.2f}",
                common.percent(written[row] / written["in place, Optane"]),
            )
            for row, ms in times.items()
        ),
    )
    gain = times["in place, Optane"] / times[STAGED]
    claims = (
        Claim(
            "4.4",
            "sorting edges in DRAM before they go to Optane is a possible optimisation (advice)",
            f"{gain:.2f} times as fast as sorting them in Optane",
            gain > 1,
        ),
    )

    def draw(figure: "Figure") -> None:
        common.bars(figure.subplots(), list(ROWS), {"time": list(times.values())}, "ms", {})

    whole = all(made.traces[graph].facts.get("complete") for graph in _graphs())
    notes = (
        small.described(made.whole_machine, small.DIVISOR),
        f"graphdirect's makeRows() on 2^{SCALE} vertices, "
        + ("all of it" if whole else f"{MOST / 1e6:g} million references of it")
        + "; staged, a batch has four ends of edges for each vertex, and all edges are read once a"
        " batch; copying the sorted rows to where they stay is not in it",
    )
    return Result((table,), claims, notes, {"ms": times, "optane_bytes": written}, draw, (8, 4))


def _graphs() -> set[Graph]:
    return {graph for row in ROWS if (graph := _run(row).graph)}


ITEM = Item("staged", "ours: edges sorted in DRAM before they go to Optane", runs, result)
