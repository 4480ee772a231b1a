"""Makes figures and tables of the papers: which are asked for, their results, their folder."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from thermocline.errors import Misuse
from thermocline.executors import Executor
from thermocline.files import write_text
from thermocline.reproduce import artefacts, index
from thermocline.reproduce.item import Item, Paper, Result
from thermocline.reproduce.study import Study, Update

Chosen = list[tuple[Paper, Sequence[Item]]]


def choose(
    known: Mapping[str, Paper],
    paper: str | None,
    item: str | None,
    chapter: int | None = None,
    all_: bool = False,
) -> Chosen:
    """The items that names mean; none where no paper is named."""
    return _of_chapter(_named(known, paper, item, all_), paper, item, chapter)


def _named(known: Mapping[str, Paper], paper: str | None, item: str | None, all_: bool) -> Chosen:
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


def _of_chapter(chosen: Chosen, paper: str | None, item: str | None, chapter: int | None) -> Chosen:
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


def check(folder: Path, items: Sequence[Item], force: bool) -> None:
    """Nothing is overwritten, which is known before hours of work."""
    if folder.exists() and not folder.is_dir():
        raise Misuse(f"{folder} is no folder: choose another with --out")
    made = [folder / f"{one.name}.json" for one in items]
    there = [str(path) for path in made if path.exists()]
    if there and not force:
        raise Misuse(f"{there[0]} exists: choose another folder with --out, or add --force")


def make(
    paper: Paper, items: Sequence[Item], full: bool, executor: Executor, update: Update
) -> tuple[Study, dict[str, Result]]:
    """Prepares workloads, simulates, measures: the items' results by name.

    `full`: larger inputs and longer regions, hours.  `update` is told of each stage which part of
    it is done.
    """
    study = paper.study(full)
    study.prepare(paper.contexts, executor, update)
    study.simulate([run for one in items for run in one.runs(study)], executor, update)
    study.measure(items, update)
    return study, {one.name: one.result(study) for one in items}


def write(folder: Path, study: Study, results: Mapping[str, Result]) -> None:
    """Data, figures, and what `thermocline simulate` needs to go on."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, result in results.items():
        artefacts.write(folder, name, result)
    artefacts.write_inputs(folder, study)


def write_documents(known: Mapping[str, Paper], folder: Path) -> list[Path]:
    """All that was made below the folder as one Markdown and one HTML document."""
    found = index.entries(known, folder)
    texts = {
        folder / "reproduce.md": index.markdown(known, found, folder),
        folder / "reproduce.html": index.page(known, found),
    }
    for path, text in texts.items():
        write_text(path, text, force=True)
    return list(texts)
