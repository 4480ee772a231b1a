"""How much of the traffic the hottest bytes carry (Olson et al. 2018, Fig. 2)."""

from typing import Any

from thermocline.reports.figure import COLOURS, HEIGHT, WIDTH, Figure
from thermocline.reports.study import Study

MIB = 2**20
POINTS = 2000  # more would not be seen


def figure(study: Study) -> Figure | None:
    """Cumulated traffic over cumulated bytes, hottest first, and where the plan's capacity ends."""
    points = _points(study)
    if len(points) < 2:
        return None
    room = study.room
    # No drawing below the parameter: the page sets it when the boundary is dragged.
    boundary: dict[str, Any] = {
        "data": {"values": [{}]},
        "transform": [
            {"calculate": "room", "as": "x"},
        ],
        "layer": [
            {"mark": {"type": "rule", "strokeDash": [5, 3], "strokeWidth": 2}},
            {
                "mark": {"type": "text", "align": "left", "dx": 5, "baseline": "top"},
                "encoding": {"y": {"value": 2}, "text": {"value": "the heap's part of tier 0"}},
            },
        ],
        "encoding": {"x": {"field": "x", "type": "quantitative"}},
    }
    return Figure(
        "curve",
        "What the hottest memory carries",
        "Sites from the hottest byte to the coldest: how much memory they need together, and how "
        "much of the program's memory traffic is theirs. The steeper the start, the more a little "
        "fast memory gives.",
        {
            "width": WIDTH,
            "height": HEIGHT,
            "params": [{"name": "room", "value": (room or 0) / MIB}],
            "layer": [
                {
                    "data": {"values": points},
                    "mark": {"type": "area", "line": True, "color": COLOURS[0], "opacity": 0.4},
                    "encoding": {
                        "x": {
                            "field": "mib",
                            "type": "quantitative",
                            "title": "memory of the hottest sites (MiB)",
                        },
                        "y": {
                            "field": "share",
                            "type": "quantitative",
                            "title": "share of memory traffic",
                            "axis": {"format": "%"},
                            "scale": {"domain": [0, 1]},
                        },
                        "tooltip": [
                            {"field": "mib", "title": "MiB", "format": ".1f"},
                            {"field": "share", "title": "traffic", "format": ".1%"},
                            {"field": "sites", "title": "sites"},
                        ],
                    },
                },
                *([boundary] if room else []),
            ],
        },
    )


def _points(study: Study) -> list[dict[str, float]]:
    total = study.profile.traffic_bytes if study.profile else 0
    if not total:
        return []
    points = [{"mib": 0.0, "share": 0.0, "sites": 0.0}]
    held = carried = 0
    ranked = study.ranked
    every = max(1, len(ranked) // POINTS)
    for rank, site in enumerate(ranked, start=1):
        held += site.bytes
        carried += site.traffic
        if rank % every == 0 or rank == len(ranked):
            points.append(
                {
                    "mib": held / MIB,
                    "share": carried / total,
                    "sites": float(rank),
                }
            )
    return points
