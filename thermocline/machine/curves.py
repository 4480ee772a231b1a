"""What `machine measure` found, point by point, as a machine file keeps it.

    [[measured]]
    what = "bandwidth"
    pattern = "read"
    cpu_node = 0
    memory_node = 0
    pages = "huge"
    points = [
      {at = 1, value = "37.6GB/s", low = "37.3GB/s", high = "39GB/s", goes = 15, quiet = 15},
    ]

`at` is a buffer's size (latency), a number of threads (bandwidth), operations a byte (intensity) or
the bandwidth that there was meanwhile (loaded, power); `value` a median, `low` and `high` its 95 %
interval.  Of `goes` runs, nothing took a processor away in `quiet`.
"""

from typing import Literal

from pydantic import Field, model_validator

from thermocline import toml_writer, units
from thermocline.errors import Misuse
from thermocline.validation import Strict

What = Literal["latency", "bandwidth", "intensity", "loaded", "power"]
Pages = Literal["huge", "small", "file", "dax"]
# Of Peng et al. 2019, Fig. 4; the non-temporal ones are nt-.
PATTERNS = ("read", "nt-write", "nt-copy", "1r1w", "2r1w", "3r1w")
ORDERS = ("sequential", "paged", "random")


class Point(Strict):
    """One measured value, with its unit in the file."""

    at: str | int | float
    value: str
    low: str
    high: str
    goes: int = Field(ge=1)
    quiet: int = Field(ge=0)


class Curve(Strict):
    """Points of one kind, for one pair of processors and memory."""

    what: What
    pattern: str = Field(max_length=40)
    cpu_node: int = Field(ge=0, lt=1024)
    memory_node: int | None = Field(default=None, ge=0, lt=1024)  # None: a file's, or several
    # Of traffic that is split over several: node:blocks, taking turns.
    nodes: str = Field(
        default="", max_length=200, pattern=r"^(\d{1,4}:\d{1,4}(,\d{1,4}:\d{1,4})+)?$"
    )
    pages: Pages
    threads: int | None = Field(default=None, ge=1)
    points: list[Point] = Field(min_length=1, max_length=10_000)

    @model_validator(mode="after")
    def _can_be_read(self) -> "Curve":
        try:
            for point in self.points:
                _at(self.what, point.at)
                for text in (point.value, point.low, point.high):
                    _value(self.what, text)
        except Misuse as error:
            raise ValueError(str(error)) from error
        return self

    @property
    def split(self) -> dict[int, float]:
        """Node -> its share of the traffic."""
        if not self.nodes:
            return {} if self.memory_node is None else {self.memory_node: 1.0}
        turns = {int(n): int(w) for n, _, w in (p.partition(":") for p in self.nodes.split(","))}
        total = sum(turns.values()) or 1
        return {node: turn / total for node, turn in turns.items()}

    @property
    def at(self) -> list[float]:
        """Where the points are, in SI units."""
        return [_at(self.what, point.at) for point in self.points]

    @property
    def values(self) -> list[float]:
        """The medians: seconds, bytes a second or watts."""
        return [_value(self.what, point.value) for point in self.points]

    @property
    def best(self) -> Point:
        """The point with the highest bandwidth, or, of latencies, that with most to wait for."""
        if self.what in ("latency", "loaded", "power"):
            return max(self.points, key=lambda point: _at(self.what, point.at))
        return max(self.points, key=lambda point: _value(self.what, point.value))


def _at(what: What, at: str | float) -> float:
    if what in ("bandwidth", "intensity"):
        if isinstance(at, str):
            raise Misuse(f"at = {at!r}: a number is wanted")
        return at
    if not isinstance(at, str):
        raise Misuse(f"at = {at}: needs a unit")
    return units.parse_bytes(at) if what == "latency" else units.parse_bandwidth(at)


def _value(what: What, text: str) -> float:
    if what in ("bandwidth", "intensity"):
        return units.parse_bandwidth(text)
    return units.parse_watts(text) if what == "power" else units.parse_seconds(text)


def point(
    what: What, at: float, middle: tuple[float, float, float], goes: int, quiet: int
) -> Point:
    """A point of a median and its interval in SI units."""
    texts = [_text(what, each) for each in middle]
    place: str | int | float = at
    if what == "bandwidth":
        place = int(at)
    elif what == "latency":
        place = units.exact_bytes(int(at))
    elif what in ("loaded", "power"):
        place = _rate(at)
    return Point(at=place, value=texts[0], low=texts[1], high=texts[2], goes=goes, quiet=quiet)


def _text(what: What, value: float) -> str:
    if what in ("bandwidth", "intensity"):
        return _rate(value)
    return f"{_figures(value)}W" if what == "power" else f"{_figures(value * 1e9)}ns"


def _rate(rate: float) -> str:
    return f"{_figures(rate / 1e9)}GB/s"


def _figures(number: float) -> str:
    """Four figures, never in powers of ten."""
    return f"{number:.{max(0, 4 - len(str(int(number))))}f}"


def to_toml(curve: Curve) -> str:
    """A curve's text, one line a point."""
    head: dict[str, toml_writer.Value] = {
        "what": curve.what,
        "pattern": curve.pattern,
        "cpu_node": curve.cpu_node,
    }
    for name in ("memory_node", "nodes", "pages", "threads"):
        if getattr(curve, name) not in (None, ""):
            head[name] = getattr(curve, name)
    rows = [point.model_dump() for point in curve.points]
    return "\n[[measured]]\n" + toml_writer.pairs(head) + toml_writer.rows("points", rows)
