"""What a run left, all processes together: what `run` prints as JSON and writes with -o."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, ValidationError

from thermocline import files, frames
from thermocline.errors import BadFile
from thermocline.frames import COUNT, MAYBE, TEXT
from thermocline.planning.model import Plan
from thermocline.run import report
from thermocline.run.config import Setting
from thermocline.run.report import Count, Open, RunReport
from thermocline.validation import first_problem

if TYPE_CHECKING:
    from pandas import DataFrame

Share = Annotated[float, Field(ge=0, le=1)]


COLUMNS = {
    "pid": COUNT,
    "program": TEXT,
    "tier": COUNT,
    "name": TEXT,
    "capacity_bytes": COUNT,  # of the heap; 0: no limit
    "peak_resident_bytes": COUNT,
    "resident_bytes": COUNT,
    "spilled_bytes": COUNT,
    "read_bytes": MAYBE,
    "write_bytes": MAYBE,
    "traffic_bytes": MAYBE,
}


class TierLimit(Open):
    """A tier's name, its nodes (none: modelled) and what it was allowed to hold (0: no limit)."""

    name: str
    nodes: list[int] = Field(default=[])
    capacity_bytes: Count = 0


class Run(Open):
    """A guided run of a command; `status` is as a shell would give it."""

    format: Literal["thermocline-run-summary"] = "thermocline-run-summary"
    version: Literal[1] = 1
    strategy: str = ""
    status: int = 0
    tiers: list[TierLimit] = Field(min_length=1, max_length=8)
    placement: Literal["modelled", "host"] = "host"
    caches_of: str = ""  # the machine whose caches were modelled
    fast_traffic_share: Share | None = None  # None where no trace ran
    never_came: list[str] = Field(default=[])  # planned sites that no process reached
    unplanned: list[str] = Field(default=[])  # sites that came, which the plan does not name
    processes: list[RunReport] = Field(default=[])

    def frame(self) -> "DataFrame":
        """A row for each tier of each process; traffic is missing where no trace ran."""
        return frames.of(
            (
                {
                    "pid": process.pid,
                    "program": process.program,
                    "name": self.tiers[tier.tier].name if tier.tier < len(self.tiers) else None,
                    "traffic_bytes": tier.traffic_bytes,
                    **tier.model_dump(),
                }
                for process in self.processes
                for tier in process.tiers
            ),
            COLUMNS,
        )

    def save(self, path: Path | str, force: bool = False) -> None:
        """Writes it, for `thermocline report`."""
        files.refuse_overwrite(Path(path), force)
        files.write_json(Path(path), self.model_dump(mode="json"))


def load(path: Path) -> Run:
    """Reads what `save` and `run -o` write."""
    try:
        return Run.model_validate_json(files.read_text(path, errors="replace"))
    except ValidationError as error:
        raise BadFile(path, f"not a run's summary: {first_problem(error)}") from error


def of(plan: Plan, setting: Setting, reports: Sequence[RunReport], status: int) -> Run:
    """From the processes' reports."""
    return Run(
        strategy=plan.strategy,
        status=status,
        tiers=[
            TierLimit(name=tier.name, nodes=list(tier.nodes), capacity_bytes=tier.limit or 0)
            for tier in setting.tiers
        ],
        placement="modelled" if setting.modelled else "host",
        caches_of=setting.machine.name,
        fast_traffic_share=report.fast_share(reports),
        never_came=sorted(report.never_came(reports)),
        unplanned=sorted(report.unplanned(reports)),
        processes=list(reports),
    )
