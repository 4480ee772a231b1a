"""How far the simulator's times are from this host's clock, and the error bars made of it.

For each program e = ln(clock / predicted).  Nothing is fitted to the clock, so each error is one
of a program that the simulator had not seen.  With n programs and Student's t:

    time    90 % of programs lie within exp(+-t(0.95, n) * sqrt(mean of e^2)), which holds what all
            programs have in common (a bias) and what each has of its own
    ratio   exp(+-t(0.95, n - 1) * s), s the errors' standard deviation: what all programs have in
            common cancels in a ratio of two of one program's times.  That is no measurement of
            ratios, for which a host with one kind of memory has none to offer
"""

import math
import os
import platform
import re
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, ValidationError

from thermocline import files
from thermocline.errors import BadFile
from thermocline.validation import Strict, first_problem

if TYPE_CHECKING:
    from pandas import DataFrame

COVERAGE = 0.9
VARIABLE = "THERMOCLINE_CALIBRATION"
AGAIN = "run thermocline machine calibrate"


class Program(Strict):
    """One program, predicted and timed; seconds of one thread's processor time."""

    name: str
    arguments: list[str]
    references: int = Field(ge=1)
    instructions: int = Field(ge=1)  # of LLVM's intermediate code
    touched_bytes: int = Field(ge=1)
    predicted_seconds: float = Field(gt=0, allow_inf_nan=False)
    clock_seconds: float = Field(gt=0, allow_inf_nan=False)  # the median of the runs
    clock_spread: float = Field(ge=0, allow_inf_nan=False)  # half of all runs lie within +-this

    @property
    def error(self) -> float:
        """Natural logarithm of the clock's time over the predicted one."""
        return math.log(self.clock_seconds / self.predicted_seconds)


class Calibration(Strict):
    """What `machine calibrate` keeps of a host."""

    format: Literal["thermocline-calibration"] = "thermocline-calibration"
    version: Literal[1] = 1
    host: str
    cpu: str
    quick: bool
    machine: str  # the machine file that the predictions were made on, as text
    assumed: list[str]  # what neither hwloc nor the probe says of it
    programs: list[Program] = Field(min_length=3, max_length=1000)

    @property
    def bias(self) -> float:
        """Geometric mean of clock over predicted."""
        return math.exp(statistics.fmean(program.error for program in self.programs))

    @property
    def time_factor(self) -> float:
        """A time t is between t / factor and t * factor, 90 % of times."""
        return time_factor([program.error for program in self.programs])

    @property
    def ratio_factor(self) -> float:
        """The same for a ratio of two times of one program; not measured on ratios."""
        return ratio_factor([program.error for program in self.programs])

    @property
    def held(self) -> int:
        """Programs whose error lies in the bar that the other programs give."""
        errors = [program.error for program in self.programs]
        return sum(left_out(errors))

    def frame(self) -> "DataFrame":
        """A row a program."""
        from thermocline import frames

        columns = {
            "program": frames.TEXT,
            "arguments": frames.TEXT,
            "references": frames.COUNT,
            "instructions": frames.COUNT,
            "touched_bytes": frames.COUNT,
            "predicted_seconds": frames.NUMBER,
            "clock_seconds": frames.NUMBER,
            "clock_spread": frames.NUMBER,  # half of all runs lie within +- this part
            "clock_over_predicted": frames.NUMBER,
        }
        rows = (
            {
                **program.model_dump(),
                "program": program.name,
                "arguments": " ".join(program.arguments),
                "clock_over_predicted": program.clock_seconds / program.predicted_seconds,
            }
            for program in self.programs
        )
        return frames.of(rows, columns)


def summary(made: Calibration) -> dict[str, Any]:
    """A calibration in a few numbers, for --json."""
    return {
        "host": made.host,
        "quick": made.quick,
        "programs": len(made.programs),
        "held_by_the_others": made.held,
        "clock_over_predicted": made.bias,
        "coverage": COVERAGE,
        "time_factor": made.time_factor,
        "ratio_factor": made.ratio_factor,
    }


def time_factor(errors: Sequence[float]) -> float:
    """The half-width of a time's bar, as a factor from 1 on."""
    return math.exp(_student(len(errors)) * math.sqrt(statistics.fmean(e * e for e in errors)))


def ratio_factor(errors: Sequence[float]) -> float:
    """The half-width of a ratio's bar, as a factor from 1 on; of at least two errors."""
    return math.exp(_student(len(errors) - 1) * statistics.stdev(errors))


def left_out(errors: Sequence[float]) -> list[bool]:
    """For each program, whether the bar that all others give holds it."""
    others = [[*errors[:i], *errors[i + 1 :]] for i in range(len(errors))]
    return [
        abs(error) <= math.log(time_factor(rest))
        for error, rest in zip(errors, others, strict=True)
    ]


def _student(freedom: int) -> float:
    from scipy.stats import t

    return float(t.ppf((1 + COVERAGE) / 2, freedom))


def plus_minus(factor: float) -> str:
    """A bar as people read it: within a factor of 1.18 is +-18 %."""
    return f"±{100 * (factor - 1):.0f} %"


def place() -> Path:
    """This host's file; homes are shared between hosts, so that it bears the host's name."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen)
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", platform.node()).strip("._-")[:60] or "host"
    return Path(state) / "thermocline" / f"{name}.calibration.json"


def store(calibration: Calibration) -> Path:
    """Writes it where load() looks; replaces an earlier one."""
    path = place()
    path.parent.mkdir(parents=True, exist_ok=True)
    files.write_text(path, calibration.model_dump_json(indent=1) + "\n", force=True)
    return path


def load() -> Calibration | None:
    """This host's calibration; None if there is none."""
    path = place()
    if not path.exists():
        return None
    try:
        return Calibration.model_validate_json(files.read_text(path, 2**22))
    except ValidationError as error:
        problem = f"not a calibration: {first_problem(error)}"
        raise BadFile(path, f"{problem}: delete it or {AGAIN}") from error
