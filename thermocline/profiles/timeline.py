"""A profile over time, as arrays."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from thermocline.profiles.model import Profile, Site

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Timeline:
    """Resident bytes and traffic, intervals x sites; sites in order of first touch."""

    sites: list["Site"]
    resident: Floats
    traffic: Floats


def build(profile: "Profile") -> Timeline:
    """One interval where there is no series."""
    # Ties in time are broken by key, so that the answer does not depend on the file's order.
    sites = sorted(profile.sites, key=lambda s: (s.first_touch_seconds or 0.0, s.key))
    count = profile.series.count if profile.series else 0
    if count == 0:
        resident = np.array([[site.bytes for site in sites]], np.float64)
        traffic = np.array([[site.traffic_bytes for site in sites]], np.float64)
        return Timeline(sites, resident, traffic)
    # Filled site by site, so a site's intervals lie together.
    resident = np.zeros((len(sites), count))
    traffic = np.zeros((len(sites), count))
    for row, site in enumerate(sites):
        series = site.series
        if series.resident_bytes:
            resident[row] = series.resident_bytes
            traffic[row] = series.read_bytes
            traffic[row] += series.write_bytes
        else:
            resident[row] = site.bytes
        if site.traffic_bytes and not traffic[row].any():
            # Moved something, but in no interval: as if evenly while it was there.
            there = resident[row] > 0
            traffic[row] = there if there.any() else 1.0
    return Timeline(sites, resident.T, traffic.T)
