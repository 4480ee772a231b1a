"""A profile's sites on a machine's roofline."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from thermocline.machine.model import Machine
    from thermocline.profiles.model import Profile

SITES = 20  # shown


def show(machine: "Machine", profile: "Profile") -> None:
    """A table of the heaviest."""
    from thermocline import units
    from thermocline.cli import output
    from thermocline.models import roofline

    found = roofline.sites(machine, profile.sites)
    column = output.Column
    print(
        "\nsites: references a second that cores and memory allow, with a site's data in one tier"
    )
    output.table(
        [
            column("traffic", True),
            column("references/byte", True),
            *(column(f"in {tier.name}", True) for tier in machine.tier),
            column("bound by"),
            column("site"),
        ],
        [
            [
                units.format_bytes(site.traffic_bytes),
                f"{site.per_byte:.3g}",
                *(f"{rate / 1e9:.3g} G/s" for rate in site.rates),
                ", ".join(dict.fromkeys(site.bound)),
                site.key,
            ]
            for site in found[:SITES]
        ],
    )
    if len(found) > SITES:
        print(f"and {len(found) - SITES} more sites")
    output.note(
        "a profile counts references, not floating-point operations: the sites' roof is the "
        "cores' clock and width"
    )
