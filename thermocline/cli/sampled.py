"""What `thermocline profile` prints of methods that sample."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thermocline.profiles.model import Profile, Site


def is_sampled(found: "Profile") -> bool:
    """Whether sites' figures are estimates from samples."""
    return any(site.samples is not None for site in found.sites)


def counts_traffic(found: "Profile") -> bool:
    """False if the events sampled are neither loads nor stores."""
    return found.traffic_bytes > 0 or not any(site.samples for site in found.sites)


def interval_json(found: "Profile", site: "Site") -> "dict[str, object]":
    """A sampled site's intervals, in bytes and events."""
    from thermocline.profiles import uncertainty

    if site.samples is None:
        return {}
    return {
        f"{name}_interval": uncertainty.interval(site, figure, uncertainty.is_complete(found))
        for name, figure in (("traffic_bytes", site.traffic_bytes), ("events", site.events or 0))
    }


def print_events(found: "Profile", top: int) -> None:
    """The table where what was sampled is no traffic: page faults, breakpoints."""
    from thermocline import units
    from thermocline.cli import output
    from thermocline.profiles import uncertainty

    column = output.Column
    ranked = sorted(found.sites, key=lambda site: (-(site.events or 0), site.key))
    total = sum(site.events or 0 for site in ranked)
    print()
    output.table(
        [
            *(column(title, True) for title in ("events", "share", "95 %", "samples")),
            column("peak resident", True),
            column("site"),
        ],
        [
            [
                str(site.events or 0),
                units.format_share((site.events or 0) / total if total else None),
                uncertainty.format_interval(site, uncertainty.is_complete(found)),
                str(site.samples or 0),
                units.format_bytes(site.peak_resident_bytes),
                site.key,
            ]
            for site in ranked[:top]
        ],
    )
    if len(ranked) > top:
        print(f"... and {len(ranked) - top} more")


def describe(found: "Profile") -> str:
    """What was sampled, and what of it was lost."""

    def number(name: str) -> int:
        value = found.sampling.get(name)
        return value if isinstance(value, int) else 0

    events = found.sampling.get("events")
    names = [
        f"{event.get('name')} ({_rate(event)}; {event.get('counts')})"
        for event in (events if isinstance(events, list) else [])
        if isinstance(event, dict)
    ]
    text = f"{number('samples')} samples of {', '.join(names) or found.method}"
    for name in ("lost", "throttled", "damaged", "truncated"):
        if number(name):
            text += f", {number(name)} {name}"
    missing = number("processors") - number("rings")
    if missing > 0:
        text += f"; {missing} of {number('processors')} processors could not be sampled"
    if found.traffic_bytes and not any(site.write_bytes for site in found.sites):
        text += "; of loads only: what is written back, or prefetched, is not in it"
    if not counts_traffic(found):
        text += "; these are no loads or stores: a plan needs an event that is"
    return text


def _rate(event: "dict[str, Any]") -> str:
    if "period" in event:
        return f"one in {event['period']}"
    if "samples_per_second" not in event:
        return "one in so many, which changed"
    return f"up to {event.get('samples_per_second')} a second and processor"
