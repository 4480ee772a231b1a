"""The report's figures as PNG files."""

import io
import json
from pathlib import Path

from thermocline.errors import Misuse, ThermoclineError
from thermocline.reports import figures
from thermocline.reports.figure import PAPER
from thermocline.reports.page import lacks
from thermocline.reports.study import Study

PIXELS_PER_POINT = 2


def check(folder: Path, force: bool) -> None:
    """Refuses a folder that has pictures already."""
    if folder.is_dir() and any(folder.glob("*.png")) and not force:
        raise Misuse(f"{folder} has pictures: name another folder, or add --force")


def write(study: Study, folder: Path) -> list[Path]:
    """One file for each figure, into a folder that is made if it isn't there."""
    if missing := lacks():
        raise ThermoclineError(missing)
    import vl_convert

    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for figure in figures(study):
        spec = json.loads(json.dumps(figure.spec))
        spec["config"] = PAPER
        draw = vl_convert.vega_to_png if figure.language == "vega" else vl_convert.vegalite_to_png
        path = folder / f"{figure.name}.png"
        aside = folder / f".{figure.name}.png.part"
        aside.write_bytes(io.BytesIO(draw(spec, scale=PIXELS_PER_POINT)).getbuffer())
        aside.replace(path)
        written.append(path)
    return written
