"""thermos (Olson et al. 2018, section III.A): hotset that never displaces hotter data for less.

A site that does not fit is admitted only if its bandwidth strictly exceeds that of the hottest
admitted bytes it could displace: min(packed, packed + size - capacity) of them, the last site
counted pro rata.  Then the next site is tried.
"""

from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction

from thermocline.profiles.merge import Candidate
from thermocline.strategies import Choice, by_density


class _Admitted:
    """The admitted sites, hottest first (they come in that order), with running sums."""

    def __init__(self) -> None:
        self.sites: list[Candidate] = []
        self.bytes = [0]
        self.traffic = [0]

    def add(self, site: Candidate) -> None:
        self.sites.append(site)
        self.bytes.append(self.bytes[-1] + site.bytes)
        self.traffic.append(self.traffic[-1] + site.traffic)

    def hottest(self, count: int) -> Fraction:
        """Traffic of the hottest `count` bytes."""
        whole = bisect_right(self.bytes, count) - 1
        rest = count - self.bytes[whole]
        if rest == 0:
            return Fraction(self.traffic[whole])
        last = self.sites[whole]
        return self.traffic[whole] + Fraction(last.traffic * rest, last.bytes)


def choose(candidates: Sequence[Candidate], capacity: int) -> Choice:
    """Admits in order of falling bandwidth per byte."""
    admitted = _Admitted()
    fast: dict[str, str] = {}
    for rank, site in enumerate(by_density(candidates), start=1):
        packed = admitted.bytes[-1]
        if site.bytes == 0:  # nothing displaces it, it displaces nothing
            fast[site.key] = "needs no room"
            continue
        if packed + site.bytes <= capacity:
            fast[site.key] = f"rank {rank}"
        elif site.traffic > admitted.hottest(min(packed, packed + site.bytes - capacity)):
            fast[site.key] = f"rank {rank}, outweighs what it may displace"
        else:
            continue
        admitted.add(site)
    return Choice(fast, left_out="less traffic than what it would displace")
