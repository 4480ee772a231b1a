"""How verbs talk: tables on stdout, notes and the next command on stderr, or JSON alone."""

import io
import json
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass


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


def next_step(*words: object) -> None:
    """The command to run next, quoted so that a shell reads it back as these words."""
    print(f"next: {shlex.join(str(word) for word in words)}", file=sys.stderr)


def next_hint(text: str) -> None:
    """What to do next where no one command does it."""
    print(f"next: {text}", file=sys.stderr)
