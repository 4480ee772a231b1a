"""Figure 13: bandwidth spilling beside its model and Memory Mode."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from thermocline.models import traffic
from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.optane import accumulate, common, fig5, paper
from thermocline.reproduce.optane.runs import OptaneRun
from thermocline.reproduce.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES = accumulate.SIZES
LARGE = 1024


def runs(study: Study) -> Sequence[OptaneRun]:
    """Spilled at each size, each memory alone, and Figure 5's."""
    made = [accumulate.spilled(size) for size in SIZES]
    made += [accumulate.alone(scheme) for scheme in (accumulate.DRAM, accumulate.PMM)]
    return [*(each for run in made for each in common.needs(run)), *fig5.runs(study)]


def result(study: Study) -> Result:
    """Ours, the model at the paper's peaks and at ours, and what the text says."""
    machine = common.of(study).whole_machine
    found = [common.measured(study, accumulate.spilled(size)) for size in SIZES]
    rates = [each.rate for each in found]
    shares = [each.dram_bytes / (each.dram_bytes + each.optane_bytes) for each in found]
    peaks = [
        common.measured(study, accumulate.alone(scheme)).rate
        for scheme in (accumulate.DRAM, accumulate.PMM)
    ]
    ours = [common.eq1(share, *peaks) for share in shares]
    # The machine file's bandwidths are the paper's.
    stated = [traffic.bandwidth(machine, (share, 1 - share)) / 1e9 for share in shares]
    modes = fig5.rates(study)
    # The most that either option, on either kind of frames, gives.
    best = [max(line[at] for line in modes.values()) for at in range(len(fig5.SIZES))]
    modest = [modes["bandwidth, frames strewn"][at] for at in range(len(fig5.SIZES))]
    rows = tuple(
        (
            f"{size}",
            common.percent(shares[at]),
            f"{rates[at]:.1f}",
            f"{ours[at]:.1f}",
            f"{rates[at] / ours[at]:.3f}",
            f"{stated[at]:.1f}",
            f"{rates[at] / stated[at]:.3f}",
            f"{best[at]:.1f}" if at < len(best) else "does not fit",
            f"{rates[at] / best[at]:.2f}" if at < len(best) else "",
        )
        for at, size in enumerate(SIZES)
    )
    table = Table(
        "Figure 13: bandwidth spilling, GB/s of both sockets",
        ("GiB", "in DRAM", "spilled", "Eq. 1", "of it", "Eq. 1, input", "of it",
         "Memory Mode's best", "gain"),
        rows,
    )  # fmt: skip
    large = [at for at, size in enumerate(SIZES) if size >= LARGE]
    gains = [rates[at] / best[at] for at in large if at < len(best)]
    modest_gains = [rates[at] / modest[at] for at in large if at < len(best)]
    least, least_input = (
        min(rate / model for rate, model in zip(rates, models, strict=True))
        for models in (ours, stated)
    )
    most = sum(tier.capacity_bytes for tier in machine.tier) / machine.tier[1].capacity_bytes
    claims = (
        Claim(
            "goal",
            f"spilling reaches {common.percent(paper.MODEL_SHARE)} of Eq. 1 at every size",
            f"{100 * least:.1f} % at least, with the peaks of each memory alone here"
            f" ({peaks[0]:.0f} and {peaks[1]:.0f} GB/s); {100 * least_input:.1f} % with the"
            f" paper's ({paper.PEAK['dram']} and {paper.PEAK['optane']} GB/s, {paper.INPUT})",
            least >= paper.MODEL_SHARE,
        ),
        Claim(
            "5.1",
            f"above 1 TB spilling has {paper.SPILLING_GAIN:.1f} times the bandwidth of the best"
            " Memory Mode",
            f"{common.span(gains, '{:.2f}')} times; {common.span(modest_gains, '{:.2f}')} over the"
            " bandwidth option, which is the paper's best",
            min(modest_gains) > 0.8 * paper.SPILLING_GAIN,
        ),
        Claim(
            "5.1",
            f"above 1 TB it sustains {paper.SPILLED[0]} to {paper.SPILLED[1]} GB/s",
            f"{common.span([rates[at] for at in large])} GB/s",
            min(rates[at] for at in large) > 0.9 * paper.SPILLED[0],
        ),
        Claim(
            "5.1",
            f"it holds {common.percent(paper.SPILLING_MORE_DATA)} more data than Memory Mode",
            f"{common.percent(most - 1)} more by capacity: 168 GiB of DRAM beside 1536 GiB (the"
            " paper's Memory Mode ends at 1.28 TB, and does not say why)",
            most - 1 >= 0.9 * paper.SPILLING_MORE_DATA,
        ),
        Claim(
            "5.1",
            "where data fit into DRAM, both are near 200 GB/s",
            f"spilled {rates[0]:.0f}, Memory Mode's best {best[0]:.0f} GB/s at {SIZES[0]} GiB",
            min(rates[0], best[0]) > 0.9 * paper.PEAK["dram"],
        ),
    )

    def draw(figure: "Figure") -> None:
        series: dict[str, Sequence[float | None]] = {
            "bandwidth spilling": rates,
            "model: Eq. 1": ours,
        }
        colours = {"bandwidth spilling": "#0072b2", "model: Eq. 1": "black", **fig5.COLOURS}
        for name, values in modes.items():
            series[name] = [*values, *([None] * (len(SIZES) - len(values)))]
        common.lines(figure.subplots(), SIZES, series, ("GiB", "GB/s"), colours)

    data = {"gib": SIZES, "rate": rates, "eq1": ours, "eq1_input": stated, "dram_share": shares,
            "memory_mode": modes}  # fmt: skip
    return Result((table,), claims, common.notes(study), data, draw, (8, 4.5))


ITEM = Item("fig13", "bandwidth spilling, its model, and Memory Mode", runs, result)
