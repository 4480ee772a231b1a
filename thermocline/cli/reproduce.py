"""thermocline reproduce."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from thermocline.cli.options import AsJson, Force, Jobs, Scheduler

if TYPE_CHECKING:
    from thermocline.executors import Executor
    from thermocline.reproduce.item import Item, Paper, Result
    from thermocline.reproduce.study import Update


def reproduce(
    paper: Annotated[
        Optional[str],  # noqa: UP045
        typer.Argument(
            help="A paper, such as membrain; without one, the list of them.", show_default=False
        ),
    ] = None,
    item: Annotated[
        Optional[str],  # noqa: UP045
        typer.Argument(help="One figure or table, such as fig4. [all of them]", show_default=False),
    ] = None,
    chapter: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option("--chapter", help="All figures and tables of a thesis' chapter."),
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="All papers.")] = False,
    full: Annotated[
        bool, typer.Option("--full", help="Larger inputs and longer regions: hours.")
    ] = False,
    out: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--out", help="Folder for figures and data. [reproduce-PAPER]"),
    ] = None,
    jobs: Jobs = None,
    scheduler: Scheduler = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Make the papers' figures and tables again, ours beside theirs.

    Workloads are built, profiled and recorded once and kept in the cache; so are simulations.
    Without a paper: the index of all figures and tables, and what came out of those that were
    made (below --out, or here).

    Example: thermocline reproduce membrain fig4
    or a chapter: thermocline reproduce ryoo --chapter 5
    or all, with reproduce.html and reproduce.md: thermocline reproduce --all --out results
    """
    from thermocline import executors
    from thermocline.cli import output
    from thermocline.reproduce import making, papers

    known = papers()
    chosen = making.choose(known, paper, item, chapter, all_)
    if not chosen:
        _list(known, Path(out or "."), as_json)
        return
    answers = {}
    for each, items in chosen:
        folder = out if out and len(chosen) == 1 else Path(out or ".") / f"reproduce-{each.name}"
        making.check(folder, items, force)
        answers[each.name] = _make(
            each, items, full, folder, executors.choose(scheduler, jobs), as_json
        )
    if all_:
        for path in making.write_documents(known, Path(out or ".")):
            print(f"wrote {path}", file=sys.stderr)
    if as_json:
        output.emit_json(answers)


def _list(known: "dict[str, Paper]", folder: Path, as_json: bool) -> None:
    """Every figure and table, and what came out where it was made."""
    from thermocline.cli import output
    from thermocline.reproduce import index

    found = index.entries(known, folder)
    if as_json:
        output.emit_json([entry.to_json() for entry in found])
        return
    column = output.Column
    output.table(
        [column("paper"), column("item"), column("what"), column("state")],
        [(entry.paper, entry.name, entry.title, entry.state) for entry in found],
    )
    first = next(iter(known.values()))
    output.next_step("thermocline", "reproduce", first.name)


def _make(
    paper: "Paper",
    items: "Sequence[Item]",
    full: bool,
    folder: Path,
    executor: "Executor",
    quiet: bool,
) -> dict[str, Any]:
    from thermocline.cli import output
    from thermocline.reproduce import artefacts, making

    with _progress_bar() as update:
        study, results = making.make(paper, items, full, executor, update)
    making.write(folder, study, results)
    if not quiet:
        for result in results.values():
            _print(result)
        for note in dict.fromkeys(note for result in results.values() for note in result.notes):
            output.note(note)
        print(f"\nfigures and data are in {folder}/")
        made = artefacts.inputs(folder, study)
        if made is not None:
            machine, trace = made
            output.next_step(
                *("thermocline", "simulate", trace, "--machine", machine, "--capacity", "25%"),
                *("--scheme", "first-touch,knl-cache,all-fast"),
            )
    return {name: artefacts.to_json(result) for name, result in results.items()}


def _print(result: "Result") -> None:
    from thermocline.cli import output

    for table in result.tables:
        print(f"\n{table.title}\n")
        columns = [
            output.Column(title, number >= table.left) for number, title in enumerate(table.columns)
        ]
        output.table(columns, table.rows)
    print()
    for claim in result.claims:
        print(f"- {claim.text}")


@contextmanager
def _progress_bar() -> "Iterator[Update]":
    """On a terminal, with the time that is left of each stage; nothing on a pipe."""
    from thermocline.cli import output

    with output.progress() as bar:
        tasks: dict[str, Any] = {}

        def update(what: str, part: float) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=1.0)
            bar.update(tasks[what], completed=part)

        yield update
