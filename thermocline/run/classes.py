"""The placement classes of a guided run: each tier, and each way to have sites' pages."""

from dataclasses import dataclass

from thermocline.errors import Misuse
from thermocline.planning.model import Plan, PlannedSite

MAX_CLASSES = 16  # the runtime has as many, tiers among them
# How fine shares are: a thousandth of a site, or as coarse as makes the classes few enough.
PARTS = (1024, 256, 64, 16, 8, 4)


@dataclass(frozen=True)
class Classes:
    """The splits' shares, one number a tier, and each site's class by its key.

    A tier is the class of its own number; splits are numbered on from the tiers.  `spread`: the
    numbers of those whose pages go round a tier's nodes; `huge`: of those in huge pages.
    """

    splits: list[tuple[int, ...]]
    numbers: dict[str, int]
    spread: frozenset[int] = frozenset()
    huge: frozenset[int] = frozenset()


def of(plan: Plan, tiers: int, spread: bool = True) -> Classes:
    """Sites of the same shares have one class together.  Without `spread` none is spread."""
    for parts in PARTS:
        kinds = {
            site.key: (_rounded(site, tiers, parts), spread and site.spread, site.huge)
            for site in plan.sites
        }
        # What is in one tier, all but a rounding, is whole.
        splits = list(dict.fromkeys(kind for kind in kinds.values() if _is_split(*kind)))
        if tiers + len(splits) <= MAX_CLASSES:
            number = {kind: tiers + index for index, kind in enumerate(splits)}
            return Classes(
                [shares for shares, _, _ in splits],
                {site.key: number.get(kinds[site.key], site.tier) for site in plan.sites},
                frozenset(number[kind] for kind in splits if kind[1]),
                frozenset(number[kind] for kind in splits if kind[2]),
            )
    raise Misuse(
        f"the plan has its sites in more ways than the {MAX_CLASSES - tiers} that a run can hold: "
        "give some of them the same shares"
    )


def _is_split(shares: tuple[int, ...], spread: bool, huge: bool) -> bool:
    return spread or huge or sum(share > 0 for share in shares) > 1


def _rounded(site: PlannedSite, tiers: int, parts: int) -> tuple[int, ...]:
    shares = [round(parts * share) for share in site.shares]
    if (site.spread or site.huge) and not any(shares):
        shares = [int(tier == site.tier) for tier in range(tiers)]
    return tuple(shares + [0] * (tiers - len(shares)))
