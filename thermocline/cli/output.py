"""How verbs talk: tables on stdout, notes and the next command on stderr, or JSON alone."""

import io
import json
import logging
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from thermocline import notes

if TYPE_CHECKING:
    from rich.progress import Progress


@dataclass(frozen=True)
class Column:
    """A table's column; numbers stand right."""

    title: str
    right: bool = False


def table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    """Prints a table; nothing is cut on a pipe."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    terminal = sys.stdout.isatty()
    text = io.StringIO()
    console = Console(
        file=text,
        width=shutil.get_terminal_size().columns if terminal else 10_000,
        force_terminal=terminal,
        highlight=False,
    )
    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in columns:
        drawn.add_column(
            column.title,
            justify="right" if column.right else "left",
            overflow="fold",
            no_wrap=not terminal,
        )
    for row in rows:
        drawn.add_row(*[_escaped(cell) for cell in row])
    console.print(drawn)
    for line in text.getvalue().splitlines():
        print(line.rstrip())


def _escaped(cell: str) -> str:
    from rich.markup import escape

    return escape(cell)


def emit_json(data: object) -> None:
    """The whole answer as JSON."""
    print(json.dumps(data, indent=2))


def note(text: str) -> None:
    """Something a person should know."""
    print(f"thermocline: {text}", file=sys.stderr)


class _Notes(logging.Handler):
    """The package's own notes."""

    def emit(self, record: logging.LogRecord) -> None:
        """On stderr as ours."""
        note(record.getMessage())


def show_notes() -> None:
    """From now on, what the package notes is shown as what the command line notes."""
    notes.LOGGER.addHandler(_Notes())
    notes.LOGGER.propagate = False


def next_step(*words: object) -> None:
    """The command to run next, quoted so that a shell reads it back as these words."""
    print(f"next: {shlex.join(str(word) for word in words)}", file=sys.stderr)


def next_hint(text: str) -> None:
    """What to do next where no one command does it."""
    print(f"next: {text}", file=sys.stderr)


def progress() -> "Progress":
    """A bar a task on a terminal, with the time that is left; nothing on a pipe."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
        transient=True,
    )


@contextmanager
def progress_of_runs() -> Iterator[Callable[[str, int], Callable[[int], None]]]:
    """Starts a bar when it is called, with so many runs to come; and each that ends moves it on."""
    with ExitStack() as shown:
        bars: list[Progress] = []  # one at most, from the first runs on

        def start(what: str, total: int) -> Callable[[int], None]:
            if not bars:
                bars.append(shown.enter_context(progress()))
            task = bars[0].add_task(what, total=total)
            return lambda _: bars[0].advance(task)

        yield start


@contextmanager
def progress_of_references() -> Iterator[Callable[[str, int | None], Callable[[int, int], None]]]:
    """The same for simulations: each says by its number how many references it has done."""
    with ExitStack() as shown:
        bars: list[Progress] = []

        def start(what: str, total: int | None) -> Callable[[int, int], None]:
            if not bars:
                bars.append(shown.enter_context(progress()))
            task = bars[0].add_task(what, total=total)
            done: dict[int, int] = {}

            def report(number: int, count: int) -> None:
                done[number] = count
                bars[0].update(task, completed=sum(done.values()))

            return report

        yield start
