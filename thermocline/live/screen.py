"""The terminal's view of what runs: tiers and the hottest sites, or what moves."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, Generic, Protocol, TypeVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import DataTable, Footer, Static

from thermocline import units
from thermocline.live.follower import SORTS, ProcessNow
from thermocline.live.migrations import Migrating
from thermocline.sites import key as site_key

# What is long stands last: a narrow terminal cuts that.
COLUMNS = ("bytes", "read/s", "write/s", "per byte, s", "total", "tier", "site", "called from")
MOVES_COLUMNS = ("moved by", "in/s", "out/s", "bytes in/s", "bytes out/s", "in", "out")
BAR = 30  # characters


class Seen(Protocol):
    """A process at a look."""

    @property
    def pid(self) -> int:
        """Its number."""

    @property
    def program(self) -> str:
        """Its name."""

    @property
    def seconds(self) -> float:
        """Since its start."""


P = TypeVar("P", bound=Seen)


class Follows(Protocol[P]):
    """Where processes come from."""

    def look(self) -> list[P]:
        """Those so far."""


class Watch(App[None], Generic[P]):
    """Looks again each `interval` seconds.  `alive` tells whether the command still runs."""

    TITLE = "thermocline top"
    CSS = "#head { height: auto; padding: 0 1; } DataTable { height: 1fr; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit", "quit"),
        Binding("n", "next_process", "next process"),
        Binding("p", "pause", "pause"),
    ]
    COLUMNS: ClassVar[tuple[str, ...]]
    WAITS_FOR = "report"

    def __init__(self, follower: Follows[P], alive: Callable[[], bool], interval: float) -> None:
        super().__init__()
        self._follower = follower
        self._alive = alive
        self._interval = interval
        self._number = 0
        self._paused = False
        self._seen: list[P] = []

    @abstractmethod
    def _rows(self, process: P) -> list[list[str | Text]]:
        """Of the table."""

    @abstractmethod
    def _about(self, process: P) -> list[str]:
        """Below the process's name."""

    def _order(self) -> str:
        return ""

    def compose(self) -> ComposeResult:
        """The process above, the table below."""
        yield Static(id="head")
        yield DataTable(cursor_type="row", zebra_stripes=True)
        yield Footer()

    def on_mount(self) -> None:
        """Starts looking."""
        self.query_one(DataTable).add_columns(*self.COLUMNS)
        self._look()
        self.set_interval(self._interval, self._look)

    def action_next_process(self) -> None:
        """Of several."""
        self._number += 1
        self._show()

    def action_pause(self) -> None:
        """What is seen stays, or goes on."""
        self._paused = not self._paused
        self._show()

    def _look(self) -> None:
        if not self._paused:
            self._seen = self._follower.look()
            self._show()

    def _show(self) -> None:
        table = self.query_one(DataTable)
        table.clear()
        head = self.query_one("#head", Static)
        if not self._seen:
            waits = f"waiting for the first {self.WAITS_FOR} ..."
            head.update(waits if self._alive() else _ENDED)
            return
        process = self._seen[self._number % len(self._seen)]
        state = "paused" if self._paused else "runs" if self._alive() else _ENDED
        several = f", {self._number % len(self._seen) + 1} of {len(self._seen)}"
        first = (
            f"{process.program} ({process.pid}{several if len(self._seen) > 1 else ''}) "
            f"{process.seconds:.1f} s, {state}{self._order()}"
        )
        head.update("\n".join([first, *self._about(process)]))
        for row in self._rows(process):
            table.add_row(*row)


class Screen(Watch[ProcessNow]):
    """Tiers above, sites below."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *[Binding(name[0], f"sort('{name}')", f"by {name}") for name in ("traffic", "bytes")],
        Binding("h", "sort('hotness')", "by hotness"),
        Binding("o", "sort('total')", "by total"),
        Binding("s", "sort('site')", "by site"),
    ]
    COLUMNS = COLUMNS
    WAITS_FOR = "profile"

    def __init__(
        self,
        follower: Follows[ProcessNow],
        tiers: Sequence[tuple[str, int | None]],
        alive: Callable[[], bool],
        interval: float,
        by: str = SORTS[0],
    ) -> None:
        super().__init__(follower, alive, interval)
        self._tiers = tiers
        self._by = by

    def action_sort(self, by: str) -> None:
        """By another column."""
        self._by = by
        self._show()

    def _order(self) -> str:
        return f"; by {self._by}"

    def _rows(self, process: ProcessNow) -> list[list[str | Text]]:
        rows: list[list[str | Text]] = []
        for site in process.sorted(self._by):
            parsed = site_key.parse(site.key)
            name = f"{parsed.function} {parsed.position.rpartition('/')[2]}"
            rows.append(
                [
                    units.format_bytes(site.resident_bytes),
                    units.format_bytes(round(site.read_rate)),
                    units.format_bytes(round(site.write_rate)),
                    f"{site.hotness:.3g}",
                    units.format_bytes(site.total_bytes),
                    "" if site.tier is None else str(site.tier),
                    Text(name),
                    Text(parsed.context[0] if parsed.context else ""),
                ]
            )
        return rows

    def _about(self, process: ProcessNow) -> list[str]:
        lines = [
            f"{_filled(name, held, room)}, {units.format_bytes(round(rate))}/s"
            for (name, room), (held, rate) in zip(
                self._tiers, process.tiers(len(self._tiers)), strict=True
            )
        ]
        if process.moved_bytes is not None:
            lines.append(f"moved {units.format_bytes(process.moved_bytes)} so far")
        return lines


class MovesScreen(Watch[Migrating]):
    """Near and far memory above, moves by granularity below."""

    COLUMNS = MOVES_COLUMNS

    def _rows(self, process: Migrating) -> list[list[str | Text]]:
        return [
            [
                each.granularity,
                f"{each.moves_in_per_second:.0f}",
                f"{each.moves_out_per_second:.0f}",
                units.format_bytes(round(each.bytes_in_per_second)),
                units.format_bytes(round(each.bytes_out_per_second)),
                str(each.moves_in),
                str(each.moves_out),
            ]
            for each in process.moves
        ]

    def _about(self, process: Migrating) -> list[str]:
        return [
            _filled("near", process.resident_near_bytes, process.near_bytes),
            _filled("far", process.far_bytes, None),
            f"{process.granularity}: {process.faults_per_second:.0f} faults/s on far data,"
            f" {process.faults} so far; {process.soft_faults_per_second:.0f}/s on what was about"
            f" to leave; {process.evictions_per_second:.0f} evictions/s,"
            f" {process.evictions} so far",
        ]


def _filled(name: str, held: int, room: int | None) -> str:
    bar = "" if not room else f" \\[{'#' * round(BAR * min(1.0, held / room)):{BAR}}]"
    of = "" if room is None else f" of {units.format_bytes(room)}"
    return f"{name:10}{bar} {units.format_bytes(held)}{of}"


_ENDED = "has ended (q leaves)"
