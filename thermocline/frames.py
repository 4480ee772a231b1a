"""Data frames: rows under columns of stated types, the same ones where there are no rows."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame

# pandas' names.  A count that may be unknown is MAYBE, which has a missing value.
COUNT, MAYBE, LARGE, NUMBER, TEXT, YES = "int64", "Int64", "UInt64", "float64", "string", "bool"


def of(rows: Iterable[Mapping[str, object]], columns: Mapping[str, str]) -> "DataFrame":
    """What of the rows has a column; a row that lacks one has a missing value there.

    pandas takes longer to import than all of a command's --help, so it comes here only.
    """
    import pandas

    known = list(rows)
    table = {
        name: pandas.Series([row.get(name) for row in known], dtype=object) for name in columns
    }
    return pandas.DataFrame(table).astype(dict(columns))
