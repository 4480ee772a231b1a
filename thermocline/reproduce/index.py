"""The index of every figure and table of the papers, and one document of all that was made."""

import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from thermocline.errors import BadFile, ThermoclineError
from thermocline.files import read_text
from thermocline.reproduce.item import Paper
from thermocline.validation import first_problem


class _Open(BaseModel):
    """A later version may add keys."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class SavedTable(_Open):
    """As in an item's JSON file."""

    title: str
    columns: list[str]
    rows: list[list[str]]


class SavedClaim(_Open):
    """What the paper states, and what came out."""

    section: str
    stated: str
    ours: str
    holds: bool


class Saved(_Open):
    """An item's JSON file (artefacts.py writes it)."""

    format: str = Field(pattern="^thermocline-reproduction$")
    tables: list[SavedTable]
    claims: list[SavedClaim]
    notes: list[str]


@dataclass(frozen=True)
class Entry:
    """One figure or table.  `saved` is None where it was not made; `why` where it can't be."""

    paper: str
    name: str
    title: str
    saved: Saved | None = None
    picture: Path | None = None
    why: str = ""

    @property
    def state(self) -> str:
        """In a few words."""
        if self.why:
            return "not made: " + self.why
        if self.saved is None:
            return "not made here yet"
        claims = self.saved.claims
        agreeing = sum(claim.holds for claim in claims)
        return f"made; agrees with {agreeing} of {len(claims)} statements" if claims else "made"

    @property
    def ours(self) -> str:
        """Our number, of the first statement."""
        return self.saved.claims[0].ours if self.saved and self.saved.claims else ""

    @property
    def stated(self) -> str:
        """The paper's."""
        return self.saved.claims[0].stated if self.saved and self.saved.claims else ""

    def to_json(self) -> dict[str, str | None]:
        """One object."""
        return {
            "paper": self.paper,
            "item": self.name,
            "title": self.title,
            "state": self.state,
            "stated": self.stated,
            "ours": self.ours,
            "figure": str(self.picture) if self.picture else None,
        }


def entries(papers: Mapping[str, Paper], folder: Path) -> list[Entry]:
    """Every figure and table; `folder` is where reproduce-PAPER folders are looked for."""
    found = []
    for paper in papers.values():
        made = folder / f"reproduce-{paper.name}"
        for item in paper.items:
            saved = _load(made / f"{item.name}.json")
            picture = made / f"{item.name}.png"
            shown = picture if saved and picture.is_file() else None
            found.append(Entry(paper.name, item.name, item.title, saved, shown))
        found += [Entry(paper.name, name, title, why=why) for name, title, why in paper.left_out]
    return found


def _load(path: Path) -> Saved | None:
    if not path.is_file():
        return None
    try:
        return Saved.model_validate_json(read_text(path))
    except ValidationError as error:
        raise BadFile(path, f"not a reproduced item: {first_problem(error)}") from error


def markdown(papers: Mapping[str, Paper], found: Iterable[Entry], folder: Path) -> str:
    """One document; pictures are linked, relative to `folder`."""
    lines = ["# The papers' figures and tables, ours beside theirs", ""]
    lines += ["| paper | item | state | the paper | here |", "|---|---|---|---|---|"]
    known = list(found)
    for entry in known:
        name = f"[{entry.name}](#{entry.paper}-{entry.name})" if entry.saved else entry.name
        cells = [entry.paper, name, *map(_cell, (entry.state, entry.stated, entry.ours))]
        lines.append("| " + " | ".join(cells) + " |")
    for entry in known:
        if entry.saved is None:
            continue
        title = papers[entry.paper].title
        lines += ["", f'<a id="{entry.paper}-{entry.name}"></a>']
        lines += [f"## {title}: {entry.name}", "", entry.title, ""]
        if entry.picture is not None:
            lines += [f"![{entry.name}]({entry.picture.relative_to(folder)})", ""]
        for table in entry.saved.tables:
            lines += [table.title, "", "| " + " | ".join(map(_cell, table.columns)) + " |"]
            lines.append("|" + "---|" * len(table.columns))
            lines += ["| " + " | ".join(map(_cell, row)) + " |" for row in table.rows]
            lines.append("")
        lines += [f"- {_verdict(claim)}" for claim in entry.saved.claims]
        lines += [f"- note: {note}" for note in entry.saved.notes]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _verdict(claim: SavedClaim) -> str:
    word = "agrees" if claim.holds else "**disagrees**"
    return f"{word}: {claim.section}: {claim.stated}; here: {claim.ours}"


def page(papers: Mapping[str, Paper], found: Iterable[Entry]) -> str:
    """The same as one HTML file with the pictures in it."""
    try:
        import jinja2
    except ImportError as error:
        raise ThermoclineError("a page needs pip install 'thermocline[report]'") from error
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    source = resources.files("thermocline.reproduce").joinpath("index.html")
    return environment.from_string(source.read_text(encoding="utf-8")).render(
        papers=papers, entries=list(found), picture=_embedded
    )


def _embedded(path: Path) -> str:
    return "data:image/png;base64," + base64.b64encode(path.read_bytes()).decode()
