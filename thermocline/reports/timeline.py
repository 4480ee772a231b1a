"""Traffic and residency over time, the largest sites each for itself."""

from typing import Any

import numpy as np

from thermocline.profiles.timeline import Floats
from thermocline.reports.figure import HEIGHT, WIDTH, Figure, Spec
from thermocline.reports.study import Study
from thermocline.sites import key as site_key

LARGEST = 6
INTERVALS = 300  # more are added up in groups


def traffic(study: Study) -> Figure | None:
    """Bytes per second to and from memory."""
    profile = study.profile
    if profile is None or profile.series is None or profile.series.count < 2:
        return None
    per_second = profile.timeline.traffic / profile.series.interval_seconds / 1e6
    return Figure(
        "traffic",
        "Memory traffic over time",
        "Each site's bytes from and to memory; the six sites with most of them apart.",
        _spec(study, per_second, "traffic (MB/s)", np.mean),
    )


def residency(study: Study) -> Figure | None:
    """Resident bytes."""
    profile = study.profile
    if profile is None or profile.series is None or profile.series.count < 2:
        return None
    return Figure(
        "residency",
        "Resident memory over time",
        "Each site's resident bytes, sampled; the six largest sites apart.",
        _spec(study, profile.timeline.resident / 2**20, "resident (MiB)", np.max),
    )


def _spec(study: Study, values: Floats, title: str, gather: Any) -> Spec:
    assert study.profile is not None and study.profile.series is not None
    sites = study.profile.timeline.sites
    group = max(1, -(-len(values) // INTERVALS))
    grouped = np.array(
        [gather(values[start : start + group], axis=0) for start in range(0, len(values), group)]
    )
    order = np.argsort(-grouped.sum(axis=0), kind="stable")
    rows: list[dict[str, Any]] = []
    step = study.profile.series.interval_seconds * group

    def add(name: str, series: Floats) -> None:
        rows.extend(
            {"site": name, "second": index * step, "value": float(value)}
            for index, value in enumerate(series)
        )

    for rank, index in enumerate(order[:LARGEST], start=1):
        parsed = site_key.parse(sites[index].key)
        add(f"{rank}. {parsed.function} {parsed.position.rpartition('/')[2]}", grouped[:, index])
    if len(order) > LARGEST:
        add(f"{len(order) - LARGEST} others", grouped[:, order[LARGEST:]].sum(axis=1))
    names = list(dict.fromkeys(row["site"] for row in rows))
    return {
        "width": WIDTH,
        "height": HEIGHT - 80,
        "data": {"values": rows},
        "mark": "area",
        "encoding": {
            "x": {"field": "second", "type": "quantitative", "title": "time (s)"},
            "y": {"field": "value", "type": "quantitative", "title": title},
            "color": {
                "field": "site",
                "type": "nominal",
                "sort": names,
                "title": None,
                "legend": {"orient": "bottom", "columns": 1, "labelLimit": WIDTH},
            },
            "tooltip": [
                {"field": "site"},
                {"field": "second", "format": ".3f", "title": "time (s)"},
                {"field": "value", "format": ".3g", "title": title},
            ],
        },
    }
