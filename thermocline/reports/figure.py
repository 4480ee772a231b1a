"""What a figure is: a Vega or Vega-Lite specification, for the page and for pictures alike."""

from dataclasses import dataclass
from typing import Any, Literal

Spec = dict[str, Any]

WIDTH, HEIGHT = 620, 300  # pixels

# Told apart by people who see few colours, on white and on black (Okabe and Ito 2008).
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999")


@dataclass(frozen=True)
class Figure:
    """`name` is the picture's file name, `caption` says how to read it."""

    name: str
    title: str
    caption: str
    spec: Spec
    language: Literal["vega", "vega-lite"] = "vega-lite"


def config(ink: str, grid: str, background: str | None) -> Spec:
    """Vega's look, for one colour of text and lines."""
    text = {"labelColor": ink, "titleColor": ink}
    return {
        "background": background,
        "font": "system-ui, sans-serif",
        "axis": {**text, "gridColor": grid, "domainColor": ink, "tickColor": ink},
        "legend": text,
        "header": text,
        "title": {"color": ink},
        "text": {"color": ink},
        "rule": {"color": ink},
        "view": {"stroke": grid},
        "range": {"category": list(COLOURS)},
    }


LIGHT = config("#1b1b1b", "#dddddd", None)
DARK = config("#e8e8e8", "#444444", None)
PAPER = config("#1b1b1b", "#dddddd", "white")
