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
    from thermocline.reproduce import papers

    known = papers()
    chosen = _of_chapter(_chosen(known, paper, item, all_), paper, item, chapter)
    if not chosen:
        _list(known, Path(out or "."), as_json)
        return
    answers = {}
    for each, items in chosen:
        folder = out if out and len(chosen) == 1 else Path(out or ".") / f"reproduce-{each.name}"
        _check(folder, items, force)
        answers[each.name] = _make(
            each, items, full, folder, executors.choose(scheduler, jobs), as_json
        )
    if all_:
        _write_documents(known, Path(out or "."))
    if as_json:
        output.emit_json(answers)


def _chosen(
    known: "dict[str, Paper]", paper: str | None, item: str | None, all_: bool
) -> "list[tuple[Paper, Sequence[Item]]]":
    from thermocline.errors import Misuse

    if all_:
        if paper is not None:
            raise Misuse("--all is every paper: name none, or leave --all out")
        return [(each, each.items) for each in known.values()]
    if paper is None:
        return []
    if paper not in known:
        raise Misuse(f"no paper {paper!r}: there are {', '.join(known)}")
    found = known[paper]
    if item is None:
        return [(found, found.items)]
    one = found.item(item)
    if one is None:
        names = ", ".join(each.name for each in found.items)
        raise Misuse(f"{paper} has no {item!r}: there are {names}")
    return [(found, [one])]


def _of_chapter(
    chosen: "list[tuple[Paper, Sequence[Item]]]",
    paper: str | None,
    item: str | None,
    chapter: int | None,
) -> "list[tuple[Paper, Sequence[Item]]]":
    from thermocline.errors import Misuse

    if chapter is None:
        return chosen
    if paper is None or item is not None:
        raise Misuse("--chapter is of a paper: name the paper, and no item")
    [(found, items)] = chosen
    those = [each for each in items if each.chapter == chapter]
    if not those:
        there = sorted({each.chapter for each in items if each.chapter is not None})
        text = ", ".join(str(number) for number in there) or "none"
        raise Misuse(f"{paper} has no chapter {chapter}: there are {text}")
    return [(found, those)]


def _list(known: "dict[str, Paper]", folder: Path, as_json: bool) -> None:
    """Every figure and table, and what came out where it was made."""
    from thermocline.cli import output
    from thermocline.reproduce import index

    found = index.entries(known, folder)
    if as_json:
        output.emit_json(
            [
                {
                    "paper": entry.paper,
                    "item": entry.name,
                    "title": entry.title,
                    "state": entry.state,
                    "stated": entry.stated,
                    "ours": entry.ours,
                    "figure": str(entry.picture) if entry.picture else None,
                }
                for entry in found
            ]
        )
        return
    column = output.Column
    output.table(
        [column("paper"), column("item"), column("what"), column("state")],
        [(entry.paper, entry.name, entry.title, entry.state) for entry in found],
    )
    first = next(iter(known.values()))
    output.next_step("thermocline", "reproduce", first.name)


def _write_documents(known: "dict[str, Paper]", folder: Path) -> None:
    from thermocline import files
    from thermocline.reproduce import index

    found = index.entries(known, folder)
    for name, text in (
        ("reproduce.md", index.markdown(known, found, folder)),
        ("reproduce.html", index.page(known, found)),
    ):
        files.write_text(folder / name, text, force=True)
        print(f"wrote {folder / name}", file=sys.stderr)


def _check(folder: Path, items: "Sequence[Item]", force: bool) -> None:
    """Nothing is overwritten, which is known before hours of work."""
    from thermocline.errors import Misuse

    if folder.exists() and not folder.is_dir():
        raise Misuse(f"{folder} is no folder: choose another with --out")
    made = [folder / f"{one.name}.json" for one in items]
    there = [str(path) for path in made if path.exists()]
    if there and not force:
        raise Misuse(f"{there[0]} exists: choose another folder with --out, or add --force")


def _make(
    paper: "Paper",
    items: "Sequence[Item]",
    full: bool,
    folder: Path,
    executor: "Executor",
    quiet: bool,
) -> dict[str, Any]:
    from thermocline.cli import output
    from thermocline.reproduce import artefacts

    study = paper.study(full)
    with _progress_bar() as update:
        study.prepare(paper.contexts, executor, update)
        study.simulate([run for one in items for run in one.runs(study)], executor, update)
        study.measure(items, update)
    results = {one.name: one.result(study) for one in items}
    folder.mkdir(parents=True, exist_ok=True)
    for name, result in results.items():
        artefacts.write(folder, name, result)
    artefacts.write_inputs(folder, study)
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
