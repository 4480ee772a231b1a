"""Figure 12: one socket's cores and memory against both, in Memory Mode."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.optane import common, fig9, graphs, paper, small
from thermocline.reproduce.optane.graphs import KERNELS, STYLES, Graph
from thermocline.reproduce.optane.runs import OptaneRun, of_graph
from thermocline.reproduce.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DIVISORS = (graphs.DIVISORS[0], graphs.DIVISORS[2])
BOTH, ONE = "MemoryMode", "MemoryMode-local"


def _pair(style: str, kernel: str, divisor: int) -> tuple[OptaneRun, OptaneRun]:
    """On one socket, and on both; as many references."""
    return (
        of_graph(Graph(style, kernel, small.THREADS), ONE, divisor),
        of_graph(Graph(style, kernel), BOTH, divisor),
    )


def runs(study: Study) -> Sequence[OptaneRun]:
    """Both styles and all kernels, at two sizes."""
    return [
        each
        for divisor in DIVISORS
        for style in STYLES
        for kernel in KERNELS
        for run in _pair(style, kernel, divisor)
        for each in fig9.both(run)
    ]


def result(study: Study) -> Result:
    """One socket's time over that of two, and what section 4.4 says."""
    made = common.of(study)
    found: dict[tuple[str, str], list[float]] = {}
    for style in STYLES:
        for kernel in KERNELS:
            pairs = [_pair(style, kernel, divisor) for divisor in DIVISORS]
            found[style, kernel] = [
                fig9.seconds(study, one) / fig9.seconds(study, two) for one, two in pairs
            ]
    sizes = [fig9.gib(made, Graph(*next(iter(found))), divisor) for divisor in DIVISORS]
    table = Table(
        "Figure 12: one socket's time over both sockets' (below 1: one socket is faster)",
        ("style", "kernel", *(f"{size:.0f} GiB" for size in sizes)),
        tuple(
            (STYLES[style], kernel, *(f"{value:.2f}" for value in values))
            for (style, kernel), values in found.items()
        ),
        left=2,
    )
    small_ones = [of[0] for of in found.values()]
    slower = [f"{STYLES[s]} {k}" for (s, k), of in found.items() if min(of) < 1]
    means = {
        kernel: common.mean([found[style, kernel][0] for style in STYLES]) for kernel in KERNELS
    }
    most = max(KERNELS, key=lambda kernel: means[kernel])
    limit = 1 + paper.SINGLE_SOCKET_LOSS
    claims = (
        Claim(
            "4.4",
            f"two sockets gain less than {common.percent(paper.SINGLE_SOCKET_LOSS)} on small"
            " problems",
            f"{common.span(small_ones, '{:.2f}')} times as fast",
            max(small_ones) < 1.1 * limit,
        ),
        Claim(
            "4.4",
            "two sockets are slower in some, such as BFS and CC in GAP",
            ", ".join(slower) or "in none",
            bool(slower),
        ),
        Claim(
            "4.4",
            "kernels that compute much, like TC, gain most from both sockets",
            f"most: {most}; " + ", ".join(f"{k} {v:.2f}" for k, v in means.items()),
            most == "tc",
        ),
    )

    def draw(figure: "Figure") -> None:
        for axis, style in zip(figure.subplots(1, 2, sharey=True), STYLES, strict=True):
            series = {
                f"{size:.0f} GiB": [found[style, kernel][at] for kernel in KERNELS]
                for at, size in enumerate(sizes)
            }
            common.bars(axis, list(KERNELS), series, f"one socket / two, {STYLES[style]}", {})
            axis.axhline(1, color="red", linestyle=":")

    data = {"one_over_two": {" ".join(k): v for k, v in found.items()}, "divisors": DIVISORS}
    return Result((table,), claims, fig9.notes(study, DIVISORS), data, draw, (10, 4.5))


ITEM = Item("fig12", "one socket against two, in Memory Mode", runs, result)
