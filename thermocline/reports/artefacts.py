"""Any of our files, told by what is in it."""

import json
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from thermocline.errors import BadFile, Misuse
from thermocline.files import read_text
from thermocline.planning import model as plan_model
from thermocline.planning.model import Plan
from thermocline.profiles import model as profile_model
from thermocline.profiles.model import Profile
from thermocline.run.summary import Run
from thermocline.validation import first_problem

Positive = Annotated[float, Field(gt=0, le=1e18, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1)]

KINDS = (
    "give profiles, plans, or what 'simulate -o' and 'run -o' wrote (of a trace: simulate it first)"
)


class Open(BaseModel):
    """A later version may add keys."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Result(Open):
    """What a simulation came to."""

    seconds: Positive


class Row(Open):
    """One scheme at one capacity."""

    trace: str
    scheme: str
    capacity: str | None = None
    speedup: Positive
    speedup_range: tuple[Positive, Positive] | None = None
    relative_energy_delay: Positive | None = None
    near_share: Share | None = None
    result: Result


class Advice(Open):
    """The sentence that a simulation ended with, and how to set it."""

    sentence: str
    set: str = ""


class Simulation(Open):
    """What `thermocline simulate -o` writes."""

    baseline: str
    advice: list[Advice] = []
    rows: list[Row] = Field(min_length=1, max_length=10_000)


@dataclass
class Artefacts:
    """What was given, each with its file's name, in the order of the command line."""

    profiles: list[tuple[str, Profile]] = field(default_factory=list)
    plans: list[tuple[str, Plan]] = field(default_factory=list)
    simulations: list[tuple[str, Simulation]] = field(default_factory=list)
    runs: list[tuple[str, Run]] = field(default_factory=list)

    def add(self, more: "Artefacts") -> None:
        """Those after ours."""
        self.profiles += more.profiles
        self.plans += more.plans
        self.simulations += more.simulations
        self.runs += more.runs


def load(paths: Sequence[Path]) -> Artefacts:
    """Reads them all; BadFile where one is none of ours."""
    found = Artefacts()
    for path in paths:
        text = read_text(path, errors="replace")
        start = text.lstrip()[:1]
        if start == "{":
            _add_json(found, path, text)
        elif _is_plan(text):
            found.plans.append((str(path), plan_model.parse(text, path)))
        else:
            raise Misuse(f"{path}: not an artefact that a report is made from: {KINDS}")
    return found


def _is_plan(text: str) -> bool:
    try:
        return "strategy" in tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return False


def _add_json(found: Artefacts, path: Path, text: str) -> None:
    name = str(path)
    # Only a profile says so near its beginning; it is large, and parsed once.
    if '"thermocline-profile"' in text[:400]:
        found.profiles.append((name, profile_model.parse(text, path)))
        return
    try:
        table: dict[str, Any] = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadFile(path, f"not JSON: {error}") from error
    try:
        if table.get("format") == "thermocline-run-summary":
            found.runs.append((name, Run.model_validate(table)))
        elif "baseline" in table and "rows" in table:
            found.simulations.append((name, Simulation.model_validate(table)))
        else:
            raise Misuse(f"{path}: not an artefact that a report is made from: {KINDS}")
    except ValidationError as error:
        raise BadFile(path, f"not what was written: {first_problem(error)}") from error
