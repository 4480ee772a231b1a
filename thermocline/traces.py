"""Traces through thermocline-trace, the native tool that reads and writes them."""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thermocline import frames, paths
from thermocline.errors import Misuse, ThermoclineError, one_line
from thermocline.notes import note

if TYPE_CHECKING:
    from pandas import DataFrame

PREFIX = "thermocline: "


@dataclass(frozen=True)
class TraceFile:
    """A trace and what it says of itself (`info`, as docs/trace-format.md lists it)."""

    path: Path
    described: dict[str, Any]

    @property
    def references(self) -> int:
        """Of all threads."""
        return int(self.described["references"])

    def frame(self) -> "DataFrame":
        """A row a thread; seconds since recording began."""
        columns = {
            "thread": frames.COUNT,
            "references": frames.COUNT,
            "begin_seconds": frames.NUMBER,
            "end_seconds": frames.NUMBER,
        }
        return frames.of(self.described["threads"], columns)

    def owners(self) -> "DataFrame":
        """A row for each site and other owner of data: every record is read and counted."""
        columns = {
            "key": frames.TEXT,
            "loads": frames.COUNT,
            "stores": frames.COUNT,
            "allocations": frames.COUNT,
        }
        return frames.of(info(self.path, count=True)["owners"], columns)


def tool() -> Path:
    """thermocline-trace."""
    return paths.library("thermocline-trace")


def call(*arguments: object) -> str:
    """Runs the tool and returns its standard output; what it notes we note."""
    program = tool()
    if not program.exists():
        raise ThermoclineError(f"{program} is missing: run make build, or set THERMOCLINE_PREFIX")
    command = [str(program), *(str(argument) for argument in arguments)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    lines = done.stderr.splitlines()
    if done.returncode == 0:
        for line in lines:
            note(line.removeprefix(PREFIX))
        return done.stdout
    said = one_line(lines[-1].removeprefix(PREFIX)) if lines else "thermocline-trace ended oddly"
    raise Misuse(said) if done.returncode == 2 else ThermoclineError(said)


def options(**given: object) -> Iterator[str]:
    """Of the tool, from Python's names; what is None or False is left out."""
    for name, value in given.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            yield option
        elif value is not None and value is not False:
            yield from (option, str(value))


def info(trace: Path, count: bool = False) -> dict[str, Any]:
    """A trace in numbers, as docs/trace-format.md lists them; with `count`, by owner."""
    found = json.loads(call("info", *(["--count"] if count else []), trace))
    assert isinstance(found, dict)
    return found
