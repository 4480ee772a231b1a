"""Several programs that share a machine, written as `a.trace+b.trace`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any


def split(path: Path) -> list[Path]:
    """The traces that a word names: one, or several with + between them.

    A file whose own name has a + is one trace.
    """
    text = str(path)
    if "+" not in text or path.exists():
        return [path]
    return [Path(each) for each in text.split("+")]


def merged(paths: Sequence[Path], surveys: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One survey of all; of several programs it says which threads are whose."""
    if len(surveys) == 1:
        return surveys[0]
    whole: dict[str, Any] = {
        name: sum(each[name] for each in surveys)
        for name in ("threads", "references", "instructions", "touched_bytes")
    }
    large = [each.get("large_bytes") for each in surveys]
    whole["large_bytes"] = None if None in large else sum(large)
    whole["cut_off"] = any(each["cut_off"] for each in surveys)
    whole["owners"] = [owner for each in surveys for owner in each["owners"]]
    whole["meta"] = surveys[0]["meta"]
    whole["programs"] = [
        {"trace": str(path), "threads": each["threads"]}
        for path, each in zip(paths, surveys, strict=True)
    ]
    return whole


def together(json: dict[str, Any], survey: dict[str, Any]) -> dict[str, Any]:
    """A simulation's configuration with all of a survey's programs in it."""
    if "programs" not in survey:
        return json
    shared = {name: value for name, value in json.items() if name != "trace"}
    shared["traces"] = [each["trace"] for each in survey["programs"]]
    shared["threads"] = [each["threads"] for each in survey["programs"]]
    return shared


def alone(json: dict[str, Any]) -> list[dict[str, Any]]:
    """Each program of a configuration by itself, on the same machine and on its own cores."""
    made = []
    first = 0
    for trace, threads in zip(json["traces"], json["threads"], strict=True):
        one = {name: value for name, value in json.items() if name != "traces"}
        cores = json["thread_cores"][first : first + threads]
        made.append({**one, "trace": trace, "threads": threads, "thread_cores": cores})
        first += threads
    return made
