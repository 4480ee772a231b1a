"""Sites by context as a treemap: area is bytes, colour is hotness."""

from typing import Any

from thermocline.profiles.model import Profile
from thermocline.reports.figure import WIDTH, Figure, Spec
from thermocline.reports.study import Study
from thermocline.sites import key as site_key

LARGEST = 400  # sites that are drawn each for itself; smaller ones would be slivers
ROOT = "all"


def figure(study: Study) -> Figure | None:
    """Nested by the call path from the outside in: what has one caller lies together."""
    if study.profile is None:
        return None
    nodes = _nodes(study.profile)
    if len(nodes) < 2:
        return None
    return Figure(
        "treemap",
        "Sites by context",
        "Area: bytes at the site's peak. Colour: bytes of memory traffic for each byte, dark is "
        "hot. What is called from the same place lies together; the smallest sites are one box.",
        _spec(nodes),
        "vega",
    )


def _nodes(profile: Profile) -> list[dict[str, Any]]:
    """Ids, parents, sizes; only leaves have sizes."""
    sized = sorted((s for s in profile.heap if s.bytes), key=lambda s: (-s.bytes, s.key))
    nodes: dict[str, dict[str, Any]] = {ROOT: {"id": ROOT, "parent": None, "name": ROOT}}
    for site in sized[:LARGEST]:
        parsed = site_key.parse(site.key)
        frames = [f"{parsed.function}@{parsed.position}", *parsed.context]
        parent = ROOT
        for frame in [*reversed(frames[1:])]:
            path = f"{parent} > {frame}"
            nodes.setdefault(path, {"id": path, "parent": parent, "name": frame})
            parent = path
        nodes[f"site {site.key}"] = {
            "id": f"site {site.key}",
            "parent": parent,
            "name": parsed.function,
            "site": site.key,
            "bytes": site.bytes,
            "mib": site.bytes / 2**20,
            "hotness": site.traffic_bytes / site.bytes,
        }
    rest = sized[LARGEST:]
    if rest:
        held = sum(site.bytes for site in rest)
        moved = sum(site.traffic_bytes for site in rest)
        name = f"{len(rest)} smaller sites"
        nodes[name] = {
            "id": name, "parent": ROOT, "name": name, "site": name, "bytes": held,
            "mib": held / 2**20, "hotness": moved / held,
        }  # fmt: skip
    return list(nodes.values())


def _spec(nodes: list[dict[str, Any]]) -> Spec:
    return {
        "width": WIDTH,
        "height": 380,
        "data": [
            {
                "name": "tree",
                "values": nodes,
                "transform": [
                    {"type": "stratify", "key": "id", "parentKey": "parent"},
                    {
                        "type": "treemap",
                        "field": "bytes",
                        "round": True,
                        "paddingInner": 1,
                        "paddingOuter": 2,
                        "size": [{"signal": "width"}, {"signal": "height"}],
                    },
                ],
            },
            {
                "name": "leaves",
                "source": "tree",
                "transform": [{"type": "filter", "expr": "isValid(datum.site)"}],
            },
        ],
        "scales": [
            {
                "name": "heat",
                "type": "symlog",
                "domain": {"data": "leaves", "field": "hotness"},
                "range": {"scheme": "yelloworangered"},
                "domainMin": 0,
            }
        ],
        "legends": [{"fill": "heat", "title": "traffic/byte", "type": "gradient"}],
        "marks": [
            {
                "type": "rect",
                "from": {"data": "leaves"},
                "encode": {
                    "update": {
                        **{side: {"field": side} for side in ("x0", "y0", "x1", "y1")},
                        "x": {"field": "x0"},
                        "y": {"field": "y0"},
                        "x2": {"field": "x1"},
                        "y2": {"field": "y1"},
                        "fill": {"scale": "heat", "field": "hotness"},
                        "tooltip": {
                            "signal": "{'site': datum.site, "
                            "'MiB': format(datum.mib, '.2f'), "
                            "'traffic per byte': format(datum.hotness, '.2f')}"
                        },
                    }
                },
            },
            {
                "type": "text",
                "from": {"data": "leaves"},
                "interactive": False,
                "encode": {
                    "update": {
                        "x": {"signal": "datum.x0 + 4"},
                        "y": {"signal": "datum.y0 + 4"},
                        "baseline": {"value": "top"},
                        "fontSize": {"value": 11},
                        "fill": {"value": "#1b1b1b"},
                        "limit": {"signal": "max(1, datum.x1 - datum.x0 - 8)"},
                        "text": {
                            "signal": "datum.x1 - datum.x0 > 40 && datum.y1 - datum.y0 > 16"
                            " ? datum.name : ''"
                        },
                    }
                },
            },
        ],
    }
