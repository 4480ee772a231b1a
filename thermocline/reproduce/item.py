"""What one figure or table is to the command that makes it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from thermocline.reproduce.study import Run, Study, Update


@dataclass(frozen=True)
class Table:
    """Rows of text under titles; the first `left` columns stand left, numbers right."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left: int = 1


@dataclass(frozen=True)
class Claim:
    """What the paper states, what came out here, and whether that is the same."""

    section: str
    stated: str
    ours: str
    holds: bool

    @property
    def text(self) -> str:
        """For people."""
        verdict = "agrees" if self.holds else "DISAGREES"
        return f"{verdict}: {self.section}: {self.stated}; here: {self.ours}"


@dataclass(frozen=True)
class Result:
    """An item's numbers; `data` is what its JSON file holds, beside the claims."""

    tables: tuple[Table, ...]
    claims: tuple[Claim, ...]
    notes: tuple[str, ...]
    data: dict[str, Any]
    draw: Callable[["Figure"], None] | None = None
    size: tuple[float, float] = (10.0, 6.0)  # of the drawing, inches

    def frame(self, table: int = 0) -> "DataFrame":
        """One of the tables; a column of numbers has their unit in its name: `speed-up [%]`."""
        from thermocline.reproduce import frame

        return frame.of(self.tables[table])

    def claims_frame(self) -> "DataFrame":
        """A row for each statement of the paper: section, stated, ours, and whether it holds."""
        from thermocline import frames

        columns = dict.fromkeys(("section", "stated", "ours"), frames.TEXT)
        return frames.of(map(vars, self.claims), {**columns, "holds": frames.YES})


@dataclass(frozen=True)
class Item:
    """A figure or a table: which simulations it needs, and what it makes of their answers.

    What `measure` returns, if there is one, `result` finds in the study's `measurements`: it runs
    programs against the clock, after all else, so that nothing runs beside it.
    """

    name: str
    title: str
    runs: Callable[["Study"], Sequence["Run"]]
    result: Callable[["Study"], Result]
    measure: Callable[["Study", "Update"], Any] | None = None
    chapter: int | None = None  # of a paper that has some


@dataclass(frozen=True)
class Paper:
    """A paper and what of it can be reproduced."""

    name: str
    title: str
    items: tuple[Item, ...]
    contexts: tuple[int, ...]  # at which workloads are built
    study: Callable[[bool], "Study"] = field(repr=False)  # told whether it is to be in full
    left_out: tuple[tuple[str, str, str], ...] = ()  # name, title, why; for the index

    def item(self, name: str) -> Item | None:
        """By name."""
        return next((item for item in self.items if item.name == name), None)
