"""write-isolation (Peng et al. 2019, section 5.2): write-heavy sites in tier 0, the rest beside.

A site is write-heavy if the slowest tier to write to would be busy for longer with its writes than
with its reads: what counts as a lot follows from the machine file.  Write-heavy sites are admitted
by falling writes per byte while they fit, at every moment of the profile.  Read-mostly sites go to
the second tier even where tier 0 has room, so that both memories work; all are spread over the
nodes of their tier.
"""

from collections.abc import Sequence

import numpy as np

from thermocline.profiles.merge import Candidate
from thermocline.strategies import Choice, by_density
from thermocline.strategies.fastest import Memory
from thermocline.strategies.solver import Floats


def choose(candidates: Sequence[Candidate], memory: Memory) -> Choice:
    """Writers by falling writes per byte."""
    slow = min(range(len(memory.rooms)), key=lambda tier: memory.speed.write[tier])
    per_write, per_read = 1 / memory.speed.write[slow], 1 / memory.speed.read[slow]

    def writes(site: Candidate) -> int:
        return site.traffic - site.reads

    heavy = [s for s in candidates if writes(s) and writes(s) * per_write >= s.reads * per_read]
    # by_density, of the writes alone.
    by_writes = by_density([Candidate(s.key, s.bytes, writes(s), s.first_touch) for s in heavy])
    share = {s.key: writes(s) / s.traffic for s in heavy}
    load: Floats = np.zeros(1)
    fast: dict[str, str] = {}
    for site in by_writes:
        more = load + memory.held.get(site.key, np.array([site.bytes], np.float64))
        if more.max() <= memory.rooms[0]:
            load = more
            fast[site.key] = f"write-heavy: {share[site.key]:.0%} writes"
    left_out = {key: "write-heavy, no room beside heavier" for key in share if key not in fast}
    return Choice(
        fast,
        left_out="read-mostly",
        reasons=left_out,
        spread=frozenset(site.key for site in candidates),
    )
