"""Figure 1.1: what a cache in near memory misses, and the bytes it fetches, by size of block.

Tags alone are simulated for the larger blocks (simulator/organisation/block_sizes.h): the figure is
about misses and bytes, not time.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.ryoo import common
from thermocline.reproduce.ryoo.mixes import Mix, MixRun
from thermocline.reproduce.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _run(mix: Mix) -> MixRun:
    return common.run(mix, "cache:blocks=on")


def runs(study: Study) -> Sequence[MixRun]:
    """One a mix counts all sizes."""
    _, mixes = common.chapter5(study)
    return [each for mix in mixes for each in (common.baseline(mix), _run(mix))]


def result(study: Study) -> Result:
    """Hit rates, and bytes fetched relative to lines of 64."""
    made, mixes = common.chapter5(study)
    hits: dict[str, list[float]] = {}
    fetched: dict[str, list[float]] = {}
    sizes: list[int] = []
    for mix in mixes:
        blocks = made.answer(_run(mix))["organisation"]["blocks"]
        sizes = [int(each["bytes"]) for each in blocks]
        hits[mix.name] = [1 - each["misses"] / each["demands"] for each in blocks]
        lines = blocks[0]["misses"] * blocks[0]["bytes"]
        fetched[mix.name] = [each["misses"] * each["bytes"] / lines for each in blocks]
    bandwidth = [common.mean(column) for column in zip(*fetched.values(), strict=True)]
    rate = [sum(column) / len(mixes) for column in zip(*hits.values(), strict=True)]
    titles = ("workload", *(f"{size} B" for size in sizes))
    tables = (
        Table(
            "Figure 1.1: hit rate of a direct-mapped cache of 20 % of the footprint, by its block",
            titles,
            (
                *((mix.label, *map(common.percent, hits[mix.name])) for mix in mixes),
                ("mean", *map(common.percent, rate)),
            ),
        ),
        Table(
            "Figure 1.1: bytes fetched, relative to blocks of 64 B",
            titles,
            (
                *((mix.label, *(f"{each:.2f}" for each in fetched[mix.name])) for mix in mixes),
                (common.MEAN, *(f"{each:.2f}" for each in bandwidth)),
            ),
        ),
    )
    growth = bandwidth[-1] ** (1 / (len(sizes) - 1))
    claims = (
        Claim(
            "1.1",
            "misses get fewer as the block grows",
            f"hit rate {common.percent(rate[0])} at {sizes[0]} B,"
            f" {common.percent(max(rate))} at best ({sizes[rate.index(max(rate))]} B),"
            f" {common.percent(rate[-1])} at {sizes[-1]} B",
            rate[-1] > rate[0],
        ),
        Claim(
            "1.1",
            "bandwidth doubles with each step of the block's size (a miss brings twice as much)",
            f"it grows {growth:.2f} times a step: fewer misses take part of the doubling back",
            growth > 1.75,
        ),
    )

    def draw(figure: "Figure") -> None:
        axis = figure.subplots()
        places = [str(size) for size in sizes]
        axis.plot(places, [100 * each for each in rate], marker="o", label="hit rate")
        axis.set_xlabel("block, bytes")
        axis.set_ylabel("hit rate, percent")
        other = axis.twinx()
        other.plot(places, bandwidth, marker="s", color="#d55e00", label="bytes fetched")
        other.set_ylabel("bytes fetched / with blocks of 64 B")
        figure.legend(loc="upper center", ncols=2)

    data = {"bytes": sizes, "hit_rate": hits, "fetched": fetched}
    return Result(tables, claims, common.notes(made, mixes), data, draw, (7, 4.5))


ITEM = Item(
    "fig1.1", "hit rate and bandwidth of a cache by its block's size", runs, result, None, 5
)
