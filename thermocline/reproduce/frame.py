"""A reproduced item's table, which is text for people, as a data frame with numbers."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from thermocline import frames

if TYPE_CHECKING:
    from pandas import DataFrame

    from thermocline.reproduce.item import Table

_NUMBER = re.compile(r"([+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?) ?([^\d\s].*)?", re.ASCII)
_NOTHING = ("", "-")


def of(table: "Table") -> "DataFrame":
    """Columns in the table's order."""
    cells: dict[str, list[object]] = {}
    kinds = {}
    for number, title in enumerate(table.columns):
        texts = [row[number] for row in table.rows]
        unit = _unit(texts)
        name = f"{title} [{unit}]" if unit else title
        kinds[name] = frames.TEXT if unit is None else frames.NUMBER
        cells[name] = [*texts] if unit is None else [_number(text) for text in texts]
    rows = [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]
    return frames.of(rows, kinds)


def _unit(texts: Sequence[str]) -> str | None:
    """What all numbers have behind them, maybe nothing; None where it is no column of numbers."""
    known = [_NUMBER.fullmatch(text) for text in texts if text not in _NOTHING]
    units = {match[2] or "" if match else None for match in known}
    return units.pop() if len(units) == 1 else None


def _number(text: str) -> float | None:
    match = _NUMBER.fullmatch(text)
    return float(match[1]) if match else None
