"""What address translation costs a real run, by the processor's own counters, through perf.

A miss of the second-level TLB is a page walk.  Processors count walks, and some count the cycles in
which a walker is at work; these are what Ryoo 2017 measured for its Figure 4.4 and Table 7.1.
"""

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thermocline import counters, frames
from thermocline.errors import ThermoclineError, one_line
from thermocline.frames import NUMBER, TEXT, YES
from thermocline.run import launch
from thermocline.simulation import additive

if TYPE_CHECKING:
    from pandas import DataFrame

BASE = ("cycles", "instructions")
INFORMATION = Path("/proc/cpuinfo")
_WALKERS = ("dtlb_load_misses", "dtlb_store_misses", "itlb_misses")


@dataclass(frozen=True)
class Events:
    """One kind of processors', by perf's names (its lists come from the vendors)."""

    processors: str
    misses: tuple[str, ...]
    cycles: tuple[str, ...] = ()  # of walkers at work; none: such processors don't count them

    @property
    def all(self) -> tuple[str, ...]:
        """To count together."""
        return (*BASE, *self.misses, *self.cycles)


def _intel(processors: str, cycles: str) -> Events:
    walks, busy = (tuple(f"{of}.{what}" for of in _WALKERS) for what in ("walk_completed", cycles))
    return Events(processors, walks, busy)


# The first whose events are all there counts.
EVENTS = (
    _intel("Intel, Skylake and later", "walk_active"),
    _intel("Intel, Haswell and Broadwell", "walk_duration"),
    Events(
        "AMD, Zen 4 and later", ("ls_l1_d_tlb_miss.all_l2_miss", "bp_l1_tlb_miss_l2_tlb_miss.all")
    ),
    Events("AMD, Zen to Zen 3", ("l2_dtlb_misses", "l2_itlb_misses")),
    Events(
        "Arm, with cycles of walks",
        ("dtlb_walk", "itlb_walk"),
        ("dtlb_walk_percyc", "itlb_walk_percyc"),
    ),
    Events("Arm", ("dtlb_walk", "itlb_walk")),
)


@dataclass(frozen=True)
class Cost:
    """Of one run, all its processes together."""

    instructions: float
    cycles: float
    misses: float
    walk_cycles: float | None  # None: the processor does not count them
    counted_share: float  # of the run, in which the counters were at it; the rest is extrapolated

    @property
    def misses_per_kinstr(self) -> float:
        """Of the second-level TLB."""
        return 1000 * self.misses / self.instructions if self.instructions else 0.0

    @property
    def cycles_per_miss(self) -> float | None:
        """What the thesis' Figure 4.4 shows."""
        if self.walk_cycles is None or not self.misses:
            return None
        return self.walk_cycles / self.misses

    @property
    def share_of_time(self) -> float | None:
        """What the thesis' Table 7.1 calls the overhead."""
        return None if self.walk_cycles is None else self.walk_cycles / self.cycles

    @property
    def bound(self) -> float | None:
        """By how much faster the run would be if translation cost nothing."""
        share = self.share_of_time
        return None if share is None or share >= 1 else additive.bound(share)

    def improvement(self, penalty: float) -> float | None:
        """By how much faster if each miss took so many cycles (equation 7.4)."""
        if self.walk_cycles is None or self.walk_cycles >= self.cycles:
            return None
        made = additive.Counters(self.instructions, self.cycles, self.misses, self.walk_cycles)
        return made.improvement(penalty)


COLUMNS = {
    "processors": TEXT,
    "virtual": YES,
    "cycles": NUMBER,
    "instructions": NUMBER,
    "misses": NUMBER,  # of the second-level TLB
    "walk_cycles": NUMBER,
    "misses_per_kinstr": NUMBER,
    "cycles_per_miss": NUMBER,
    "share_of_time": NUMBER,
    "bound": NUMBER,  # by how much faster, if translation cost nothing
    "counted_share": NUMBER,
}


