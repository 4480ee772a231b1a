"""Guides a command while it runs: measures meanwhile, and moves data when that pays."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thermocline import frames, methods
from thermocline.errors import Misuse, ThermoclineError
from thermocline.methods import auto
from thermocline.methods.base import Method, Request
from thermocline.notes import note
from thermocline.planning.model import Plan
from thermocline.run import config, launch, online
from thermocline.run.config import Setting
from thermocline.run.launch import Outcome
from thermocline.run.online import Guided

if TYPE_CHECKING:
    from pandas import DataFrame

COLUMNS = {
    "pid": frames.COUNT,
    "program": frames.TEXT,
    "seconds": frames.NUMBER,  # since the process began
    "bytes": frames.COUNT,
    "forced": frames.YES,  # tier 0 held more than it may
    "gain_share": frames.NUMBER,  # of the memory time
    "cost_seconds": frames.NUMBER,
}


@dataclass(frozen=True)
class OnlineRun:
    """What was decided of each process, and what the runtime says it moved, by process."""

    outcome: Outcome
    processes: dict[int, Guided]
    moved: dict[int, dict[str, Any]]

    def to_json(self) -> dict[str, Any]:
        """One object; moves as they were decided, `online` as the runtime carried them out."""
        return {
            "format": "thermocline-online-summary",
            "version": 1,
            "status": self.outcome.status,
            "processes": [
                {
                    "pid": pid,
                    "program": each.last.program if each.last else "?",
                    "fast_traffic_share": each.fast_share,
                    "tiers": each.replanner.tiers,
                    "moves": [
                        {
                            "seconds": at,
                            "bytes": move.moved_bytes,
                            "forced": move.forced,
                            "gain_share": move.gain_share,
                            "cost_seconds": move.cost_seconds,
                        }
                        for at, move in each.moves
                    ],
                    "online": self.moved[pid],
                }
                for pid, each in self.processes.items()
            ],
        }

    @property
    def status(self) -> int:
        """How the command ended, as a shell would give it."""
        return self.outcome.status

    def frame(self) -> "DataFrame":
        """A row for each move that was decided."""
        rows = (
            {"pid": process["pid"], "program": process["program"], **move}
            for process in self.to_json()["processes"]
            for move in process["moves"]
        )
        return frames.of(rows, COLUMNS)


def choose(name: str | None, preload: bool, verb: str = "--online") -> Method:
    """The method that measures while the program runs."""
    if name is None or name == "auto":
        found = auto.best(auto.PRELOAD_ONLINE if preload else auto.ONLINE)
        note(found.why)
        return found.method
    if name not in (*auto.ONLINE, "trace"):
        raise Misuse(f"{verb} measures by {', '.join(auto.ONLINE)} or trace, not by {name}")
    method = methods.find(name)
    if lacks := method.lacks():
        raise ThermoclineError(f"--method {name} does not work here: {lacks}")
    return method


def run(
    command: Sequence[str],
    plan: Plan,
    setting: Setting,
    method: Method,
    context: int | None = None,
    aside: bool = False,
) -> OnlineRun:
    """Runs the command, beginning with the plan; `context`: of a preloaded run.

    `aside`: its output goes to stderr.
    """
    machine = setting.machine
    with tempfile.TemporaryDirectory(prefix="thermocline-online-") as name:
        scratch = Path(name)
        prefix = scratch / "run"
        request = Request(command, prefix, machine, scratch, aside=aside, context=context)
        file = scratch / "config"
        text = config.for_online(prefix, plan, setting, method.directives(request), context)
        file.write_text(text, encoding="utf-8")
        guide = online.Guide(prefix, machine, setting, plan)
        try:
            outcome = launch.launch(command, file, aside, context)
        finally:
            guide.finish()
    for complaint in dict.fromkeys(guide.complaints):
        note(complaint)
    if outcome.text:
        note(outcome.text)
    moved = {
        pid: guided.last.online if guided.last and guided.last.online else {}
        for pid, guided in guide.processes.items()
    }
    return OnlineRun(outcome, guide.processes, moved)
