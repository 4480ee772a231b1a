"""fastest: the least predicted memory time, over any number of tiers, reads and writes apart.

Minimises T such that every group of channels is busy for at most T (planning/speed.py) and no
tier ever holds more than its room: sites that are never there together can have the same.  Small
problems are solved as a mixed integer program by HiGHS (in SciPy); large ones as its linear
relaxation, whose optimum leaves at most a few sites in parts (a vertex has no more of them than
there are channels and full rooms).  The heaviest of those is put on each tier in turn (branch and
bound, a few steps); what is in parts then is rounded, one site after the other, to where it hurts
least.  The relaxations' least value is the bound that proves the gap.  With `split` the sites in
parts stay so, and the relaxation is the exact answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any

import numpy as np

from thermocline.planning.speed import Speed
from thermocline.profiles.merge import Candidate
from thermocline.strategies import Choice
from thermocline.strategies.solver import Floats, minimise

EXACT_SITES = 200  # up to so many sites an integer program is worth its time
STEPS = 6  # relaxations solved for a large problem
HEAVY = 1e-4  # a share of the whole time that is worth a step
WHOLE = 1e-6  # a part as small as this is the solver's rounding


@dataclass(frozen=True)
class Memory:
    """What the machine has for the heap.

    `rooms`: bytes of each tier, the last one's unlimited; `base_reads` and `base_writes`: what
    non-heap data moves on each tier anyway, in the candidates' unit of traffic.  `held`: each
    site's bytes at several moments; at none may a tier hold more than its room.  Without it all
    sites are there at once.
    """

    speed: Speed
    rooms: tuple[int, ...]
    base_reads: tuple[int, ...]
    base_writes: tuple[int, ...]
    split: bool = False
    held: Mapping[str, Floats] = field(default_factory=dict)


def choose(candidates: Sequence[Candidate], memory: Memory) -> Choice:
    """A tier for every site, or parts of several."""
    last = len(memory.rooms) - 1
    # What moves nothing goes where room is cheapest, and is no part of the problem.
    sites = sorted((site for site in candidates if site.traffic), key=lambda site: site.key)
    if not sites:
        return Choice({}, gap=0.0, default_tier=last, left_out="moves nothing")
    problem = _Problem(sites, memory)
    if memory.split:
        parts, bound = problem.solve({}, whole=False)
    elif len(sites) <= EXACT_SITES:
        parts, bound = problem.solve({}, whole=True)
        parts = problem.rounded(parts)
    else:
        parts, bound = problem.search()
    value = problem.seconds(parts)
    gap = max(0.0, value - bound) / value if value else 0.0
    tiers: dict[str, int] = {}
    shares: dict[str, tuple[float, ...]] = {}
    for site, row in zip(sites, parts, strict=True):
        tiers[site.key] = int(np.argmax(row))
        if row.max() < 1 - WHOLE:
            shares[site.key] = tuple(float(part) for part in row)
    return Choice(
        {key: "least time" for key, tier in tiers.items() if tier == 0},
        gap=0.0 if gap < 1e-9 else gap,
        default_tier=last,
        left_out="faster so: the tiers work side by side",
        tiers=tiers,
        shares=shares,
    )


class _NoRoom(Exception):
    """A tier can't hold what was fixed there."""


