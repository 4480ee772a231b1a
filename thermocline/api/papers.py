"""The papers' figures and tables."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from thermocline.api import arguments
from thermocline.api.arguments import AnyPath

if TYPE_CHECKING:
    from pandas import DataFrame

    from thermocline.reproduce.item import Result


def reproduce(
    paper: str,
    item: str,
    *,
    full: bool = False,
    output: AnyPath | None = None,
    force: bool = False,
    jobs: int | None = None,
    scheduler: str | None = None,
) -> "Result":
    """Makes one of the papers' figures or tables again, such as `ryoo`, `fig5.5`.

    Its numbers are the result's `frame()`, statements of the paper beside ours `claims_frame()`.
    `full`: larger inputs and longer regions, hours.  `output`: a folder for data and figures.
    Workloads and simulations are kept in the cache.
    """
    folder = arguments.path(output)
    return _make(paper, item, None, full, folder, force, jobs, scheduler)[item]


def reproduce_all(
    output: AnyPath,
    *,
    paper: str | None = None,
    chapter: int | None = None,
    full: bool = False,
    force: bool = False,
    jobs: int | None = None,
    scheduler: str | None = None,
) -> "DataFrame":
    """Makes all figures and tables, of a paper or of a thesis' chapter if given.

    Data and figures go to `output`/reproduce-PAPER; of all papers, two documents beside them.
    Returns `reproductions(output)`.
    """
    from thermocline.reproduce import making, papers

    known, top = papers(), Path(output)
    for name in [paper] if paper is not None else known:
        folder = top / f"reproduce-{name}"
        _make(name, None, chapter, full, folder, force, jobs, scheduler)
    if paper is None:
        making.write_documents(known, top)
    return reproductions(top)


def _make(
    paper: str,
    item: str | None,
    chapter: int | None,
    full: bool,
    folder: Path | None,
    force: bool,
    jobs: int | None,
    scheduler: str | None,
) -> "Mapping[str, Result]":
    from thermocline import executors
    from thermocline.notes import note
    from thermocline.reproduce import making, papers

    [(found, items)] = making.choose(papers(), paper, item, chapter)
    if folder is not None:
        making.check(folder, items, force)
    workers = executors.choose(scheduler, jobs)
    study, results = making.make(found, items, full, workers, lambda what, part: None)
    if folder is not None:
        making.write(folder, study, results)
    for text in dict.fromkeys(text for result in results.values() for text in result.notes):
        note(text)
    return results


def reproductions(folder: AnyPath = ".") -> "DataFrame":
    """Every figure and table of the papers, and what came out where it was made; a row each.

    Columns: paper, item, title, state, stated (by the paper), ours, figure (a file).  `folder`:
    where reproduce-PAPER folders are.
    """
    from thermocline import frames
    from thermocline.reproduce import index, papers

    columns = ("paper", "item", "title", "state", "stated", "ours", "figure")
    found = index.entries(papers(), Path(folder))
    return frames.of((entry.to_json() for entry in found), dict.fromkeys(columns, frames.TEXT))
