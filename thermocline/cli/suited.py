"""What `thermocline plan --trace` says: which sites suit a hardware cache."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thermocline.planning.model import Plan
    from thermocline.planning.suitability import Site

SHOWN = 10


def show(plan: "Plan", sites: "Mapping[str, Site]") -> None:
    """A sum, and the sites that wait longest."""
    from thermocline import units
    from thermocline.cli import output

    known = [sites[site.key] for site in plan.sites if site.key in sites]
    moved = sum(site.bytes for site in known)
    for verdict in ("cache", "placement", "either"):
        those = [site for site in known if site.suits == verdict]
        share = sum(site.bytes for site in those) / moved if moved else 0.0
        what = {
            "cache": "would wait less behind a cache of that size than where the plan has them",
            "placement": "wait less where the plan has them",
            "either": "don't care",
        }[verdict]
        print(f"{len(those)} sites ({units.format_share(share)} of what is read) {what}")
    print()
    longest = sorted(known, key=lambda site: -max(site.placed_seconds, site.cached_seconds))
    column = output.Column
    output.table(
        [
            column("suits"),
            column("waits, placed", True),
            column("waits, cached", True),
            column("read from tier 0, placed", True),
            column("cache hits", True),
            column("site"),
        ],
        [
            [
                site.suits,
                units.format_duration(site.placed_seconds),
                units.format_duration(site.cached_seconds),
                units.format_share(site.near_share),
                units.format_share(site.hit_rate),
                site.key,
            ]
            for site in longest[:SHOWN]
        ],
    )
    print()


def as_json(sites: "Mapping[str, Site]") -> list[dict[str, Any]]:
    """One object a site."""
    from dataclasses import asdict

    return [asdict(site) for site in sites.values()]
