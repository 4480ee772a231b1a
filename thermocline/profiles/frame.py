"""A profile's sites as a data frame."""

from typing import TYPE_CHECKING

from thermocline import frames
from thermocline.frames import COUNT, LARGE, MAYBE, NUMBER, TEXT
from thermocline.profiles import uncertainty
from thermocline.sites import key as keys

if TYPE_CHECKING:
    from pandas import DataFrame

    from thermocline.profiles.model import Profile, Site

COLUMNS = {
    "key": TEXT,
    "kind": TEXT,
    "function": TEXT,
    "position": TEXT,
    "routine": TEXT,
    "traffic_bytes": COUNT,
    "traffic_share": NUMBER,
    "read_bytes": COUNT,
    "write_bytes": COUNT,
    "loads": COUNT,
    "stores": COUNT,
    "allocations": COUNT,
    "frees": COUNT,
    "allocated_bytes": COUNT,
    "peak_live_bytes": COUNT,
    "peak_resident_bytes": COUNT,
    "resident_at_peak_bytes": COUNT,
    "first_touch_seconds": NUMBER,
    "mean_lifetime_seconds": NUMBER,
    "max_lifetime_seconds": NUMBER,
    # Of methods that sample; else missing.
    "samples": MAYBE,
    "effective_samples": MAYBE,
    "events": LARGE,
    "mean_latency_cycles": MAYBE,
    "isolation_group": MAYBE,
    "traffic_bytes_low": NUMBER,
    "traffic_bytes_high": NUMBER,
}


def build(profile: "Profile") -> "DataFrame":
    """The most traffic first."""
    ranked = sorted(profile.sites, key=lambda site: (-site.traffic_bytes, site.key))
    return frames.of((_row(profile, site) for site in ranked), COLUMNS)


def _row(profile: "Profile", site: "Site") -> dict[str, object]:
    key = keys.parse(site.key)
    total = profile.traffic_bytes
    complete = uncertainty.is_complete(profile)
    low, high = uncertainty.interval(site, site.traffic_bytes, complete) or (None, None)
    return {
        **site.model_dump(exclude={"series", "paths"}),
        "function": key.function,
        "position": key.position,
        "traffic_bytes": site.traffic_bytes,
        "traffic_share": site.traffic_bytes / total if total else None,
        "traffic_bytes_low": low,
        "traffic_bytes_high": high,
    }
