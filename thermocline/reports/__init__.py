"""Reports: one HTML page, or pictures, from what the other verbs made of one program.

A figure is a file with a function `figure(study) -> Figure | None` and one line below; None where
the artefacts hold nothing to draw.  How to add one: docs/report.md.
"""

from collections.abc import Callable

from thermocline.reports import curve, measured, schemes, strategies, timeline, treemap
from thermocline.reports.figure import Figure
from thermocline.reports.study import Study

FIGURES: tuple[Callable[[Study], Figure | None], ...] = (
    curve.figure,
    strategies.figure,
    schemes.figure,
    measured.figure,
    treemap.figure,
    timeline.traffic,
    timeline.residency,
)


def figures(study: Study) -> list[Figure]:
    """All that there is something to draw for."""
    return [made for make in FIGURES if (made := make(study)) is not None]
