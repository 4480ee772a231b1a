"""Follows running processes by the profiles that they write meanwhile.

The runtime writes PREFIX.PID.profile aside and renames it, about each second and for at most a
hundredth of the time; two of them in turn give each site's rates.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thermocline import frames
from thermocline.errors import BadFile, Misuse, ThermoclineError
from thermocline.files import read_text
from thermocline.live.written import Written
from thermocline.planning.model import Plan
from thermocline.profiles import model
from thermocline.profiles.model import Profile
from thermocline.run.launch import CONFIG_VARIABLE
from thermocline.run.online import intervals

if TYPE_CHECKING:
    from pandas import DataFrame

COLUMNS = {
    "pid": frames.COUNT,
    "program": frames.TEXT,
    "seconds": frames.NUMBER,
    "key": frames.TEXT,
    "resident_bytes": frames.COUNT,
    "read_bytes_per_second": frames.NUMBER,
    "write_bytes_per_second": frames.NUMBER,
    "traffic_bytes": frames.COUNT,
    "tier": frames.MAYBE,  # as planned; missing without a plan
}
SORTS = ("traffic", "bytes", "hotness", "total", "site")


@dataclass(frozen=True)
class SiteNow:
    """A site at the last profile; rates are bytes a second since the one before."""

    key: str
    resident_bytes: int
    read_rate: float
    write_rate: float
    total_bytes: int  # of traffic since the start
    tier: int | None  # as planned; None without a plan

    @property
    def rate(self) -> float:
        """Bytes a second to and from memory."""
        return self.read_rate + self.write_rate

    @property
    def hotness(self) -> float:
        """Of each byte, a second."""
        return self.rate / self.resident_bytes if self.resident_bytes else 0.0

    def to_json(self) -> dict[str, Any]:
        """One object."""
        return {
            "key": self.key,
            "resident_bytes": self.resident_bytes,
            "read_bytes_per_second": self.read_rate,
            "write_bytes_per_second": self.write_rate,
            "traffic_bytes": self.total_bytes,
            "tier": self.tier,
        }


@dataclass(frozen=True)
class ProcessNow:
    """A process at its last profile."""

    pid: int
    program: str
    seconds: float  # since its start
    ended: bool
    sites: list[SiteNow]
    moved_bytes: int | None  # by online guidance; None where there is none

    def tiers(self, count: int) -> list[tuple[int, float]]:
        """Resident bytes and bytes a second of each tier, as planned."""
        totals = [(0, 0.0)] * count
        for site in self.sites:
            tier = min(site.tier or 0, count - 1)
            held, rate = totals[tier]
            totals[tier] = held + site.resident_bytes, rate + site.rate
        return totals

    def sorted(self, by: str) -> list[SiteNow]:
        """Largest first, names rising."""
        if by == "site":
            return sorted(self.sites, key=lambda site: site.key)
        value = {"bytes": "resident_bytes", "total": "total_bytes", "traffic": "rate"}.get(by, by)
        return sorted(self.sites, key=lambda site: (-getattr(site, value), site.key))


def frame(seen: Sequence[ProcessNow]) -> "DataFrame":
    """A row for each site of each process; `seconds` since the process began."""
    return frames.of(
        (
            {"pid": at.pid, "program": at.program, "seconds": at.seconds, **site.to_json()}
            for at in seen
            for site in at.sorted("traffic")
        ),
        COLUMNS,
    )


class Follower(Written[ProcessNow]):
    """Follows processes by their profiles."""

    SUFFIX = "profile"
    UNREADABLE = (OSError, ThermoclineError)

    def __init__(self, prefix: Path, plan: Plan | None = None, pid: int | None = None) -> None:
        super().__init__(prefix, pid)
        self._plan = plan
        self._last: dict[int, Profile] = {}

    def _read(self, pid: int, path: Path) -> ProcessNow:
        found = model.load(path)
        seconds, sites = intervals(self._last.get(pid), found)
        self._last[pid] = found
        totals = {site.key: site.traffic_bytes for site in found.heap}
        return ProcessNow(
            pid,
            found.program,
            found.wall_seconds,
            found.complete,
            [
                SiteNow(
                    key,
                    site.resident_bytes,
                    site.read_bytes / seconds,
                    site.write_bytes / seconds,
                    totals[key],
                    self._plan.tier_of(key) if self._plan else None,
                )
                for key, site in sites.items()
            ],
            found.online.get("moved_bytes") if found.online else None,
        )


def prefix_of(pid: int) -> Path:
    """Where a running process writes its profiles; from the configuration it was started with."""
    try:
        environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except FileNotFoundError as error:
        raise Misuse(f"there is no process {pid}") from error
    except OSError as error:
        raise ThermoclineError(f"can't look at process {pid}: {error.strerror}") from error
    start = f"{CONFIG_VARIABLE}=".encode()
    files = [entry[len(start) :] for entry in environment if entry.startswith(start)]
    if not files:
        raise Misuse(
            f"process {pid} was not started by Thermocline: start it with 'thermocline top -- CMD'"
        )
    path = Path(files[0].decode(errors="replace"))
    return _prefix_in(read_text(path, 2**28, errors="replace").splitlines(), path, pid)


def _prefix_in(lines: Sequence[str], path: Path, pid: int) -> Path:
    if not lines or not lines[0].startswith("thermocline-config"):
        raise BadFile(path, "not a run's configuration")
    for line in lines:
        word, _, rest = line.partition(" ")
        if word == "profile":
            return Path(rest)
    raise Misuse(
        f"process {pid} measures nothing while it runs: start it with "
        "'thermocline top --plan PLAN -- CMD', 'run --online' or 'profile'"
    )
