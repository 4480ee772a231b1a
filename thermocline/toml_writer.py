"""A TOML writer for our own files: one table a line where a table is one thing (a site, a tier).

Written here because a plan must stay readable and diffable: one line a site.
"""

from collections.abc import Iterable, Mapping

Value = str | int | float | bool | list[str] | list[int] | list[float]

_ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\f": "\\f",
    "\r": "\\r",
}


def string(text: str) -> str:
    """A basic string; control characters escaped."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    out = [
        _ESCAPES.get(c) or (f"\\u{ord(c):04x}" if ord(c) < 0x20 or ord(c) == 0x7F else c)
        for c in text
    ]
    return '"' + "".join(out) + '"'


def value(item: Value) -> str:
    """Any value we write."""
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, int):
        return str(item)
    if isinstance(item, float):
        text = f"{item:.6g}"
        return text if any(c in text for c in ".enf") else text + ".0"
    if isinstance(item, str):
        return string(item)
    return "[" + ", ".join(value(part) for part in item) + "]"


def pairs(table: Mapping[str, Value]) -> str:
    """A table's lines."""
    return "".join(f"{key} = {value(item)}\n" for key, item in table.items())


def inline(table: Mapping[str, Value]) -> str:
    """A table on one line."""
    return "{" + ", ".join(f"{key} = {value(item)}" for key, item in table.items()) + "}"


def rows(name: str, tables: Iterable[Mapping[str, Value]]) -> str:
    """An array of tables, one a line."""
    return f"{name} = [\n" + "".join(f"  {inline(table)},\n" for table in tables) + "]\n"
