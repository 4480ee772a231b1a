"""Guides running processes: reads their profiles now and then, and writes what is to move.

The runtime's half is runtime/online.  Profiles are PREFIX.PID.profile, moves PREFIX.PID.moves.
"""

import threading
from dataclasses import dataclass, field
from pathlib import Path

from thermocline import files
from thermocline.errors import ThermoclineError
from thermocline.machine.model import Machine
from thermocline.planning.model import Plan
from thermocline.planning.replan import Interval, Move, Replanner
from thermocline.profiles import model
from thermocline.profiles.model import Profile
from thermocline.run.config import Setting, tier_lines

POLL_SECONDS = 0.1


@dataclass
class Guided:
    """One process, so far."""

    replanner: Replanner
    last: Profile | None = None
    stamp: tuple[int, int] = (0, 0)
    moves: list[tuple[float, Move]] = field(default_factory=list)  # and when, seconds
    served: list[int] = field(default_factory=list)  # bytes of heap traffic, by tier

    @property
    def fast_share(self) -> float | None:
        """Of the heap's traffic; None before there was any."""
        return self.served[0] / sum(self.served) if sum(self.served) else None


def intervals(before: Profile | None, after: Profile) -> tuple[float, dict[str, Interval]]:
    """What each site did between two profiles of a run, and how many seconds that took."""
    old = {site.key: site for site in before.heap} if before else {}
    found = {}
    for site in after.heap:
        known = old.get(site.key)
        reads, writes = (known.read_bytes, known.write_bytes) if known else (0, 0)
        resident = site.series.resident_bytes
        found[site.key] = Interval(
            max(0, site.read_bytes - reads),
            max(0, site.write_bytes - writes),
            resident[-1] if resident else site.bytes,
        )
    seconds = after.wall_seconds - (before.wall_seconds if before else 0.0)
    return max(seconds, 1e-6), found


def step(guided: Guided, found: Profile) -> Move | None:
    """A process's newer profile: what should move now."""
    seconds, sites = intervals(guided.last, found)
    guided.last = found
    for key, site in sites.items():
        guided.served[guided.replanner.tier_of(key)] += site.read_bytes + site.write_bytes
    move = guided.replanner.observe(seconds, sites)
    if move is not None:
        guided.moves.append((found.wall_seconds, move))
    return move


class Guide:
    """Follows every process of a prefix from a thread of its own until finish()."""

    def __init__(self, prefix: Path, machine: Machine, setting: Setting, plan: Plan) -> None:
        self._prefix = prefix
        self._machine = machine
        self._setting = setting
        self._plan = plan
        self.processes: dict[int, Guided] = {}
        self.complaints: list[str] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="online", daemon=True)
        self._thread.start()

    def new_process(self) -> Guided:
        """As the plan has it."""
        limit = self._setting.tiers[0].limit
        room = self._machine.tier[0].capacity_bytes if limit is None else limit
        if self._plan.nonheap_tier == 0:
            room = max(0, room - self._plan.nonheap_bytes)
        tiers = {site.key: site.tier for site in self._plan.sites}
        replanner = Replanner(self._machine, room, tiers, self._plan.default_tier)
        return Guided(replanner, served=[0] * len(self._machine.tier))

    def finish(self) -> None:
        """After the command has ended."""
        self._stop.set()
        self._thread.join()
        self._look(last=True)

    def _follow(self) -> None:
        while not self._stop.wait(POLL_SECONDS):
            self._look()

    def _look(self, last: bool = False) -> None:
        for path in sorted(self._prefix.parent.glob(f"{self._prefix.name}.*.profile")):
            pid = path.name.removeprefix(f"{self._prefix.name}.").removesuffix(".profile")
            if pid.isdecimal():
                try:
                    self._look_at(int(pid), path, last)
                except ThermoclineError as error:  # the program goes on as it is
                    self.complaints.append(str(error))

    def _look_at(self, pid: int, path: Path, last: bool) -> None:
        guided = self.processes.setdefault(pid, self.new_process())
        status = path.stat()
        stamp = status.st_ino, status.st_mtime_ns
        if stamp == guided.stamp:
            return
        guided.stamp = stamp
        move = step(guided, model.load(path))
        if move is not None and not last:
            text = moves_text(self._setting, self._plan, move.tiers)
            files.write_text(path.with_suffix(".moves"), text, force=True)


def moves_text(setting: Setting, plan: Plan, tiers: dict[str, int]) -> str:
    """The runtime's file: a configuration of tiers and sites."""
    lines = ["thermocline-config 1", *tier_lines(plan, setting)]
    lines += [f"site {tier} {key}" for key, tier in sorted(tiers.items())]
    return "\n".join(lines) + "\n"
