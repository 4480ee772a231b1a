"""Several profiles as one picture: what a plan across inputs is made from.

Objective: the mean of normalised traffic.  Each input's traffic is divided by that input's total,
so that a long run does not outweigh a short one.  A site's size is the largest it has on any
input, measured against that input's capacity: what fits so, fits on every input.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from thermocline.profiles.model import Profile

if TYPE_CHECKING:
    from thermocline.profiles.timeline import Floats

# A share of traffic as an integer, so that strategies stay exact.
SHARE_UNITS = 10**12


@dataclass(frozen=True)
class Candidate:
    """A site as a strategy sees it."""

    key: str
    bytes: int
    traffic: int  # bytes for one profile, SHARE_UNITS-ths of the mean share for several
    first_touch: float
    reads: int = 0  # of the traffic


@dataclass(frozen=True)
class Demand:
    """What wants capacity: the sites, and what they have to share it with."""

    candidates: list[Candidate]
    capacity: int
    nonheap: int
    nonheap_reads: int  # in the candidates' unit, like nonheap_traffic
    nonheap_traffic: int
    peak_resident: int


def of_one(profile: Profile, capacity: int) -> Demand:
    """One profile, in its own units."""
    return Demand(
        [
            Candidate(s.key, s.bytes, s.traffic_bytes, s.first_touch_seconds or 0.0, s.read_bytes)
            for s in profile.heap
        ],
        capacity,
        profile.nonheap_bytes,
        sum(s.read_bytes for s in profile.nonheap),
        sum(s.traffic_bytes for s in profile.nonheap),
        profile.peak_resident_bytes,
    )


def of_many(profiles: Sequence[Profile], capacities: Sequence[int]) -> Demand:
    """Profiles of several inputs; `capacities` are each input's own (they differ for a share)."""
    if len(profiles) == 1:
        return of_one(profiles[0], capacities[0])
    reference = max(capacities)
    share: dict[str, Fraction] = {}
    reads: dict[str, Fraction] = {}
    nonheap_share = nonheap_reads = Fraction(0)
    size: dict[str, int] = {}
    touch: dict[str, float] = {}
    nonheap = 0
    for profile, capacity in zip(profiles, capacities, strict=True):
        scale = Fraction(reference, capacity) if capacity else Fraction(1)
        nonheap = max(nonheap, int(profile.nonheap_bytes * scale))
        weight = Fraction(SHARE_UNITS, max(1, profile.traffic_bytes) * len(profiles))
        for site in profile.nonheap:
            nonheap_share += site.traffic_bytes * weight
            nonheap_reads += site.read_bytes * weight
        for site in profile.heap:
            reads[site.key] = reads.get(site.key, Fraction(0)) + site.read_bytes * weight
            share[site.key] = share.get(site.key, Fraction(0)) + site.traffic_bytes * weight
            # Rounded up, so that what fits in the reference fits in each.
            size[site.key] = max(size.get(site.key, 0), -int(-(site.bytes * scale) // 1))
            first = site.first_touch_seconds or 0.0
            touch[site.key] = min(touch.get(site.key, first), first)
    return Demand(
        [Candidate(key, size[key], int(share[key]), touch[key], int(reads[key])) for key in share],
        reference,
        nonheap,
        int(nonheap_reads),
        int(nonheap_share),
        max(profile.peak_resident_bytes for profile in profiles),
    )


def moments(profiles: Sequence[Profile], capacities: Sequence[int]) -> "dict[str, Floats]":
    """What each site of the heap holds at each interval of each input, the inputs one after the
    other, in bytes of the greatest capacity: sites that are never there together can share room.

    At its peak each site has the bytes that it has as a candidate.
    """
    import numpy as np

    lengths = [len(profile.timeline.resident) for profile in profiles]
    held: dict[str, Floats] = {}
    first = 0
    for profile, capacity, length in zip(profiles, capacities, lengths, strict=True):
        scale = max(capacities) / capacity if capacity else 1.0
        line = profile.timeline
        for site, resident in zip(line.sites, line.resident.T, strict=True):
            if site.kind == "nonheap":
                continue
            top = resident.max()
            shape = resident / top if top else np.ones(length)
            row = held.setdefault(site.key, np.zeros(sum(lengths)))
            row[first : first + length] = shape * site.bytes * scale
        first += length
    return held
