"""Strategies: which sites get the fast tier.  One file each; registered by one line below.

How to add one: docs/strategies.md.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from thermocline.profiles.merge import Candidate


@dataclass(frozen=True)
class Choice:
    """What a strategy decided.

    `fast` maps a chosen site's key to the reason, `gap` is how much more traffic (as a share of
    the chosen) a perfect choice could hold at most, and None where that question has no meaning.
    """

    fast: dict[str, str]
    gap: float | None = None
    default_tier: int = 1
    left_out: str = "no room"


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


def registry() -> dict[str, Strategy]:
    """Name -> strategy."""
    from thermocline.strategies import first_touch, hotset, knapsack, thermos

    return {
        "knapsack": knapsack.choose,
        "hotset": hotset.choose,
        "thermos": thermos.choose,
        "first-touch": first_touch.choose,
    }


NAMES = ("knapsack", "hotset", "thermos", "first-touch")
