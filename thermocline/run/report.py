"""The runtime's reports of a guided run, one a process, and what they add up to."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from thermocline.errors import BadFile, ThermoclineError
from thermocline.files import read_text
from thermocline.planning.model import Plan
from thermocline.sites import callpath
from thermocline.validation import first_problem

Count = Annotated[int, Field(ge=0, lt=2**63)]


class Open(BaseModel):
    """A later version may add keys."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class TierReport(Open):
    """One tier of one process."""

    tier: Annotated[int, Field(ge=0, lt=64)]
    nodes: list[int] = []
    capacity_bytes: Count = 0
    peak_resident_bytes: Count
    resident_bytes: Count = 0
    spilled_bytes: Count = 0
    read_bytes: Count | None = None
    write_bytes: Count | None = None

    @property
    def traffic_bytes(self) -> int | None:
        """Bytes moved, where the trace sampler ran."""
        if self.read_bytes is None or self.write_bytes is None:
            return None
        return self.read_bytes + self.write_bytes


class HugeReport(Open):
    """Memory of sites that the plan marks huge, when most of it was there."""

    resident_bytes: Count
    huge_page_bytes: Count  # of these, in huge pages (the kernel's AnonHugePages)


class SiteReport(Open):
    """How well plan and program fit together."""

    planned: int = 0
    reached: int = 0
    never_came: list[str] = []
    unplanned: list[str] = []


class Module(Open):
    """What a raw call path calls by `name`."""

    name: str
    path: str


class RunReport(Open):
    """One process."""

    format: Literal["thermocline-run"]
    version: Literal[1]
    pid: int
    command: list[str] = []
    wall_seconds: float = 0.0
    heap: str = "guided"
    stepped_aside: str | None = None
    peak_resident_bytes: Count
    tiers: list[TierReport]
    huge: HugeReport | None = None  # None: no site was to be
    sites: SiteReport = SiteReport()
    notes: list[str] = []
    modules: list[Module] = []  # of a preloaded run

    @property
    def program(self) -> str:
        """A short name."""
        return Path(self.command[0]).name if self.command else "?"


def load(path: Path) -> RunReport:
    """Reads one report."""
    try:
        return RunReport.model_validate(json.loads(read_text(path, errors="replace")))
    except ValidationError as error:
        raise BadFile(path, f"not a run report: {first_problem(error)}") from error
    except (ValueError, RecursionError) as error:
        raise BadFile(path, f"not a run report: {error}") from error


def gather(directory: Path) -> tuple[list[RunReport], list[str]]:
    """All reports, by process, and complaints about those that can't be read.

    The command has run by now: a broken report must not hide how it ended.
    """
    reports, complaints = [], []
    for path in sorted(directory.glob("report.*.json")):
        try:
            reports.append(load(path))
        except ThermoclineError as error:
            complaints.append(str(error))
    return sorted(reports, key=lambda report: report.pid), complaints


def with_readable_sites(reports: Sequence[RunReport], plan: Plan, context: int) -> list[RunReport]:
    """A preloaded run's, whose processes report raw call paths."""
    raw = {path for report in reports for path in report.sites.unplanned}
    modules = {module.name: module.path for report in reports for module in report.modules}
    named = callpath.name_all(raw, modules, context)
    readable = []
    for report in reports:
        gone = set(report.sites.never_came)
        never = [site.key for site in plan.sites if {site.key, *site.paths} <= gone]
        new = {named[path].key if path in named else path for path in report.sites.unplanned}
        sites = SiteReport(
            planned=len(plan.sites),
            reached=len(plan.sites) - len(never),
            never_came=never,
            unplanned=sorted(new),
        )
        readable.append(report.model_copy(update={"sites": sites, "modules": []}))
    return readable


def fast_share(reports: Sequence[RunReport]) -> float | None:
    """Share of all processes' traffic that tier 0 served; None where no trace ran."""
    total = fast = 0
    for report in reports:
        for tier in report.tiers:
            if tier.traffic_bytes is None:
                return None
            total += tier.traffic_bytes
            fast += tier.traffic_bytes if tier.tier == 0 else 0
    return fast / total if total else None


def never_came(reports: Sequence[RunReport]) -> set[str]:
    """Planned sites that no process reached."""
    sets = [set(report.sites.never_came) for report in reports]
    return set.intersection(*sets) if sets else set()


def unplanned(reports: Sequence[RunReport]) -> set[str]:
    """Sites that came, which the plan does not name."""
    return {key for report in reports for key in report.sites.unplanned}
