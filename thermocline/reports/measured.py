"""What a plan promised, and what a guided run did."""

from typing import Any

from thermocline.reports.figure import WIDTH, Figure
from thermocline.reports.study import Planned, Study
from thermocline.run.summary import Run

MIB = 2**20


def peaks(run: Run) -> list[int]:
    """Each tier's highest resident bytes, all processes together."""
    totals = [0] * len(run.tiers)
    for process in run.processes:
        for tier in process.tiers:
            if tier.tier < len(totals):
                totals[tier.tier] += tier.peak_resident_bytes
    return totals


def planned_for(study: Study, run: Run) -> Planned | None:
    """The plan that a run most likely followed: its strategy's, of its capacity if there is one."""
    same = [each for each in study.planned if each.plan.strategy == run.strategy]
    capacity = run.tiers[0].capacity_bytes
    exact = [each for each in same if each.plan.capacity_bytes == capacity]
    return next(iter(exact or same), None)


def figure(study: Study) -> Figure | None:
    """Peak bytes in each tier, predicted beside measured."""
    rows: list[dict[str, Any]] = []
    for name, run in study.runs:
        planned = planned_for(study, run)
        predicted = planned.prediction.peak if planned else []
        for tier, held in enumerate(peaks(run)):
            at = {"tier": run.tiers[tier].name, "run": name}
            rows.append({**at, "what": "measured", "mib": held / MIB})
            if tier < len(predicted):
                rows.append({**at, "what": "predicted", "mib": predicted[tier] / MIB})
    if not rows:
        return None
    return Figure(
        "measured",
        "Predicted and measured",
        "Most bytes that were resident in each tier at a time: as the plan had it, and as the "
        "kernel and the run's books had it.",
        {
            "data": {"values": rows},
            "facet": {"row": {"field": "run", "title": None}},
            "spec": {
                "width": WIDTH,
                "height": {"step": 18},
                "mark": "bar",
                "encoding": {
                    "y": {"field": "tier", "type": "nominal", "sort": None, "title": None},
                    "yOffset": {"field": "what"},
                    "color": {"field": "what", "title": None},
                    "x": {"field": "mib", "type": "quantitative", "title": "peak (MiB)"},
                    "tooltip": [
                        {"field": "tier"},
                        {"field": "what"},
                        {"field": "mib", "title": "MiB", "format": ".1f"},
                    ],
                },
            },
        },
    )