@dataclass(frozen=True)
class Measured:
    """A run's cost, and how the command ended, as a shell would say it."""

    events: Events
    virtual: bool
    cost: Cost
    status: int

    def to_json(self, penalty: float | None = None) -> dict[str, Any]:
        """One object; `penalty`: cycles of a miss, what if."""
        cost = self.cost
        found: dict[str, Any] = {
            "status": self.status,
            "events": list(self.events.all),
            "processors": self.events.processors,
            "virtual": self.virtual,
            **asdict(cost),
            "misses_per_kinstr": cost.misses_per_kinstr,
            "cycles_per_miss": cost.cycles_per_miss,
            "share_of_time": cost.share_of_time,
            "bound": cost.bound,
        }
        if penalty is not None:
            found |= {"penalty": penalty, "improvement": cost.improvement(penalty)}
        return found

    def frame(self, penalty: float | None = None) -> "DataFrame":
        """One row, as in `to_json`; counts are numbers, because counters that take turns guess."""
        given = {} if penalty is None else {"penalty": NUMBER, "improvement": NUMBER}
        return frames.of([self.to_json(penalty)], {**COLUMNS, **given})


def is_virtual(information: Path = INFORMATION) -> bool:
    """Whether this host is a guest, so that its walks are nested."""
    try:
        text = information.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return any(
        line.startswith("flags") and "hypervisor" in line.split() for line in text.splitlines()
    )


def find() -> Events:
    """What this host counts; an error says what it lacks."""
    if shutil.which("perf") is None:
        raise ThermoclineError("perf is missing: apt install linux-perf")
    said = ""
    for events in EVENTS:
        done = subprocess.run(
            ["perf", "stat", *_listed(events), "--", "true"],
            capture_output=True, text=True, errors="replace", check=False,
        )  # fmt: skip
        if done.returncode == 0 and "<not supported>" not in done.stderr:
            return events
        said += done.stderr
    if "paranoid" in said or "ermission" in said:
        raise ThermoclineError(
            "the kernel does not permit counting: as root, sysctl kernel.perf_event_paranoid=2"
        )
    where = "this virtual machine passes" if is_virtual() else "this processor has"
    raise ThermoclineError(
        f"{where} no counters of TLB misses and page walks that perf knows: run it on the bare"
        " processor, or let thermocline simulate --translation predict the cost from a trace"
    )


def measure(events: Events, command: Sequence[str], scratch: Path, aside: bool = False) -> Measured:
    """Runs the command under the counters; `aside`: its output goes to stderr."""
    if shutil.which(command[0]) is None:
        raise ThermoclineError(f"can't run {one_line(command[0])}: no such program")
    counts, status = scratch / "counts", scratch / "status"
    # perf stat ends with 0 if a signal ended the command: a shell tells.
    tell = '"$@"; echo $? >"$0"'
    stat = ["perf", "stat", "-x", ";", "-o", str(counts), *_listed(events), "--"]
    done = launch.launch([*stat, "sh", "-c", tell, str(status), *command], None, aside)
    if not counts.exists():
        raise ThermoclineError(f"perf stat failed with status {done.status}")
    cost = parse(events, counts.read_text(encoding="utf-8", errors="replace"))
    ended = status.read_text(encoding="ascii").strip() if status.exists() else ""
    code = int(ended) if ended.isdecimal() else done.status or 1
    return Measured(events, is_virtual(), cost, code)


def parse(events: Events, answer: str) -> Cost:
    """From what `perf stat -x ';'` wrote."""
    found = counters.counts(answer)
    for event in events.all:
        if event not in found:
            raise ThermoclineError(f"perf says nothing of {event}")
    cycles, instructions = (found[event].value for event in BASE)
    if min(cycles, instructions) <= 0:
        raise ThermoclineError("perf counted no cycles: the command ran too shortly")
    walk_cycles = sum(found[event].value for event in events.cycles) if events.cycles else None
    return Cost(
        instructions,
        cycles,
        sum(found[event].value for event in events.misses),
        walk_cycles,
        min(found[event].share for event in events.all),
    )


def _listed(events: Events) -> list[str]:
    return [word for event in events.all for word in ("-e", event)]
