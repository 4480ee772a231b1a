"""Writes what came out: data as JSON, figures as PNG and SVG, and what others need to go on."""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from thermocline import __version__
from thermocline.files import write_text
from thermocline.machine import store
from thermocline.reproduce.item import Result
from thermocline.reproduce.study import Study


def to_json(result: Result) -> dict[str, Any]:
    """Everything of an item but its drawing."""
    return {
        "format": "thermocline-reproduction",
        "version": 1,
        "thermocline": __version__,
        "tables": [
            {"title": table.title, "columns": list(table.columns), "rows": list(table.rows)}
            for table in result.tables
        ],
        "claims": [
            {
                "section": claim.section,
                "stated": claim.stated,
                "ours": claim.ours,
                "holds": claim.holds,
            }
            for claim in result.claims
        ],
        "notes": list(result.notes),
        "data": result.data,
    }


def write(folder: Path, name: str, result: Result) -> None:
    """NAME.json, and NAME.png and NAME.svg where there is something to draw."""
    if result.draw is not None:
        from matplotlib.figure import Figure

        figure = Figure(figsize=result.size, layout="constrained")
        result.draw(figure)
        for kind in ("png", "svg"):
            with _aside(folder / f"{name}.{kind}") as path:
                figure.savefig(path, dpi=150)
    write_text(folder / f"{name}.json", json.dumps(to_json(result), indent=2) + "\n", force=True)


def inputs(folder: Path, study: Study) -> tuple[Path, Path] | None:
    """The machine file, and one of the traces, that write_inputs() writes; None without traces."""
    prepared = study.all_prepared()
    if not prepared:
        return None
    machine = study.simulated_machines()[-1]
    return folder / f"{machine.name}.toml", folder / f"{prepared[-1].job.stem}.trace"


def write_inputs(folder: Path, study: Study) -> None:
    """The machine file and links to the traces, for `thermocline simulate`; profiles for plans."""
    for machine in study.simulated_machines():
        write_text(folder / f"{machine.name}.toml", store.to_toml(machine), force=True)
    for prepared in study.all_prepared():
        stem = prepared.job.stem
        with _aside(folder / f"{stem}.trace") as path:
            path.symlink_to(prepared.trace)
        with _aside(folder / f"{stem}.profile") as path:
            path.write_text(prepared.profile.model_dump_json(), encoding="utf-8")


@contextmanager
def _aside(path: Path) -> Iterator[Path]:
    """A path to write to, which becomes the file when all is well."""
    with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as scratch:
        made = Path(scratch) / path.name
        yield made
        made.replace(path)
