"""Figure 17: power-line, roofline and arch-line at several distributions of read traffic."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from thermocline.models import power, roofline
from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.optane import common, host, paper, split
from thermocline.reproduce.optane.runs import OptaneRun
from thermocline.reproduce.study import Study, Update

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SAME = 1.25
_TITLES = (
    ("Figure 17a: power-line, W of the platform (modelled)", "W"),
    ("Figure 17b: roofline, Gflop/s", "Gflop/s"),
    ("Figure 17c: arch-line, Gflop/J (modelled)", "Gflop/J"),
)


def runs(study: Study) -> Sequence[OptaneRun]:
    """Figure 16's."""
    return split.runs()


def result(study: Study) -> Result:
    """Simulated, with the models of `machine show --roofline` beside."""
    machine = common.of(study).whole_machine
    points = {
        share: [split.of(study, share, i) for i in split.INTENSITIES] for share in split.OPTANE
    }
    watts = {s: [w.platform for _, w in points[s]] for s in points}
    flops = {s: [rate for rate, _ in points[s]] for s in points}
    arch = {s: [f / w for f, w in zip(flops[s], watts[s], strict=True)] for s in points}
    tables = [
        Table(
            title,
            ("flops / byte", *map(split.name, split.OPTANE)),
            tuple(
                (f"{i:g}", *(f"{values[s][at]:.3g}" for s in split.OPTANE))
                for at, i in enumerate(split.INTENSITIES)
            ),
        )
        for (title, _), values in zip(_TITLES, (watts, flops, arch), strict=True)
    ]
    modelled = {
        s: [roofline.attainable(machine, (1 - s, s), i) / 1e9 for i in split.INTENSITIES]
        for s in split.OPTANE
    }
    tables.append(_model(machine, modelled))
    tables += host.tables(study, ITEM.name)

    def draw(figure: "Figure") -> None:
        for axis, (title, unit), values in zip(
            figure.subplots(1, 3), _TITLES, (watts, flops, arch), strict=True
        ):
            for share in split.OPTANE:
                axis.plot(split.INTENSITIES, values[share], "o-", label=split.name(share))
            axis.set_xscale("log", base=2)
            axis.set_yscale("linear" if unit == "W" else "log")
            axis.set_title(title.split(",")[0], fontsize=9)
            axis.set_xlabel("flops / byte")
            axis.set_ylabel(unit)
            axis.grid(alpha=0.3)
        axis.legend(fontsize=6)

    data = {
        "flops_per_byte": split.INTENSITIES,
        "optane": split.OPTANE,
        "watts": list(watts.values()),
        "gflops": list(flops.values()),
        "model_gflops": list(modelled.values()),
        "host": host.data(study, ITEM.name),
    }
    notes = (*common.notes(study), split.NOTE)
    return Result(tuple(tables), claims(watts, flops, arch), notes, data, draw, (13, 4.5))


def _model(machine: Any, modelled: dict[float, list[float]]) -> Table:
    rows = []
    for at, i in enumerate(split.INTENSITIES):
        draws = [power.draw(machine, (1 - s, s), i) for s in (0.0, 1.0)]
        texts = (f"{draw.watts:.0f}" if draw else "" for draw in draws)
        rows.append((f"{i:g}", *(f"{modelled[s][at]:.4g}" for s in (0.0, 0.5, 1.0)), *texts))
    titles = ("flops / byte", "DRAM, Gflop/s", "half, Gflop/s", "Optane, Gflop/s", "DRAM, W",
              "Optane, W")  # fmt: skip
    name = "The analytic model, which no simulation is in (thermocline machine show --roofline)"
    return Table(name, titles, tuple(rows))


def claims(
    watts: dict[float, list[float]], flops: dict[float, list[float]], arch: dict[float, list[float]]
) -> tuple[Claim, ...]:
    """Of section 5.3."""
    two = split.INTENSITIES.index(2)
    gap = max(d - o for d, o in zip(watts[0.0], watts[1.0], strict=True))
    ridge = next(
        i
        for at, i in enumerate(split.INTENSITIES)
        if flops[0.0][at] > 0.9 * max(flops[0.0]) or at == len(split.INTENSITIES) - 1
    )
    below = all(max(flops, key=lambda s: flops[s][at]) == 0.0 for at in range(two))
    apart = max(flops[s][-1] for s in flops) / min(flops[s][-1] for s in flops) - 1
    saved = watts[0.0][0] - watts[0.1][0]
    best = max(arch, key=lambda s: arch[s][two + 1])
    return (
        Claim(
            "5.3",
            f"all traffic in DRAM draws over {paper.PLATFORM_WATTS} W, up to {paper.PLATFORM_GAP}"
            " W more than all in Optane",
            f"{max(watts[0.0]):.0f} W, {gap:.0f} W more (331 W of it are cores, all the time)",
            max(watts[0.0]) > paper.PLATFORM_WATTS and gap > paper.PLATFORM_GAP / SAME,
        ),
        Claim(
            "5.3",
            f"at low intensity 10 % of the traffic in Optane saves up to {paper.TEN_PERCENT_SAVES}"
            " W",
            f"{saved:.0f} W",
            saved > paper.TEN_PERCENT_SAVES / SAME,
        ),
        Claim(
            "5.3",
            "the ridge lies at 1 to 2 flops a byte",
            f"with all traffic in DRAM 90 % of the peak is reached at {ridge:g} (it follows from"
            " one flop an instruction)",
            paper.RIDGE[0] <= ridge <= paper.RIDGE[1],
        ),
        Claim("5.3", "below it, all traffic in DRAM is fastest", "so it is" if below else "no",
              below),
        Claim(
            "5.3",
            "above it distributions still differ, and 10 or 90 % in Optane is most efficient",
            f"rates differ by {100 * apart:.1f} % at 2^5; most flops a joule at 2^2:"
            f" {split.name(best)}",
            apart > 0.02 and best in (0.1, 0.9),
        ),
    )  # fmt: skip


def measure(study: Study, update: Update) -> dict[str, Any]:
    """Reading with more and more arithmetic on this host."""
    return host.measure("intensity", update)


ITEM = Item("fig17", "power-line, roofline and arch-line", runs, result, measure)
