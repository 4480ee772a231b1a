"""Figure 2: cumulative capacity and bandwidth of sites in order of hotness."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from thermocline.profiles.model import Profile
from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.membrain import common, paper
from thermocline.reproduce.study import Run, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHARES = (0.125, 0.23, 0.25, 0.5)  # of capacity, for the table


@dataclass(frozen=True)
class Curve:
    """Points (share of capacity, share of bandwidth), from (0, 0) on; one a site."""

    capacity: tuple[float, ...]
    bandwidth: tuple[float, ...]

    def at(self, share: float) -> float:
        """The bandwidth that so much capacity holds, at most a site in part."""
        points = list(zip(self.capacity, self.bandwidth, strict=True))
        for (x0, y0), (x1, y1) in itertools.pairwise(points):
            if x1 >= share:
                return y0 if x1 == x0 else y0 + (y1 - y0) * (share - x0) / (x1 - x0)
        return points[-1][1]


def curve(profile: Profile) -> Curve:
    """Hottest first (section III): bandwidth / peak resident bytes; what has no bytes is first.

    Normalised by the peak and the traffic of the whole program, so that capacity may pass 1 where
    sites have their peaks at different times.
    """
    sites = sorted(
        profile.heap,
        key=lambda site: (-site.traffic_bytes / site.bytes if site.bytes else -1e300, site.key),
    )
    capacity, bandwidth = [0.0], [0.0]
    for site in sites:
        capacity.append(capacity[-1] + site.bytes / max(1, profile.peak_resident_bytes))
        bandwidth.append(bandwidth[-1] + site.traffic_bytes / max(1, profile.traffic_bytes))
    return Curve(tuple(capacity), tuple(bandwidth))


def runs(_: Study) -> Sequence[Run]:
    """None: profiles say it all."""
    return []


def result(study: Study) -> Result:
    """The curves, read at some capacities."""
    curves = {
        (each.program, context): curve(study.prepared(each.program, context).profile)
        for each in study.workloads
        for context in paper.CONTEXTS
    }
    table = Table(
        "Figure 2: share of bandwidth in the hottest sites of a share of capacity (one in part)",
        ("workload", "context", "sites", "hottest site", *(f"{100 * x:g} %" for x in SHARES)),
        tuple(
            (
                common.label(each),
                str(context),
                str(len(curves[each.program, context].capacity) - 1),
                common.percent(max(_steps(curves[each.program, context].bandwidth))),
                *(common.percent(curves[each.program, context].at(share)) for share in SHARES),
            )
            for context in paper.CONTEXTS
            for each in study.workloads
        ),
    )
    by_name = {each.stands_for: each for each in study.workloads}
    labels = {each.program: common.label(each) for each in study.workloads}

    def draw(figure: "Figure") -> None:
        _draw(figure, labels, curves)

    data = {
        f"context{context}": {
            each.program: {
                "capacity": curves[each.program, context].capacity,
                "bandwidth": curves[each.program, context].bandwidth,
            }
            for each in study.workloads
        }
        for context in paper.CONTEXTS
    }
    notes = (
        "bandwidth of a site: bytes to and from memory over the whole run, exact for the"
        " annotated code (no prefetcher); hottest site: the largest share of one site",
        *common.scale_notes(study)[:1],
    )
    claims = _claims({name: by_name[name].program for name in by_name}, curves)
    return Result((table,), claims, notes, data, draw, (14, 5.5))


def _steps(values: Sequence[float]) -> list[float]:
    return [after - before for before, after in itertools.pairwise(values)]


def _claims(programs: dict[str, str], curves: dict[tuple[str, int], Curve]) -> tuple[Claim, ...]:
    claims = []
    if "qmcpack" in programs:
        found = curves[programs["qmcpack"], 0].at(paper.QMCPACK_CAPACITY)
        claims.append(
            Claim(
                "III",
                f"{common.percent(paper.QMCPACK_CAPACITY)} of qmcpack's capacity, without context,"
                f" has more than {common.percent(paper.QMCPACK_BANDWIDTH)} of its bandwidth",
                common.percent(found),
                found > paper.QMCPACK_BANDWIDTH,
            )
        )
    for name in ("imagick", "amg"):
        if name not in programs:
            continue
        plain, context = (curves[programs[name], n] for n in paper.CONTEXTS)
        largest = max(_steps(plain.capacity)) / plain.capacity[-1]
        claims.append(
            Claim(
                "III",
                f"{name} allocates almost all of its data at one source position",
                f"{common.percent(largest)} of it",
                largest > 0.9,
            )
        )
        gain = context.at(0.25) - plain.at(0.25)
        claims.append(
            Claim(
                "III",
                f"context shows {name}'s bandwidth clustered in less capacity",
                f"a quarter of the capacity has {common.percent(plain.at(0.25))} of the bandwidth"
                f" without context, {common.percent(context.at(0.25))} with",
                gain > 0,
            )
        )
    return tuple(claims)


def _draw(figure: "Figure", labels: dict[str, str], curves: dict[tuple[str, int], Curve]) -> None:
    axes = figure.subplots(2, len(labels), sharex="col", sharey=True, squeeze=False)
    for column, (program, name) in enumerate(labels.items()):
        for row, context in enumerate(paper.CONTEXTS):
            shown = curves[program, context]
            axis = axes[row][column]
            axis.plot([0, 1], [0, 1], color="#cccccc", linewidth=1, zorder=0)
            axis.plot(shown.capacity, shown.bandwidth, marker="o", markersize=3, color="#0072b2")
            axis.set_title(f"{name}\ncontext {context}", fontsize=9)
            axis.grid(alpha=0.3)
        axes[1][column].set_xlabel("capacity / peak")
    for row in range(2):
        axes[row][0].set_ylabel("cumulative bandwidth")


ITEM = Item("fig2", "bandwidth and capacity of sites by hotness", runs, result)
