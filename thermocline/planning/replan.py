"""When data should move while a program runs, and which (online guidance).

A better placement than the present one saves memory time with every interval; going there costs
the time to read and write what moves, once.  How long the program goes on as it does now nobody
knows.  So data moves as soon as staying has cost as much as moving would have: whatever comes
then, staying and moving together cost at most twice what somebody who knew the future would have
paid (the ski-rental problem; Karlin et al. 1988, Competitive Snoopy Caching).  That is the
hysteresis, too: sites that are about as hot as each other never save enough to change places.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from thermocline.machine.model import Machine
from thermocline.planning import speed
from thermocline.planning.speed import Speed
from thermocline.profiles.merge import Candidate
from thermocline.strategies import registry
from thermocline.strategies.fastest import Memory

SMOOTHING = 0.5  # of a new interval's rates against what was known before
LEAST_GAIN = 0.02  # of the memory time: what is less is noise
_UNKNOWN_READ = 1e10  # bytes/s of a slow tier whose file says nothing; the fast one counts nothing
_FREE = 1e30


@dataclass(frozen=True)
class Interval:
    """What one site did in an interval."""

    read_bytes: int
    write_bytes: int
    resident_bytes: int  # at its end


@dataclass(frozen=True)
class Move:
    """Where sites go from now on."""

    tiers: dict[str, int]  # of every site that is known
    moved_bytes: int
    forced: bool  # tier 0 held more than its room
    gain_share: float  # of the memory time, by the rates of now
    cost_seconds: float


class Replanner:
    """One process's placement over time.  `room`: bytes of tier 0 that its heap may use."""

    def __init__(self, machine: Machine, room: int, tiers: Mapping[str, int], default: int) -> None:
        last = len(machine.tier) - 1
        self._speed = (
            speed.of(machine)
            if speed.known(machine)
            else Speed(
                (_FREE,) * last + (_UNKNOWN_READ,),
                (_FREE,) * last + (_UNKNOWN_READ,),
                tuple(range(last + 1)),
            )
        )
        self._rooms = (room, *(tier.capacity_bytes for tier in machine.tier[1:]))
        self._default = default
        self.tiers = dict(tiers)
        self._rates: dict[str, tuple[float, float]] = {}
        self._owed = 0.0  # seconds that staying has cost

    def tier_of(self, key: str) -> int:
        """Where a site is now."""
        return self.tiers.get(key, self._default)

    def observe(self, seconds: float, sites: Mapping[str, Interval]) -> Move | None:
        """After an interval: nothing, or what should move."""
        self._note_rates(seconds, sites)
        tiers = self._best(sites)
        now, better = self._time(self.tiers), self._time(tiers)
        over = self._held(sites) > self._rooms[0]
        if now - better <= LEAST_GAIN * now and not over:
            self._owed = 0.0
            return None
        self._owed += (now - better) * seconds
        moving = [key for key in sites if tiers.get(key, self._default) != self.tier_of(key)]
        cost = sum(
            self._move_seconds(sites[key].resident_bytes, self.tier_of(key), tiers[key])
            for key in moving
        )
        if not moving or (self._owed <= cost and not over):
            return None
        self.tiers |= tiers
        self._owed = 0.0
        moved = sum(sites[key].resident_bytes for key in moving)
        return Move(dict(self.tiers), moved, over, 1 - better / now if now else 0.0, cost)

    def _note_rates(self, seconds: float, sites: Mapping[str, Interval]) -> None:
        for key, site in sites.items():
            fresh = site.read_bytes / seconds, site.write_bytes / seconds
            old = self._rates.get(key, fresh)
            self._rates[key] = (
                old[0] + SMOOTHING * (fresh[0] - old[0]),
                old[1] + SMOOTHING * (fresh[1] - old[1]),
            )

    def _best(self, sites: Mapping[str, Interval]) -> dict[str, int]:
        """By the strategy `fastest`, on rates."""
        candidates = [
            Candidate(
                key,
                site.resident_bytes,
                round(sum(self._rates[key])),
                0.0,
                round(self._rates[key][0]),
            )
            for key, site in sites.items()
        ]
        none = (0,) * len(self._rooms)
        memory = Memory(self._speed, self._rooms, none, none)
        choice = registry(memory)["fastest"](candidates, self._rooms[0])
        # What moves nothing stays where it is, unless it is in the way.
        idle = {site.key for site in candidates if not site.traffic}
        tiers = {site.key: choice.tier_of(site.key) for site in candidates}
        taken = sum(site.bytes for site in candidates if tiers[site.key] == 0)
        for key in sorted(idle, key=lambda key: sites[key].resident_bytes):
            size = sites[key].resident_bytes
            if self.tier_of(key) == 0 and taken + size <= self._rooms[0]:
                tiers[key] = 0
                taken += size
        return tiers

    def _held(self, sites: Mapping[str, Interval]) -> int:
        return sum(site.resident_bytes for key, site in sites.items() if self.tier_of(key) == 0)

    def _time(self, tiers: Mapping[str, int]) -> float:
        """Seconds of memory time in a second of the run."""
        reads, writes = [0.0] * len(self._rooms), [0.0] * len(self._rooms)
        for key, (read, write) in self._rates.items():
            tier = tiers.get(key, self.tier_of(key))
            reads[tier] += read
            writes[tier] += write
        return self._speed.seconds(reads, writes)

    def _move_seconds(self, size: int, source: int, target: int) -> float:
        return size / self._speed.read[source] + size / self._speed.write[target]
