"""The report as one HTML file that needs nothing else: no network, no other files."""

import base64
import json
from collections.abc import Sequence
from dataclasses import asdict
from importlib import metadata, resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from thermocline import __version__, files, paths, units
from thermocline.errors import ThermoclineError
from thermocline.reports import figures
from thermocline.reports.figure import DARK, LIGHT, Figure
from thermocline.reports.headline import sentences
from thermocline.reports.sites import excerpts, rows
from thermocline.reports.study import Study

MISSING = "the page needs more of Python: pip install 'thermocline[report]'"
REPLANNED = ("hotset", "thermos")  # which page.js knows too


def lacks() -> str:
    """What of Python is missing for a page, or nothing."""
    wanted = ("jinja2", "itables", "vl_convert")
    return "" if all(find_spec(name) for name in wanted) else MISSING


def html(study: Study, sources: Sequence[Path] = ()) -> str:
    """The page.  `sources`: folders in which sites' source files are looked for."""
    if missing := lacks():
        raise ThermoclineError(missing)
    import jinja2

    # Everything that came from outside is escaped; what is marked safe below is ours.
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(_ours("page.html"))
    table_script, table_style = _table_library()
    profile = study.profile
    drawn = figures(study)
    return template.render(
        study=study,
        figures=drawn,
        sentences=sentences(study),
        facts=_facts(study),
        data=_embedded(_data(study, drawn, sources)),
        replan=bool(profile and study.plan and study.room),
        style=table_style + _ours("page.css"),
        script=_ours("replan.js") + _ours("page.js"),
        drawing=_drawing_library(),
        table=base64.b64encode(table_script.encode()).decode(),
        version=__version__,
    )


def _facts(study: Study) -> list[tuple[str, str]]:
    """What was measured, and how."""
    profile = study.profile
    if profile is None:
        return []
    machine = study.machine
    return [
        ("command", " ".join(profile.command)),
        ("profiled by", profile.method + ("" if profile.complete else ", and cut short")),
        ("ran for", units.format_duration(profile.wall_seconds)),
        ("memory traffic", units.format_bytes(profile.traffic_bytes)),
        ("peak resident", units.format_bytes(profile.peak_resident_bytes)),
        ("not of the heap", units.format_bytes(profile.nonheap_bytes)),
        ("sites", str(len(profile.heap))),
        *([("machine", machine.name)] if machine else []),
        *([("other inputs", ", ".join(study.others))] if study.others else []),
    ]


def _data(study: Study, drawn: Sequence[Figure], sources: Sequence[Path]) -> dict[str, Any]:
    table = rows(study)
    plan, profile = study.plan, study.profile
    found = excerpts([row["position"] for row in table], sources)
    strategy = plan.strategy if plan and plan.strategy in REPLANNED else REPLANNED[-1]
    return {
        "sites": table,
        "excerpts": {position: asdict(excerpt) for position, excerpt in found.items()},
        "figures": [
            {"name": figure.name, "spec": figure.spec, "language": figure.language}
            for figure in drawn
        ],
        "looks": {"light": LIGHT, "dark": DARK},
        "traffic": profile.traffic_bytes if profile else 0,
        "room": study.room,
        "strategy": strategy,
        "planned_by": plan.strategy if plan else "",
        "fast": study.fast,
    }


def _embedded(data: object) -> str:
    """JSON inside a script element: nothing in it can end the element."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def _ours(name: str) -> str:
    return resources.files("thermocline.reports").joinpath(name).read_text(encoding="utf-8")


def _table_library() -> tuple[str, str]:
    """DataTables, as itables ships it: script and style."""
    # Found, not imported: that would bring data frames along.
    found = find_spec("itables")
    assert found is not None and found.origin is not None
    folder = Path(found.origin).parent / "html"
    return files.read_text(folder / "dt_bundle.js"), files.read_text(folder / "dt_bundle.css")


def _drawing_library() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script; bundling takes a second, so it is kept."""
    import vl_convert

    base = paths.cache()
    kept = base / f"vega-{metadata.version('vl-convert-python')}.js"
    if kept.is_file():
        return kept.read_text(encoding="utf-8")
    # In a script element, as everything is here: "</script" would end it.
    text: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;").replace(
        "</script", "<\\/script"
    )
    try:
        base.mkdir(parents=True, exist_ok=True)
        files.write_text(kept, text, force=True)
    except (OSError, ThermoclineError):
        pass  # next time again
    return text