class _Problem:
    """Variables: the part of each site on each tier, row by row, and T at the end."""

    def __init__(self, sites: Sequence[Candidate], memory: Memory) -> None:
        self.tiers = len(memory.rooms)
        speed = memory.speed
        reads = np.array([site.reads for site in sites], np.float64)
        writes = np.array([site.traffic - site.reads for site in sites], np.float64)
        # Seconds on each tier, sites x tiers; the unit of traffic cancels out by scaling to 1.
        cost = reads[:, None] / np.array(speed.read) + writes[:, None] / np.array(speed.write)
        base = np.array(memory.base_reads) / np.array(speed.read)
        base = base + np.array(memory.base_writes) / np.array(speed.write)
        self.scale = float(cost.max(axis=1).sum() + base.sum())
        self.cost: Floats = cost / self.scale
        self.base: Floats = base / self.scale
        self.channel = speed.channel
        self.bytes = np.array([site.bytes for site in sites], np.float64)
        self.rooms = [float(room) for room in memory.rooms[:-1]]
        # Moments x sites.  Those that have ever mattered are rows of the problem: few of many.
        self.held = self.bytes[None, :]
        if memory.held:
            self.held = np.array([memory.held[site.key] for site in sites], np.float64).T
        self.watched = [int(self.held.sum(axis=1).argmax())]

    def busy(self, parts: Floats) -> Floats:
        """Scaled time of each channel."""
        per_tier = self.base + (self.cost * parts).sum(axis=0)
        return np.asarray(np.bincount(self.channel, weights=per_tier), np.float64)

    def seconds(self, parts: Floats) -> float:
        """Scaled time of all: what is minimised."""
        return float(self.busy(parts).max())

    def search(self) -> tuple[Floats, float]:
        """Whole sites, and a lower bound: branch and bound, the lowest relaxation first."""
        parts, bound = self.solve({}, whole=False)
        best = self.rounded(parts)
        open_: list[tuple[float, int, dict[int, int], Floats]] = [(bound, 0, {}, parts)]
        steps = 1
        while open_:
            bound, _, fixed, parts = open_[0]
            in_parts = np.flatnonzero(parts.max(axis=1) < 1 - WHOLE)
            weight = self.cost.max(axis=1)
            heaviest = max(in_parts, key=lambda s: (weight[s], -s), default=None)
            done = heaviest is None or weight[heaviest] < HEAVY * bound
            if done or steps + self.tiers > STEPS or bound >= self.seconds(best):
                break
            assert heaviest is not None
            heappop(open_)
            for tier in range(self.tiers):
                narrower = fixed | {int(heaviest): tier}
                steps += 1
                try:
                    parts, bound = self.solve(narrower, whole=False)
                except _NoRoom:
                    continue
                rounded = self.rounded(parts)
                if self.seconds(rounded) < self.seconds(best):
                    best = rounded
                heappush(open_, (bound, steps, narrower, parts))
        value = self.seconds(best)
        return best, min([value, *(entry[0] for entry in open_)])

    def solve(self, fixed: dict[int, int], whole: bool) -> tuple[Floats, float]:
        """Parts, and a lower bound of the scaled time, of placements that hold to `fixed`."""
        while True:
            parts, bound = self.solve_watched(fixed, whole)
            overfull = self.overfull(parts)
            if not overfull:
                return parts, bound
            self.watched += overfull

    def overfull(self, parts: Floats) -> list[int]:
        """Each tier's worst moment, where that is over its room and not watched yet."""
        found: list[int] = []
        for tier, room in enumerate(self.rooms):
            load = self.held @ parts[:, tier]
            worst = int(load.argmax())
            if load[worst] > room * (1 + WHOLE) + 0.5 and worst not in {*self.watched, *found}:
                found.append(worst)
        return found

    def solve_watched(self, fixed: dict[int, int], whole: bool) -> tuple[Floats, float]:
        """The same, with room for what is held at the watched moments only."""
        from scipy import sparse

        # The last tier's part is what the others leave, so that it needs no variables.
        count, others = self.cost.shape[0], self.tiers - 1
        size = count * others + 1
        columns = np.arange(count * others).reshape(count, others)
        last = self.channel[-1]
        busy = np.zeros((max(self.channel) + 1, size))
        limit = -np.bincount(self.channel, weights=self.base)
        limit[last] -= self.cost[:, -1].sum()
        for tier, channel in enumerate(self.channel[:-1]):
            busy[channel, columns[:, tier]] += self.cost[:, tier]
            busy[last, columns[:, tier]] -= self.cost[:, -1]
        busy[:, -1] = -1.0
        rows: list[tuple[Any, Any]] = [(busy, limit)]
        total = max(1.0, float(self.bytes.sum()))
        for tier in range(others):
            held = np.zeros((len(self.watched), size))
            held[:, columns[:, tier]] = self.held[self.watched] / total
            rows.append((held, self.rooms[tier] / total))
        if others > 1:
            of_site = np.repeat(np.arange(count), others), columns.ravel()
            one = sparse.csr_array((np.ones(count * others), of_site), shape=(count, size))
            rows.append((one, 1.0))

        objective = np.zeros(size)
        objective[-1] = 1.0
        lower, upper = np.zeros(size), np.ones(size)
        upper[-1] = np.inf
        for site, tier in fixed.items():
            upper[columns[site]] = 0.0
            if tier < others:
                lower[columns[site, tier]] = upper[columns[site, tier]] = 1.0
        integral = np.zeros(size, np.int64)
        if whole:
            integral[:-1] = 1
        answer = minimise(objective, rows, (lower, upper), integral)
        if answer.x is None and whole:
            # The search ended before it found anything: the relaxation always has an answer.
            return self.solve_watched(fixed, whole=False)
        if answer.x is None:
            raise _NoRoom
        parts = np.clip(answer.x[:-1].reshape(count, others), 0.0, 1.0)
        rest = np.clip(1.0 - parts.sum(axis=1, keepdims=True), 0.0, 1.0)
        # With one tier there is nothing to decide, and no search that had a bound.
        bound = answer.mip_dual_bound if whole and others else answer.fun
        return np.hstack([parts, rest]), float(bound)

    def rounded(self, parts: Floats) -> Floats:
        """Whole sites: those in parts go, largest first, to the tier with room that hurts least."""
        result = np.zeros_like(parts)
        chosen = parts.argmax(axis=1)
        in_parts = parts.max(axis=1) < 1 - WHOLE
        settled = np.flatnonzero(~in_parts)
        result[settled, chosen[settled]] = 1.0
        load = self.held @ result
        room = [*self.rooms, np.inf]
        for site in sorted(np.flatnonzero(in_parts), key=lambda s: (-self.bytes[s], s)):
            best = None
            for tier in range(self.tiers):
                if (load[:, tier] + self.held[:, site] > room[tier]).any():
                    continue
                result[site, tier] = 1.0
                time = self.seconds(result)
                result[site, tier] = 0.0
                if best is None or time < best[0]:
                    best = (time, tier)
            assert best is not None  # the last tier has room for all
            result[site, best[1]] = 1.0
            load[:, best[1]] += self.held[:, site]
        return result
