"""What `thermocline plan --huge` says: which sites are worth huge pages."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from thermocline.planning.huge import Site

SHOWN = 10


def show(sites: "Mapping[str, Site]") -> None:
    """A sum, and the sites that would save most."""
    from thermocline import units
    from thermocline.cli import output
    from thermocline.planning import huge

    chosen = [site for site in sites.values() if site.huge]
    saved = sum(site.saved_share for site in chosen)
    print(
        f"{len(chosen)} sites are marked huge: pages of 2 MiB would save page walks of "
        f"{units.format_share(saved)} of the time, at most (a site has to save "
        f"{units.format_share(huge.LEAST)} and have 2 MiB)"
    )
    print()
    column = output.Column
    output.table(
        [
            column("huge"),
            column("saves of the time", True),
            column("L2-TLB misses, 4 KiB", True),
            column("2 MiB", True),
            column("site"),
        ],
        [
            [
                "yes" if site.huge else "no",
                units.format_share(site.saved_share),
                str(site.small_misses),
                str(site.large_misses),
                site.key,
            ]
            for site in sorted(sites.values(), key=lambda site: -site.saved_share)[:SHOWN]
        ],
    )
    print()
