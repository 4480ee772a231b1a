"""What an export is, and what each needs to know of a plan."""

from collections import Counter
from dataclasses import dataclass, field

from thermocline.planning.model import Plan
from thermocline.sites import key as keys


@dataclass(frozen=True)
class Export:
    """A plan in another tool's words."""

    files: dict[str, str]  # what to add to the output's name -> text
    use: str  # the command line; {out} is the output's name, {command} the program's
    lost: list[str]  # what that tool can't do


@dataclass(frozen=True)
class Frame:
    """A place in the source: the last two parts of its path, and the line."""

    file: str
    line: int

    @property
    def name(self) -> str:
        """The file's own name."""
        return self.file.rpartition("/")[2]


@dataclass
class Placed:
    """Sites whose place in the source is known, by call path, each in one tier."""

    tier_of: dict[tuple[Frame, ...], int] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)


def frames(key: str) -> tuple[Frame, ...] | None:
    """A site's call path, nearest first; None where a frame has no line in a source file."""
    taken = keys.parse(key)
    places = [taken.position, *(frame.rpartition("@")[2] for frame in taken.context)]
    found = [_place(place) for place in places]
    return tuple(frame for frame in found if frame) if all(found) else None


def _place(position: str) -> Frame | None:
    file, _, rest = position.partition(":")
    line = rest.partition(":")[0]
    known = file not in ("", "?") and line.isascii() and line.isdecimal() and int(line) > 0
    return Frame(file, int(line)) if known else None


def placed(plan: Plan, depth: int | None = None) -> Placed:
    """The plan's sites by the first `depth` frames, those with most traffic deciding.

    What that loses is said: sites without a place, in several tiers, or alike in these frames.
    """
    answer, unknown, split = Placed(), 0, 0
    wanted: dict[tuple[Frame, ...], Counter[int]] = {}
    for site in plan.sites:
        path = frames(site.key)
        if path is None:
            unknown += 1
            continue
        split += sum(share > 0 for share in site.shares) > 1
        # By traffic, then by bytes: a site without either still has its say.
        weight = site.traffic_bytes * 2**64 + site.bytes + 1
        wanted.setdefault(path[:depth], Counter())[site.tier] += weight
    for path, tiers in wanted.items():
        answer.tier_of[path] = max(tiers, key=lambda tier: (tiers[tier], -tier))
    mixed = sum(len(tiers) > 1 for tiers in wanted.values())
    for count, what in (
        (unknown, "have no line in a source file and are left out"),
        (split, "were to be in several tiers and are in the one of their largest share"),
    ):
        if count:
            answer.lost.append(f"{count} of {len(plan.sites)} sites {what}")
    if mixed:
        answer.lost.append(f"most traffic decides at places of several tiers' sites: {mixed}")
    return answer


def bytes_by_tier(plan: Plan, tiers: int) -> list[int]:
    """What the plan puts into each tier: sites at their peak, and what is not heap."""
    held = [0.0] * tiers
    for site in plan.sites:
        for tier, share in enumerate(plan.shares_of(site.key, "site", tiers)):
            held[tier] += share * site.bytes
    if plan.nonheap_tier != "none":
        held[min(plan.nonheap_tier, tiers - 1)] += plan.nonheap_bytes
    return [round(value) for value in held]


def heap_limit(plan: Plan, capacity: int) -> int:
    """What the plan leaves of tier 0 for the heap, on a machine whose tier 0 has `capacity`."""
    limit = min(plan.capacity_bytes or capacity, capacity)
    return max(0, limit - (plan.nonheap_bytes if plan.nonheap_tier == 0 else 0))
