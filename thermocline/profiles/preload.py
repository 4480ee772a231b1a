"""Gives the call paths of a preload profile readable names, in the file itself."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from thermocline import files
from thermocline.errors import BadFile
from thermocline.sites import callpath, paths, symbolizer

NO_NAMES = (
    "call paths are shown as addresses: for functions and lines install llvm-symbolizer "
    "(Debian: apt install llvm-22)"
)
LATEST = ("max_lifetime_seconds",)  # of these the largest counts where paths are put together
FIRST = ("first_touch_seconds",)


def name_paths(path: Path, context: int) -> None:
    """Rewrites a profile: keys as in an annotated build's, the raw paths beside them.

    Paths that read the same (a library's own callers, inlined frames) become one site, whose peaks
    are the sum of theirs.
    """
    text = files.read_text(path, errors="replace")
    try:
        document = json.loads(text)
        sites = document["sites"]
        modules = {entry["name"]: entry["path"] for entry in document.get("modules", [])}
        raw = [site["key"] for site in sites if paths.is_path(site["key"])]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadFile(path, f"not a profile: {error}") from error
    named = callpath.name_all(raw, modules, context)
    together: dict[str, dict[str, Any]] = {}
    for site in sites:
        key = site["key"]
        if name := named.get(key):
            site |= {"key": name.key, "routine": name.routine or site["routine"], "paths": [key]}
        other = together.get(site["key"])
        together[site["key"]] = _sum(other, site) if other else site
    document["sites"] = list(together.values())
    if raw and symbolizer.find() is None:
        document["notes"] = [*document.get("notes", []), NO_NAMES]
    files.write_text(path, json.dumps(document) + "\n", force=True)


def _sum(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, Any]:
    """Two sites' figures as one's; what can't be added is left out."""
    both: dict[str, Any] = {}
    for name in a.keys() & b.keys():
        x, y = a[name], b[name]
        if name in ("key", "kind", "routine"):
            both[name] = x
        elif name == "mean_lifetime_seconds":
            both[name] = _mean((x, a["allocations"]), (y, b["allocations"]))
        elif name in FIRST or name in LATEST:
            known = [value for value in (x, y) if value is not None]
            both[name] = (min if name in FIRST else max)(known) if known else None
        elif name == "series":
            both[name] = {
                row: [p + q for p, q in zip(x[row], y[row], strict=True)]
                for row in x.keys() & y.keys()
            }
        elif (isinstance(x, int) and isinstance(y, int)) or name in ("paths", "numbers"):
            both[name] = x + y
    return both


def _mean(*weighted: tuple[float | None, int]) -> float | None:
    known: Iterable[tuple[float, int]] = [(v, n) for v, n in weighted if v is not None]
    total = sum(n for _, n in known)
    return sum(v * n for v, n in known) / total if total else None
