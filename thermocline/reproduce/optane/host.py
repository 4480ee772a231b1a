"""What this host gives beside the simulated machine, by the kernels of `machine measure`."""

from typing import Any

from thermocline import units
from thermocline.errors import ThermoclineError
from thermocline.machine.curves import What
from thermocline.reproduce.item import Table
from thermocline.reproduce.study import Study, Update

_VALUES = {"latency": (1e9, "ns"), "bandwidth": (1e-9, "GB/s"), "intensity": (1e-9, "GB/s")}


def measure(what: What, update: Update) -> dict[str, Any]:
    """Curves of the first node's processors and memory; what can't be measured is said."""
    from thermocline.machine import detect, measurement, measurement_plan

    wanted = measurement_plan.Wanted(what=(what,), goes=7, quick=what == "latency")
    try:
        host = detect.detect().machine
        plan = measurement_plan.plan(wanted, host)[:1]
        done = {"points": 0}

        def point(run: measurement_plan.Run) -> None:
            done["points"] += 1
            update("measuring this host", done["points"] / run.points)

        found = measurement.measure(plan, wanted, point)
    except ThermoclineError as error:
        return {"what": what, "model": "", "curves": {}, "notes": [str(error)]}
    curves = {
        curve.pattern: [
            [at, value * _VALUES[what][0]] for at, value in zip(curve.at, curve.values, strict=True)
        ]
        for curve in found.curves
    }
    return {"what": what, "model": host.cpu.model, "curves": curves, "notes": found.notes}


def data(study: Study, item: str) -> dict[str, Any] | None:
    """What measure() gave, if it ran."""
    found = study.measurements.get(item)
    return dict(found) if found else None


def tables(study: Study, item: str) -> list[Table]:
    """One, labelled as this host's, which has other memories than the paper's."""
    found = data(study, item)
    if not found:
        return []
    title = f"Measured on this host, not simulated ({found['model'] or 'nothing came out'})"
    title += "".join(f"; {note}" for note in found["notes"])
    curves = found["curves"]
    places = sorted({at for points in curves.values() for at, _ in points})
    unit = _VALUES[found["what"]][1]
    rows = []
    for place in places:
        values = [dict(map(tuple, points)).get(place) for points in curves.values()]
        texts = ("" if value is None else f"{value:.3g}" for value in values)
        rows.append((_at(found["what"], place), *texts))
    titles = {"latency": "buffer", "bandwidth": "threads", "intensity": "flops / byte"}
    return [Table(title, (titles[found["what"]], *(f"{c}, {unit}" for c in curves)), tuple(rows))]


def _at(what: What, place: float) -> str:
    return units.format_bytes(int(place)) if what == "latency" else f"{place:g}"
