"""Which sites to isolate in which runs (Olson et al. 2018, IV.C: memory bandwidth isolation).

One run a site where there are few; else groups, the heaviest halved first, so that sites that
matter end alone and the many that don't share a run.  A group's total says nothing of its members:
each is charged by its bytes, and carries the group's number.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

FEW = 32  # so many sites have a run each, unless another number of runs is asked for
MOST_RUNS = 64  # in groups
LEAST_SHARE = 0.005  # of the traffic: a group with less is left as it is


@dataclass(frozen=True)
class Traffic:
    """Bytes that one tier moved."""

    read_bytes: int
    write_bytes: int

    @property
    def all_bytes(self) -> int:
        """Both ways."""
        return self.read_bytes + self.write_bytes


@dataclass(frozen=True)
class Measured:
    """Sites that shared a run, and what they moved together."""

    keys: tuple[str, ...]
    traffic: Traffic


# The traffic of groups, each by itself on the tier that is read.
Measure = Callable[[Sequence[tuple[str, ...]]], Sequence[Traffic]]


def isolate(
    sizes: dict[str, int], measure: Measure, most_runs: int | None
) -> tuple[list[Measured], int]:
    """Every site in one of the groups, and how many runs that took.  `sizes`: site -> bytes."""
    keys = tuple(sorted(sizes, key=lambda key: (-sizes[key], key)))
    limit = most_runs or MOST_RUNS
    if len(keys) <= (most_runs or FEW):
        alone = [(key,) for key in keys]
        return _measured(alone, measure), len(alone)
    groups = _measured(_halves(keys, sizes), measure)
    runs = len(groups)
    while True:
        total = sum(group.traffic.all_bytes for group in groups)
        heavy = [
            group
            for group in groups
            if len(group.keys) > 1 and group.traffic.all_bytes > LEAST_SHARE * total
        ]
        heavy.sort(key=lambda group: (-group.traffic.all_bytes, group.keys))
        heavy = heavy[: (limit - runs) // 2]
        if not heavy:
            return groups, runs
        wanted = [half for group in heavy for half in _halves(group.keys, sizes)]
        groups = [group for group in groups if group not in heavy] + _measured(wanted, measure)
        runs += len(wanted)


def _measured(groups: Sequence[tuple[str, ...]], measure: Measure) -> list[Measured]:
    return [Measured(keys, traffic) for keys, traffic in zip(groups, measure(groups), strict=True)]


def _halves(keys: Sequence[str], sizes: dict[str, int]) -> list[tuple[str, ...]]:
    """Of about the same bytes, neither empty; large sites stand first and so are soon alone."""
    half, taken, at = sum(sizes[key] for key in keys) / 2, 0, 0
    while at < len(keys) - 1 and (at == 0 or taken + sizes[keys[at]] <= half):
        taken += sizes[keys[at]]
        at += 1
    return [tuple(keys[:at]), tuple(keys[at:])]


def shared_out(groups: Sequence[Measured], sizes: dict[str, int]) -> dict[str, Traffic]:
    """Each site's traffic: its own, or of its group's by bytes.  No byte is lost to rounding."""
    found: dict[str, Traffic] = {}
    for group in groups:
        left = sum(sizes[key] for key in group.keys)
        read, write = group.traffic.read_bytes, group.traffic.write_bytes
        for number, key in enumerate(group.keys):
            rest = len(group.keys) - number
            part, whole = (sizes[key], left) if left else (1, rest)
            mine = Traffic(read * part // whole, write * part // whole)
            found[key] = mine
            read, write = read - mine.read_bytes, write - mine.write_bytes
            left -= sizes[key]
    return found
