"""The sentence a user wants: what the schemes would give, and what to set to have the best."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from thermocline.machine.model import Machine
from thermocline.simulation.comparison import Answer, Row, baseline_of
from thermocline.simulation.scheme import Scheme

Manager = Literal["plan", "hardware", "system", "money"]


@dataclass(frozen=True)
class Advice:
    """Of one trace at one capacity."""

    sentence: str
    setting: str  # how to have the best that this machine can do; empty: nothing to set


def advise(
    answers: Sequence[Answer], against: str, machine: Machine, bar: str, command: Sequence[str]
) -> Advice | None:
    """What answers say beside their baseline; None if there is nothing else.

    `answers` are of one trace and one capacity; `bar` is a ratio's error bar in words.
    """
    base = baseline_of(answers[0], answers, against)
    best: dict[Manager, Answer] = {}
    for answer in answers:
        manager = _manager(answer.row.scheme)
        if answer is not base and (manager not in best or answer.seconds < best[manager].seconds):
            best[manager] = answer
    if not best:
        return None
    clauses: list[str] = []
    for manager in ("plan", "hardware", "system", "money"):
        if manager in best:
            first = not clauses
            clauses.append(
                f"{_words(manager, best[manager].row, machine)}{' would give' if first else ''}"
                f" {base.seconds / best[manager].seconds:.2f}x"
                + (f" ({bar}) over {against}" if first else "")
            )
    able = [base, *(answer for manager, answer in best.items() if manager != "money")]
    winner = min(able, key=lambda answer: answer.seconds)
    if winner is base:
        return Advice("; ".join(clauses), f"nothing: {against} is the best of these")
    return Advice("; ".join(clauses), _setting(winner.row, machine, command))


def _manager(scheme: Scheme) -> Manager:
    """Who decides where data goes; all-fast takes more near memory than the machine may have."""
    if scheme.unlimited:
        return "money"
    if scheme.guided:
        return "plan"
    return "system" if scheme.organisation.name == "flat" else "hardware"


def _words(manager: Manager, row: Row, machine: Machine) -> str:
    near = machine.tier[0].name
    if manager == "money":
        return f"all data in {near}"
    placement = row.scheme.placement
    if manager == "system" and placement.name == "one-tier":
        return f"all data in {machine.tier[int(str(placement.options.get('tier', 0)))].name}"
    if row.capacity.endswith("%"):
        near += f" for {row.capacity[:-1]} % of the data"
    elif row.capacity:
        near = f"{row.capacity} of {near}"
    if manager == "plan":
        return f"{near}, placed by {row.strategy},"
    return f"{near}, managed by the {manager} ({row.label}),"


def _setting(row: Row, machine: Machine, command: Sequence[str]) -> str:
    """The command, or the firmware's mode, that a scheme means."""
    scheme = row.scheme
    if row.plan and scheme.guided:
        return shlex.join(["thermocline", "run", "--plan", row.plan, "--", *command])
    if scheme.organisation.name == "memory-cache":
        whole = scheme.organisation.options.get("share", 1) == 1
        return _cache_mode(machine, whole)
    if scheme.organisation.name != "flat":
        return f"nothing yet: {scheme.organisation.name} is proposed hardware"
    if scheme.placement.name == "interleave":
        return shlex.join(["numactl", "--interleave=all", *command])
    if scheme.placement.name == "one-tier":
        tier = machine.tier[int(str(scheme.placement.options.get("tier", 0)))]
        nodes = ",".join(map(str, tier.nodes)) or "NODE"
        return shlex.join(["numactl", f"--membind={nodes}", *command])
    return f"nothing yet: {scheme.placement.name} placement is not the kernel's own"


def _cache_mode(machine: Machine, whole: bool) -> str:
    """How a machine is told to use near memory as a cache."""
    near, far = machine.tier[0], machine.tier[-1]
    if near.kind == "MCDRAM":
        return f"memory mode {'cache' if whole else 'hybrid'}, in the firmware"
    if far.kind == "NVM":
        return "ipmctl create -goal MemoryMode=100, then restart"
    return f"{near.name} as a cache of {far.name}, if the firmware has that mode"
