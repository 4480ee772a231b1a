"""Traces through thermocline-trace, the native tool that reads and writes them."""

import json
import subprocess
from pathlib import Path
from typing import Any

from thermocline import paths
from thermocline.errors import Misuse, ThermoclineError, one_line
from thermocline.notes import note

PREFIX = "thermocline: "


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


def info(trace: Path, count: bool = False) -> dict[str, Any]:
    """A trace in numbers, as docs/trace-format.md lists them; with `count`, by owner."""
    found = json.loads(call("info", *(["--count"] if count else []), trace))
    assert isinstance(found, dict)
    return found
