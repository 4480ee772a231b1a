"""A machine's roofline, power-line and arch-line over the intensity, for splits of its traffic."""

from collections.abc import Sequence
from typing import Any

from thermocline.machine.model import Machine
from thermocline.models import power, roofline, traffic
from thermocline.models import splits as measured_splits
from thermocline.profiles.model import Profile

Splits = Sequence[tuple[float, ...]]


def splits(machine: Machine, text: str | None) -> Splits:
    """The asked one (a share a tier, `90%,10%`), or those worth a look."""
    return [traffic.parse(machine, text)] if text else traffic.shown(machine)


def to_json(machine: Machine, chosen: Splits, profile: Profile | None = None) -> dict[str, Any]:
    """All lines; flops a second, bytes a second, watts, flops a joule.

    `profile`: and its sites on the roofline.
    """
    roof = roofline.roof(machine)
    data: dict[str, Any] = {
        "roof": {"flops": roof.flops, "source": roof.source},
        "model": "modelled",
        "not_in_power": power.missing(machine),
        "splits": [_split(machine, shares) for shares in chosen],
        "measured": [
            {"cpu_node": curve.cpu_node, "memory_node": curve.memory_node, "points": points}
            for curve, points in roofline.measured(machine)
        ],
        "measured_splits": [vars(each) for each in measured_splits.measured(machine)],
    }
    if profile is not None:
        data["sites"] = [vars(site) for site in roofline.sites(machine, profile.sites)]
    return data


def _split(machine: Machine, shares: tuple[float, ...]) -> dict[str, Any]:
    points = []
    for intensity in roofline.INTENSITIES:
        drawn = power.draw(machine, shares, intensity)
        point = {
            "flops_per_byte": intensity,
            "flops": roofline.attainable(machine, shares, intensity),
        }
        if drawn:
            point |= {
                "watts": drawn.watts,
                "memory_watts": drawn.memory_watts,
                "flops_per_joule": drawn.flops_a_joule,
            }
        points.append(point)
    return {
        "shares": list(shares),
        "bandwidth": traffic.bandwidth(machine, shares),
        "ridge": roofline.ridge(machine, shares),
        "points": points,
    }
