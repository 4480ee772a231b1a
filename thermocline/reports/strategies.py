"""Plans side by side: what each would have the fast tier serve."""

from thermocline.reports.figure import COLOURS, WIDTH, Figure
from thermocline.reports.study import Planned, Study


def label(planned: Planned) -> str:
    """A plan among others."""
    capacity = f" at {planned.plan.capacity}" if planned.plan.capacity else ""
    return f"{planned.plan.strategy}{capacity}"


def figure(study: Study) -> Figure | None:
    """Predicted from the profile, beside first touch."""
    if study.first_touch is None:
        return None
    rows = [
        {"plan": label(planned), "file": planned.name, "share": planned.prediction.fast_share}
        for planned in (study.first_touch, *study.planned)
        if planned.prediction.fast_share is not None
    ]
    if not rows:
        return None
    return Figure(
        "strategies",
        "Plans beside first touch",
        f"Share of the program's memory traffic that {study.fast} would serve, predicted from the "
        "profile.",
        {
            "width": WIDTH,
            "height": {"step": 28},
            "data": {"values": rows},
            "mark": {"type": "bar", "color": COLOURS[0]},
            "encoding": {
                "y": {"field": "plan", "type": "nominal", "sort": None, "title": None},
                "x": {
                    "field": "share",
                    "type": "quantitative",
                    "title": "share of memory traffic",
                    "axis": {"format": "%"},
                    "scale": {"domain": [0, 1]},
                },
                "tooltip": [
                    {"field": "file", "title": "plan"},
                    {"field": "share", "title": "traffic", "format": ".1%"},
                ],
            },
        },
    )
