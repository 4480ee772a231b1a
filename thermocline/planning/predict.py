"""What a plan would do to a profiled run: traffic and bytes per tier.

Capacity is charged as the kernel does it, when pages are first touched: sites that grow in the
same interval are charged in order of their first touch, what does not fit in its tier goes to
the next, freed pages give their room back, and nothing moves.  A site's traffic is spread evenly
over its resident bytes.  Both are approximations, so every figure from here is *predicted*.
As in a run, the heap has what the plan's `nonheap_bytes` leave of the tier, all the time.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from thermocline.planning.model import Plan
from thermocline.profiles.model import Profile
from thermocline.profiles.timeline import Floats

PAGE = 4096


@dataclass(frozen=True)
class Prediction:
    """Per tier: bytes moved, how many of them read, most resident, and what had to go on."""

    traffic: list[float]
    reads: list[float]
    peak: list[int]
    spilled: list[int]

    @property
    def fast_share(self) -> float | None:
        """Share of all traffic that tier 0 serves; None without traffic."""
        total = sum(self.traffic)
        return self.traffic[0] / total if total else None


def predict(profile: Profile, plan: Plan, limits: Sequence[int | None]) -> Prediction:
    """`limits`: each tier's capacity in bytes, None for none; the last is taken as unlimited."""
    line = profile.timeline
    sites, resident, traffic = line.sites, line.resident, line.traffic
    tiers = len(limits)
    wanted = np.array([plan.shares_of(s.key, s.kind, tiers) for s in sites], np.float64).T
    wanted = wanted.reshape(tiers, len(sites))
    totals = np.array([s.traffic_bytes for s in sites], np.float64)
    read = np.array([s.read_bytes / s.traffic_bytes if s.traffic_bytes else 0.0 for s in sites])
    room = [np.inf if limit is None else float(limit) for limit in limits]
    room[-1] = np.inf

    is_heap = np.array([s.kind != "nonheap" for s in sites], np.bool_)
    heap_room = heap_limits(plan, room)
    placed = np.zeros((tiers, len(sites)))
    served = np.zeros((tiers, len(sites)))
    peak = np.zeros(tiers)
    spilled = np.zeros(tiers)
    for now, moved in zip(resident, traffic, strict=True):
        before = placed.sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            placed *= np.where(before > now, now / before, 1.0)
        overflow = np.maximum(now - np.minimum(before, now), 0.0)
        overflow[overflow < 0.5] = 0.0
        pending = np.zeros(len(sites))
        for tier in range(tiers):
            pending = pending + wanted[tier] * overflow
            for mine, limit in ((is_heap, heap_room[tier]), (~is_heap, room[tier])):
                free = limit - placed[tier, mine].sum()
                taken = _first_come(np.where(mine, pending, 0.0), free)
                placed[tier] += taken
                pending = pending - taken
        tier_bytes = placed.sum(axis=1)
        peak = np.maximum(peak, tier_bytes)
        missing = np.maximum(wanted * now - placed, 0.0)
        spilled = np.maximum(spilled, missing.sum(axis=1))
        served += moved * _fractions(placed, wanted, heap_room, placed[:, is_heap].sum(axis=1))
    seen = served.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.where(seen > 0, totals / seen, 0.0)
    served *= scale
    return Prediction(
        [float(value) for value in served.sum(axis=1)],
        [float(value) for value in (served * read).sum(axis=1)],
        [round(float(value)) for value in peak],
        [round(float(value)) for value in spilled],
    )


def heap_limits(plan: Plan, room: Sequence[float]) -> list[float]:
    """What of each tier the heap may have; a page at least, since 0 means no limit to a run."""
    limits = list(room)
    tier = plan.nonheap_tier
    if tier != "none" and tier < len(limits):
        limit = limits[tier]
        limits[tier] = max(min(PAGE, limit), limit - plan.nonheap_bytes)
    return limits


def _first_come(demand: Floats, free: float) -> Floats:
    """How much of each demand fits, in order."""
    if demand.sum() <= free:
        return demand
    before = np.cumsum(demand) - demand
    result: Floats = np.clip(free - before, 0.0, demand)
    return result


def _fractions(placed: Floats, wanted: Floats, room: Sequence[float], used: Floats) -> Floats:
    """Each site's share per tier; one that no sample saw is where it would have gone."""
    total = placed.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        fractions: Floats = np.where(total > 0, placed / total, 0.0)
    for tier in range(len(room)):
        goes = tier
        while goes < len(room) - 1 and used[goes] >= room[goes]:
            goes += 1
        fractions[goes] += np.where(total == 0, wanted[tier], 0.0)
    return fractions
