"""fastest: the least predicted memory time, over any number of tiers, reads and writes apart.

Minimises T such that every group of channels is busy for at most T (planning/speed.py) and no
tier holds more than its room.  Small problems are solved as a mixed integer program by HiGHS (in
SciPy); large ones as its linear relaxation, whose optimum leaves at most a few sites in parts
(a vertex has no more of them than there are rooms and channels): those are rounded, one after
the other, to where they hurt least.  The relaxation's value is the bound that proves the gap.
With `split` the sites in parts stay so, and the relaxation is the exact answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from thermocline.planning.speed import Speed
from thermocline.profiles.merge import Candidate
from thermocline.strategies import Choice

Floats = npt.NDArray[np.float64]

EXACT_SITES = 200  # up to so many sites an integer program is worth its time
NODES = 20_000  # of the search tree: a limit that is the same on every host
WHOLE = 1e-6  # a part as small as this is the solver's rounding


@dataclass(frozen=True)
class Memory:
    """What the machine has for the heap.

    `rooms`: bytes of each tier, the last one's unlimited; `base_reads` and `base_writes`: what
    non-heap data moves on each tier anyway, in the candidates' unit of traffic.
    """

    speed: Speed
    rooms: tuple[int, ...]
    base_reads: tuple[int, ...]
    base_writes: tuple[int, ...]
    split: bool = False


def choose(candidates: Sequence[Candidate], memory: Memory) -> Choice:
    """A tier for every site, or parts of several."""
    last = len(memory.rooms) - 1
    # What moves nothing goes where room is cheapest, and is no part of the problem.
    sites = sorted((site for site in candidates if site.traffic), key=lambda site: site.key)
    if not sites:
        return Choice({}, gap=0.0, default_tier=last, left_out="moves nothing")
    problem = _Problem(sites, memory)
    exact = not memory.split and len(sites) <= EXACT_SITES
    parts, bound = problem.solve(whole=exact)
    if not memory.split:
        parts = problem.rounded(parts)
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

    def busy(self, parts: Floats) -> Floats:
        """Scaled time of each channel."""
        per_tier = self.base + (self.cost * parts).sum(axis=0)
        return np.asarray(np.bincount(self.channel, weights=per_tier), np.float64)

    def seconds(self, parts: Floats) -> float:
        """Scaled time of all: what is minimised."""
        return float(self.busy(parts).max())

    def solve(self, whole: bool) -> tuple[Floats, float]:
        """Parts, and a lower bound of the scaled time of any placement."""
        from scipy import sparse
        from scipy.optimize import Bounds, LinearConstraint, milp

        count, tiers = self.cost.shape
        size = count * tiers + 1
        columns = np.arange(count * tiers).reshape(count, tiers)
        constraints: list[Any] = []

        def add(rows: Floats, low: Any, high: Any) -> None:
            constraints.append(LinearConstraint(sparse.csr_array(rows), low, high))

        busy = np.zeros((max(self.channel) + 1, size))
        for tier, channel in enumerate(self.channel):
            busy[channel, columns[:, tier]] = self.cost[:, tier]
        busy[:, -1] = -1.0
        add(busy, -np.inf, -np.bincount(self.channel, weights=self.base))
        total = max(1.0, float(self.bytes.sum()))
        room = np.zeros((max(1, len(self.rooms)), size))
        for tier in range(len(self.rooms)):
            room[tier, columns[:, tier]] = self.bytes / total
        if self.rooms:
            add(room, -np.inf, np.array(self.rooms) / total)
        of_site = np.repeat(np.arange(count), tiers), columns.ravel()
        one = sparse.csr_array((np.ones(count * tiers), of_site), shape=(count, size))
        constraints.append(LinearConstraint(one, 1.0, 1.0))

        objective = np.zeros(size)
        objective[-1] = 1.0
        upper = np.ones(size)
        upper[-1] = np.inf
        integral = np.zeros(size)
        if whole:
            integral[:-1] = 1
        answer = milp(
            objective,
            integrality=integral,
            bounds=Bounds(np.zeros(size), upper),
            constraints=constraints,
            options={"node_limit": NODES, "mip_rel_gap": 1e-9},
        )
        if answer.x is None:
            # The search ended before it found anything: begin with the relaxation.
            assert whole
            return self.solve(whole=False)
        parts = np.clip(answer.x[:-1].reshape(count, tiers), 0.0, 1.0)
        bound = answer.mip_dual_bound if whole else answer.fun
        return parts, float(bound)

    def rounded(self, parts: Floats) -> Floats:
        """Whole sites: those in parts go, largest first, to the tier with room that hurts least."""
        result = np.zeros_like(parts)
        chosen = parts.argmax(axis=1)
        in_parts = parts.max(axis=1) < 1 - WHOLE
        settled = np.flatnonzero(~in_parts)
        result[settled, chosen[settled]] = 1.0
        room = [
            limit - float((self.bytes * result[:, tier]).sum())
            for tier, limit in enumerate(self.rooms)
        ]
        room.append(np.inf)
        for site in sorted(np.flatnonzero(in_parts), key=lambda s: (-self.bytes[s], s)):
            best = None
            for tier in range(self.tiers):
                if self.bytes[site] > room[tier]:
                    continue
                result[site, tier] = 1.0
                time = self.seconds(result)
                result[site, tier] = 0.0
                if best is None or time < best[0]:
                    best = (time, tier)
            assert best is not None  # the last tier has room for all
            result[site, best[1]] = 1.0
            room[best[1]] -= float(self.bytes[site])
        return result
