"""What the items of this paper share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import geometric_mean
from typing import TYPE_CHECKING

from thermocline.machine.model import Machine
from thermocline.reproduce.optane import paper, small
from thermocline.reproduce.optane.runs import OptaneRun, OptaneStudy, earlier
from thermocline.reproduce.study import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GIB = small.GIB
SOCKETS = 2
# Frames of Memory Mode's far memory: strewn, as on a host that has been up for a while, or one
# behind the other, so that no two of what fits into the cache meet in it.
IN_ORDER = 1 << 20
MEMORY_MODE = "MemoryMode"
ORDERED = "MemoryMode, frames in order"
COLOURS = {
    "DRAM": "#0072b2",
    "PMM": "#d55e00",
    "MemoryMode": "#009e73",
    ORDERED: "#66c2a5",
    "DRAM-PMM-interleave": "#cc79a7",
}


def of(study: Study) -> OptaneStudy:
    """The study of this paper."""
    assert isinstance(study, OptaneStudy)
    return study


@dataclass(frozen=True)
class Measured:
    """A kernel's passes after the first, on the whole machine or the socket it runs on."""

    bytes: float  # that the program reads and writes
    seconds: float
    dram_bytes: float
    optane_bytes: float
    optane_joules: float

    @property
    def rate(self) -> float:
        """GB/s of the program."""
        return self.bytes / self.seconds / 1e9


def needs(run: OptaneRun) -> tuple[OptaneRun, OptaneRun]:
    """What measured() takes the difference of."""
    return run, earlier(run, 1)


def measured(study: Study, run: OptaneRun) -> Measured:
    """All passes less the first, which touches pages and fills caches."""
    made = of(study)
    whole, first = (made.answer(each) for each in needs(run))
    assert run.pattern is not None

    def tier(number: int, *names: str) -> float:
        sums = [
            sum(float(each["tiers"][number][name]) for name in names) for each in (whole, first)
        ]
        return (sums[0] - sums[1]) * made.factor

    return Measured(
        run.pattern.bytes * (run.passes - 1) * made.factor,
        float(whole["seconds"]) - float(first["seconds"]),
        tier(0, "read_bytes", "write_bytes"),
        tier(1, "read_bytes", "write_bytes"),
        tier(1, "energy_joules"),
    )


@dataclass(frozen=True)
class Watts:
    """What is drawn while a kernel runs.  Modelled."""

    dram: float
    optane: float
    static: float
    cpu: float

    @property
    def dynamic(self) -> float:
        """Of memory."""
        return self.dram + self.optane

    @property
    def memory(self) -> float:
        """All of it."""
        return self.dynamic + self.static

    @property
    def platform(self) -> float:
        """With the processors."""
        return self.memory + self.cpu


def watts(machine: Machine, found: Measured, sockets: int) -> Watts:
    """DRAM: bytes times the paper's watts over its bandwidth; Optane: blocks of its media.

    Both numbers are input; how many bytes and blocks there are in a second is not.
    """
    near = machine.tier[0]
    share = sockets / machine.cpu.sockets
    per_byte = 8 * small.count(near.read_energy)
    cpu = small.count(machine.cpu.core_watts) * machine.cpu.cores
    return Watts(
        found.dram_bytes * per_byte / found.seconds,
        found.optane_joules / found.seconds,
        small.count(near.static_watts) * share,
        cpu * share,
    )


def eq1(share: float, fast: float, slow: float) -> float:
    """Peng et al. 2019, Eq. 1: memories that share channels take turns."""
    return 1 / (share / fast + (1 - share) / slow)


def mean(values: Sequence[float]) -> float:
    """Geometric."""
    return geometric_mean(values)


def percent(value: float) -> str:
    """A share."""
    return f"{100 * value:.0f} %"


def span(values: Sequence[float], text: str = "{:.1f}") -> str:
    """The least and the greatest."""
    return f"{text.format(min(values))} to {text.format(max(values))}"


def notes(study: Study) -> tuple[str, ...]:
    """What every number was made at."""
    made = of(study)
    machine = made.whole_machine
    return (
        small.described(machine, small.DIVISOR),
        f"simulated: {small.THREADS} of {machine.cpu.cores // machine.cpu.sockets} cores of each"
        f" socket, one of its six channels and a sixth of the links; rates are times"
        f" {made.factor:g}. {paper.INPUT}: what the machine file and the device model were built"
        " from, which is no agreement",
    )


def lines(
    axis: "Axes",
    places: Sequence[float],
    series: Mapping[str, Sequence[float | None]],
    titles: tuple[str, str],
    colours: Mapping[str, str] | None = None,
) -> None:
    """One line a series over a logarithmic axis."""
    for name, values in series.items():
        points = [(x, y) for x, y in zip(places, values, strict=True) if y is not None]
        style = "--" if name.startswith("model") else "-"
        colour = (colours or COLOURS).get(name)
        xs, ys = [x for x, _ in points], [y for _, y in points]
        axis.plot(xs, ys, style, marker="o", markersize=3, label=name, color=colour)
    axis.set_xscale("log", base=2)
    axis.set_xticks(places)
    axis.set_xticklabels([f"{place:g}" for place in places], rotation=60, fontsize=7)
    axis.set_xlabel(titles[0])
    axis.set_ylabel(titles[1])
    axis.set_ylim(bottom=0)
    axis.grid(alpha=0.3)
    axis.legend(fontsize=7)


def bars(
    axis: "Axes",
    labels: Sequence[str],
    series: Mapping[str, Sequence[float]],
    title: str,
    colours: Mapping[str, str] | None = None,
) -> None:
    """Groups of bars, one a series."""
    width = 0.8 / max(1, len(series))
    for number, (name, values) in enumerate(series.items()):
        places = [place + (number - (len(series) - 1) / 2) * width for place in range(len(labels))]
        axis.bar(places, values, width, label=name, color=(colours or COLOURS).get(name))
    axis.set_xticks(range(len(labels)))
    axis.set_xticklabels(labels, fontsize=8)
    axis.set_ylabel(title)
    axis.grid(axis="y", alpha=0.3)
    axis.legend(fontsize=7)
