"""Strategies: which sites get the fast tier.  One file each; registered by one line below.

How to add one: docs/strategies.md.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from thermocline.profiles.merge import Candidate

if TYPE_CHECKING:
    from thermocline.strategies.fastest import Memory


@dataclass(frozen=True)
class Choice:
    """What a strategy decided.

    `fast` maps a chosen site's key to the reason, `gap` is how much more traffic (as a share of
    the chosen) a perfect choice could hold at most, and None where that question has no meaning.
    A strategy for more than two tiers says every site's in `tiers`, and in `shares` what part of
    a site each tier gets, where it is not one.  `reasons`: of sites that are left out, where
    `left_out` isn't theirs.  `spread`: sites whose pages go round all nodes of their tier.
    """

    fast: dict[str, str]
    gap: float | None = None
    default_tier: int = 1
    left_out: str = "no room"
    tiers: dict[str, int] = field(default_factory=dict)
    shares: dict[str, tuple[float, ...]] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    spread: frozenset[str] = frozenset()

    def tier_of(self, key: str) -> int:
        """Where the site goes, with the larger part of it."""
        return self.tiers.get(key, 0 if key in self.fast else max(1, self.default_tier))

    def reason_for(self, key: str) -> str:
        """What the plan file says of the site."""
        return self.fast.get(key) or self.reasons.get(key, self.left_out)


Strategy = Callable[[Sequence[Candidate], int], Choice]


def by_density(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Falling bandwidth per byte, ties by key; sites that need no room come first."""
    free = sorted((site for site in candidates if site.bytes == 0), key=lambda site: site.key)
    sized = [site for site in candidates if site.bytes]
    # Two fractions that differ do so by more than 1 / bytes^2: scaled by this much they differ as
    # integers too.  Exact, and much faster than comparing fractions.
    scale = 2 * max((site.bytes for site in sized), default=1).bit_length()
    sized.sort(key=lambda site: (-((site.traffic << scale) // site.bytes), site.key))
    return free + sized


def registry(memory: "Memory | None" = None) -> dict[str, Strategy]:
    """Name -> strategy.  Those that minimise time need to know the memory as well."""
    from thermocline.strategies import (
        fastest,
        first_touch,
        hotset,
        knapsack,
        thermos,
        write_isolation,
    )

    def timed(choose: "Callable[[Sequence[Candidate], Memory], Choice]") -> Strategy:
        def by_time(candidates: Sequence[Candidate], capacity: int) -> Choice:
            if memory is None:
                raise ValueError("this strategy needs the memory's speed")
            del capacity  # which is the first of the memory's rooms
            return choose(candidates, memory)

        return by_time

    return {
        "knapsack": knapsack.choose,
        "hotset": hotset.choose,
        "thermos": thermos.choose,
        "fastest": timed(fastest.choose),
        "write-isolation": timed(write_isolation.choose),
        "first-touch": first_touch.choose,
    }


SPLITTING = "fastest"  # may put a site into several tiers
# Go by times: the machine file has to give bandwidths.
TIMED = ("fastest", "write-isolation")
NAMES = ("knapsack", "hotset", "thermos", "fastest", "write-isolation", "first-touch")
