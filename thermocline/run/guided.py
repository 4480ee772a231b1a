"""Runs a command with each site's data in its planned tier."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from thermocline.errors import Misuse, ThermoclineError
from thermocline.machine import store
from thermocline.machine.model import Machine
from thermocline.notes import note
from thermocline.planning import capacity as capacities
from thermocline.planning.model import Plan
from thermocline.run import config, launch, memory, report, summary
from thermocline.run.config import Setting
from thermocline.run.launch import Outcome
from thermocline.run.preload import context_of
from thermocline.run.report import RunReport
from thermocline.run.summary import Run


@dataclass(frozen=True)
class Ran:
    """A run, its tiers, and how it ended; there are no reports where no program was guided."""

    setting: Setting
    context: int | None  # of a preloaded run
    reports: list[RunReport]
    outcome: Outcome
    summary: Run


def check(trace: bool, preload: bool) -> None:
    """Refuses what does not go together."""
    if preload and trace:
        raise Misuse("--trace records annotated code: leave it out with --preload")


def setting_of(plan: Plan, host: Machine, named: bool, capacity: str | None = None) -> Setting:
    """The tiers of a run by this plan.

    `named`: the user named the machine; else it is the host, and modelled tiers are those of the
    plan's machine.  `capacity`: of tier 0, in place of the plan's, or `all`.
    """
    plan_machine = None
    if named:
        plan_machine = host
    elif plan.machine:
        try:
            plan_machine = store.find(plan.machine)
        except ThermoclineError:
            plan_machine = None  # the plan came from elsewhere; its tiers suffice
    limit: int | None = plan.capacity_bytes or None
    if capacity == "all":
        limit = None
    elif capacity is not None:
        asked = capacities.parse(capacity)
        if asked.share is not None and not plan.peak_resident_bytes:
            raise Misuse(f"--capacity {capacity} needs a plan made from a profile: give bytes")
        limit = asked.of(plan.peak_resident_bytes)
    setting = config.tiers_for(plan, host, plan_machine, limit)
    config.check_nodes(setting)
    return setting


def run(
    command: Sequence[str],
    plan: Plan,
    setting: Setting,
    trace: bool = False,
    preload: bool = False,
    context: int | None = None,
    aside: bool = False,
) -> Ran:
    """Runs the command; `trace`: each tier's traffic is recorded, which is slower.

    `aside`: the command's output goes to stderr.
    """
    check(trace, preload)
    callers = context_of(preload, context, plan.preload_context)
    with tempfile.TemporaryDirectory(prefix="thermocline-run-") as scratch:
        file = Path(scratch) / "config"
        text = config.for_run(Path(scratch) / "report", plan, setting, trace, callers)
        file.write_text(text, encoding="utf-8")
        outcome = launch.launch(command, file, aside, callers, memory.environment(setting))
        reports, complaints = report.gather(Path(scratch))
    if callers is not None:
        reports = report.with_readable_sites(reports, plan, callers)
    for line in [*complaints, outcome.text]:
        if line:
            note(line)
    made = summary.of(plan, setting, reports, outcome.status)
    return Ran(setting, callers, reports, outcome, made)
