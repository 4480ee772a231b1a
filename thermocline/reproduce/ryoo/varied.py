"""What Figures 6.4 to 6.7 share: slowdowns while one number of the setting changes."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from thermocline.reproduce.item import Claim, Result, Table
from thermocline.reproduce.ryoo import common, migrated
from thermocline.reproduce.ryoo.migrated import MovedRun
from thermocline.reproduce.ryoo.mixes import Mix, MixStudy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The thesis names graph500 and xsbench of its four; the others are ours: one that streams, one MG.
FOUR = ("graph500", "xsbench", "lulesh", "mg")
# A column's title, and its run of a program.
Columns = Mapping[str, Callable[[Mix], MovedRun]]


def representative(mixes: Sequence[Mix]) -> list[Mix]:
    """Four programs."""
    return [mix for mix in mixes if mix.stands_for in FOUR]


def runs(mixes: Sequence[Mix], columns: Columns) -> list[MovedRun]:
    """All of them."""
    made = [migrated.all_near(mix) for mix in mixes]
    return made + [make(mix) for mix in mixes for make in columns.values()]


def found(study: MixStudy, mixes: Sequence[Mix], columns: Columns) -> dict[str, dict[str, float]]:
    """Slowdowns by program and column."""
    return {
        mix.label: {
            title: migrated.measured(study, mix, make(mix)).slowdown
            for title, make in columns.items()
        }
        for mix in mixes
    }


def result(
    study: MixStudy,
    title: str,
    times: Mapping[str, Mapping[str, float]],
    claims: Sequence[Claim],
) -> Result:
    """One table, one drawing."""
    columns = list(next(iter(times.values())))
    means = {name: migrated.mean([each[name] for each in times.values()]) for name in columns}
    rows = {**times, common.MEAN: means}
    table = Table(
        f"{title}: time over that with all data near",
        ("workload", *columns),
        tuple((label, *(f"{each[name]:.2f}" for name in columns)) for label, each in rows.items()),
    )

    def draw(figure: "Figure") -> None:
        series = {name: [each[name] for each in rows.values()] for name in columns}
        common.bars(figure, list(rows), series, "time over all data near")
        figure.axes[0].set_yscale("log")

    data = {"slowdown": dict(times)}
    return Result((table,), tuple(claims), migrated.notes(study), data, draw, (11, 5))
