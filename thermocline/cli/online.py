"""thermocline run --online."""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thermocline.methods.base import Method
    from thermocline.planning.model import Plan
    from thermocline.run.config import Setting
    from thermocline.run.launch import Outcome
    from thermocline.run.online import Guided


@dataclass(frozen=True)
class Online:
    """What is to be guided while it runs."""

    command: list[str]
    plan: "Plan"
    setting: "Setting"
    method: "Method"
    aside: bool
    context: int | None  # of a preloaded run


def choose(name: str | None, preload: bool, verb: str = "--online") -> "Method":
    """The method that measures while the program runs."""
    from thermocline import methods
    from thermocline.cli import output
    from thermocline.errors import Misuse, ThermoclineError
    from thermocline.methods import auto

    if name is None or name == "auto":
        found = auto.best(auto.PRELOAD_ONLINE if preload else auto.ONLINE)
        output.note(found.why)
        return found.method
    if name not in (*auto.ONLINE, "trace"):
        raise Misuse(f"{verb} measures by {', '.join(auto.ONLINE)} or trace, not by {name}")
    method = methods.find(name)
    if lacks := method.lacks():
        raise ThermoclineError(f"--method {name} does not work here: {lacks}")
    return method


def guide(wanted: Online) -> "tuple[Outcome, dict[int, Guided], dict[int, dict[str, Any]]]":
    """Runs the command; what was decided, and what the runtime says it moved, by process."""
    from thermocline.cli import output
    from thermocline.methods.base import Request
    from thermocline.run import config, launch, online

    machine = wanted.setting.machine
    with tempfile.TemporaryDirectory(prefix="thermocline-online-") as name:
        scratch = Path(name)
        prefix = scratch / "run"
        request = Request(
            *(wanted.command, prefix, machine, scratch),
            aside=wanted.aside,
            context=wanted.context,
        )
        lines = wanted.method.directives(request)
        file = scratch / "config"
        text = config.for_online(prefix, wanted.plan, wanted.setting, lines, wanted.context)
        file.write_text(text, encoding="utf-8")
        guide = online.Guide(prefix, machine, wanted.setting, wanted.plan)
        try:
            outcome = launch.launch(wanted.command, file, wanted.aside, wanted.context)
        finally:
            guide.finish()
    for complaint in dict.fromkeys(guide.complaints):
        output.note(complaint)
    moved = {
        pid: guided.last.online if guided.last and guided.last.online else {}
        for pid, guided in guide.processes.items()
    }
    return outcome, guide.processes, moved


def as_json(
    outcome: "Outcome", guided: "dict[int, Guided]", moved: dict[int, dict[str, Any]]
) -> dict[str, Any]:
    """One object; moves as they were decided, `online` as the runtime carried them out."""
    return {
        "format": "thermocline-online-summary",
        "version": 1,
        "status": outcome.status,
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
                "online": moved[pid],
            }
            for pid, each in guided.items()
        ],
    }


def show(wanted: Online, guided: "dict[int, Guided]", moved: dict[int, dict[str, Any]]) -> None:
    """A table of processes, and what to do next."""
    from thermocline import units
    from thermocline.cli import output

    column = output.Column
    print()
    output.table(
        [
            column("process"),
            column("plans", True),
            column("sites moved", True),
            column("bytes moved", True),
            column("time to move", True),
            column("heap traffic of tier 0", True),
        ],
        [
            [
                f"{each.last.program if each.last else '?'} ({pid})",
                str(moved[pid].get("plans", 0)),
                str(moved[pid].get("moves", 0)),
                units.format_bytes(moved[pid].get("moved_bytes", 0)),
                f"{1e3 * moved[pid].get('moving_seconds', 0.0):.3g} ms",
                units.format_share(each.fast_share),
            ]
            for pid, each in sorted(guided.items())
        ],
    )
    for pid, each in sorted(guided.items()):
        for at, move in each.moves:
            gain = f"it saves {units.format_share(move.gain_share)} of the memory time"
            why = "tier 0 held more than it may" if move.forced else gain
            print(f"{pid} at {at:.3g} s: {units.format_bytes(move.moved_bytes)} to move: {why}")
    if wanted.setting.modelled:
        output.note(
            "this host has too few kinds of memory for the plan: tiers are modelled, all data "
            "stays where it is"
        )
    output.next_step("thermocline", "profile", "--", *wanted.command)
