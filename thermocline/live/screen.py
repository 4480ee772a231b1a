"""The terminal's view of what runs: tiers, and the hottest sites."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import DataTable, Footer, Static

from thermocline import units
from thermocline.live.follower import SORTS, Follower, ProcessNow
from thermocline.sites import key as site_key

# What is long stands last: a narrow terminal cuts that.
COLUMNS = ("bytes", "read/s", "write/s", "per byte, s", "total", "tier", "site", "called from")
BAR = 30  # characters


class Screen(App[None]):
    """Looks again each `interval` seconds.  `alive` tells whether the command still runs."""

    TITLE = "thermocline top"
    CSS = "#head { height: auto; padding: 0 1; } DataTable { height: 1fr; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit", "quit"),
        *[Binding(name[0], f"sort('{name}')", f"by {name}") for name in ("traffic", "bytes")],
        Binding("h", "sort('hotness')", "by hotness"),
        Binding("o", "sort('total')", "by total"),
        Binding("s", "sort('site')", "by site"),
        Binding("n", "next_process", "next process"),
        Binding("p", "pause", "pause"),
    ]

    def __init__(
        self,
        follower: Follower,
        tiers: Sequence[tuple[str, int | None]],
        alive: Callable[[], bool],
        interval: float,
        by: str = SORTS[0],
    ) -> None:
        super().__init__()
        self._follower = follower
        self._tiers = tiers
        self._alive = alive
        self._interval = interval
        self._by = by
        self._number = 0
        self._paused = False
        self._seen: list[ProcessNow] = []

    def compose(self) -> ComposeResult:
        """Tiers above, sites below."""
        yield Static(id="head")
        yield DataTable(cursor_type="row", zebra_stripes=True)
        yield Footer()

    def on_mount(self) -> None:
        """Starts looking."""
        self.query_one(DataTable).add_columns(*COLUMNS)
        self._look()
        self.set_interval(self._interval, self._look)

    def action_sort(self, by: str) -> None:
        """By another column."""
        self._by = by
        self._show()

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
            head.update("waiting for the first profile ..." if self._alive() else _ENDED)
            return
        process = self._seen[self._number % len(self._seen)]
        head.update("\n".join(self._head(process)))
        for site in process.sorted(self._by):
            parsed = site_key.parse(site.key)
            name = f"{parsed.function} {parsed.position.rpartition('/')[2]}"
            table.add_row(
                units.format_bytes(site.resident_bytes),
                units.format_bytes(round(site.read_rate)),
                units.format_bytes(round(site.write_rate)),
                f"{site.hotness:.3g}",
                units.format_bytes(site.total_bytes),
                "" if site.tier is None else str(site.tier),
                Text(name),
                Text(parsed.context[0] if parsed.context else ""),
            )

    def _head(self, process: ProcessNow) -> list[str]:
        state = "paused" if self._paused else "runs" if self._alive() else _ENDED
        several = f", {self._number % len(self._seen) + 1} of {len(self._seen)}"
        lines = [
            f"{process.program} ({process.pid}{several if len(self._seen) > 1 else ''}) "
            f"{process.seconds:.1f} s, {state}; by {self._by}"
        ]
        for (name, room), (held, rate) in zip(
            self._tiers, process.tiers(len(self._tiers)), strict=True
        ):
            full = held / room if room else None
            bar = "" if full is None else f" \\[{'#' * round(BAR * min(1.0, full)):{BAR}}]"
            of = "" if room is None else f" of {units.format_bytes(room)}"
            lines.append(
                f"{name:10}{bar} {units.format_bytes(held)}{of}, "
                f"{units.format_bytes(round(rate))}/s"
            )
        if process.moved_bytes is not None:
            lines.append(f"moved {units.format_bytes(process.moved_bytes)} so far")
        return lines


_ENDED = "has ended (q leaves)"
