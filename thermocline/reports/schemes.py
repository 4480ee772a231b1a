"""Simulated schemes side by side."""

from thermocline.reports.figure import COLOURS, WIDTH, Figure
from thermocline.reports.study import Study


def figure(study: Study) -> Figure | None:
    """Speed-ups over the baseline, with the host's error bars where it was calibrated."""
    rows = []
    for _, simulation in study.simulations:
        for row in simulation.rows:
            low, high = row.speedup_range or (None, None)
            at = f" at {row.capacity}" if row.capacity else ""
            rows.append(
                {
                    "scheme": f"{row.scheme}{at}",
                    "trace": row.trace,
                    "speedup": row.speedup,
                    "low": low,
                    "high": high,
                    "seconds": row.result.seconds,
                }
            )
    if not rows:
        return None
    baseline = study.simulations[0][1].baseline
    several = len({row["trace"] for row in rows}) > 1
    shared = {"y": {"field": "scheme", "type": "nominal", "sort": None, "title": None}}
    bars = {
        "mark": {"type": "bar", "color": COLOURS[2]},
        "encoding": {
            **shared,
            "x": {
                "field": "speedup",
                "type": "quantitative",
                "title": f"speed-up over {baseline} (times)",
            },
            "tooltip": [
                {"field": "trace"},
                {"field": "speedup", "format": ".2f"},
                {"field": "seconds", "title": "simulated time (s)", "format": ".4g"},
            ],
        },
    }
    ranges = {
        "mark": {"type": "errorbar", "ticks": True},
        "encoding": {
            **shared,
            "x": {"field": "low", "type": "quantitative"},
            "x2": {"field": "high"},
        },
    }
    calibrated = all(row["low"] is not None for row in rows)
    layers = [bars, ranges] if calibrated else [bars]
    inner = {"width": WIDTH, "height": {"step": 28}, "layer": layers}
    return Figure(
        "schemes",
        "Simulated schemes",
        "How much faster the machine would run the trace under each scheme. "
        + (
            "The lines hold nine programs of ten, by this host's calibration."
            if calibrated
            else "No error bars: thermocline machine calibrate was not run on that host."
        ),
        {
            "data": {"values": rows},
            **({"facet": {"row": {"field": "trace"}}, "spec": inner} if several else inner),
        },
    )
