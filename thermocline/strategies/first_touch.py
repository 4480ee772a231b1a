"""first-touch: no guidance.  Everything asks for the fast tier and gets it while it lasts."""

from collections.abc import Sequence

from thermocline.profiles.merge import Candidate
from thermocline.strategies import Choice


def choose(candidates: Sequence[Candidate], capacity: int) -> Choice:
    """Every site, whatever the capacity: the kernel decides at first touch."""
    del capacity
    return Choice({site.key: "first touch" for site in candidates}, default_tier=0)
