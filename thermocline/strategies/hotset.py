"""hotset (Olson et al. 2018, section III.A): the hottest sites until capacity is just passed."""

from collections.abc import Sequence

from thermocline.profiles.merge import Candidate
from thermocline.strategies import Choice, by_density


def choose(candidates: Sequence[Candidate], capacity: int) -> Choice:
    """By falling bandwidth per byte; stops after the first site that passes the capacity."""
    fast: dict[str, str] = {}
    packed = 0
    for rank, site in enumerate(by_density(candidates), start=1):
        packed += site.bytes
        fast[site.key] = f"rank {rank}" if packed <= capacity else f"rank {rank}, passes capacity"
        if packed > capacity:
            break
    return Choice(fast, left_out="after the capacity was passed")
