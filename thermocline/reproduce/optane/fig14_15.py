"""Figures 14 and 15: copying with what is written kept in DRAM, and the energy of each GB."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.optane import accumulate, common, paper
from thermocline.reproduce.optane.runs import GUIDED, OptaneRun, of_kernel
from thermocline.reproduce.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES = (4, 8, 16, 32, 64, 96, 128, 192, 256, 320)  # GiB of both arrays; DRAM has 168
ISOLATION = "write isolation"
CONFIGURATIONS = ("DRAM", "MemoryMode", common.ORDERED, "PMM", ISOLATION)
COLOURS = {**common.COLOURS, ISOLATION: "black"}
DRAM_HOLDS = 160
SAME = 1.2


def _run(configuration: str, gib: float) -> OptaneRun:
    pattern = accumulate.pattern(gib, kernel="copy")
    if configuration == ISOLATION:  # c = a
        return of_kernel(pattern, GUIDED, placed=(("a", (0.0, 1.0)), ("c", (1.0, 0.0))))
    if configuration == common.ORDERED:
        return of_kernel(pattern, common.MEMORY_MODE, contiguous=common.IN_ORDER)
    return of_kernel(pattern, configuration)


def _fits(configuration: str, gib: float) -> bool:
    return configuration != "DRAM" or gib <= DRAM_HOLDS


def runs(study: Study) -> Sequence[OptaneRun]:
    """Each configuration at the sizes that it holds."""
    return [
        each
        for configuration in CONFIGURATIONS
        for gib in SIZES
        if _fits(configuration, gib)
        for each in common.needs(_run(configuration, gib))
    ]


def _found(study: Study) -> dict[str, list[common.Measured | None]]:
    return {
        name: [
            common.measured(study, _run(name, gib)) if _fits(name, gib) else None for gib in SIZES
        ]
        for name in CONFIGURATIONS
    }


def _result(
    study: Study, title: str, unit: str, found: Mapping[str, Sequence[float | None]],
    claims: Sequence[Claim], more: Sequence[str],
) -> Result:  # fmt: skip
    rows = [
        (
            f"{gib}",
            *("" if (value := found[name][at]) is None else f"{value:.1f}" for name in found),
        )
        for at, gib in enumerate(SIZES)
    ]
    table = Table(f"{title}, {unit}", ("GiB", *found), tuple(rows))

    def draw(figure: "Figure") -> None:
        common.lines(figure.subplots(), SIZES, found, ("GiB of both arrays", unit), COLOURS)

    data = {"gib": SIZES, "values": found}
    notes = (*common.notes(study), *more)
    return Result((table,), tuple(claims), notes, data, draw, (8, 4.5))


def bandwidth(study: Study) -> Result:
    """Figure 14."""
    found = {
        name: [each.rate if each else None for each in of] for name, of in _found(study).items()
    }
    isolated, strewn, ordered = (
        [value or 0.0 for value in found[name]]
        for name in (ISOLATION, "MemoryMode", common.ORDERED)
    )
    medium = [
        (s / d, o / d)
        for s, o, d, gib in zip(strewn, ordered, found["DRAM"], SIZES, strict=True)
        if d and gib >= 32
    ]
    ahead = [gib for gib, i, s in zip(SIZES, isolated, strewn, strict=True) if i > s]
    ahead_ordered = [gib for gib, i, o in zip(SIZES, isolated, ordered, strict=True) if i > o]
    last = (isolated[-1], max(strewn[-1], ordered[-1]))
    claims = (
        Claim(
            "5.2",
            f"at the largest size write isolation sustains {paper.ISOLATED} GB/s, Memory Mode"
            f" {paper.MEMORY_MODE_COPY} GB/s: {paper.ISOLATION_GAIN} times",
            f"{last[0]:.1f} and {last[1]:.1f} GB/s: {last[0] / last[1]:.1f} times",
            last[0] / last[1] > paper.ISOLATION_GAIN / SAME,
        ),
        Claim(
            "5.2",
            "at medium sizes Memory Mode has 46 to 89 % of DRAM's bandwidth",
            f"{common.span([100 * s for s, _ in medium], '{:.0f}')} % with frames strewn,"
            f" {common.span([100 * o for _, o in medium], '{:.0f}')} % with frames in order",
            min(s for s, _ in medium) > paper.MEMORY_MODE_OF_DRAM[0] / SAME,
        ),
        Claim(
            "5.2",
            f"write isolation is ahead from {paper.ISOLATION_AHEAD_FROM} GB on",
            f"from {min(ahead, default=0)} GiB on with frames strewn, from"
            f" {min(ahead_ordered, default=0)} GiB with frames in order",
            bool(ahead) and min(ahead) <= 2 * paper.ISOLATION_AHEAD_FROM,
        ),
    )
    note = (
        "c = a, ordinary stores: each line of c is read before it is written, which is not counted"
        " (as in STREAM)"
    )
    title = "Figure 14: copying, both sockets"
    return _result(study, title, "GB/s", found, claims, (note,))


def energy(study: Study) -> Result:
    """Figure 15."""
    machine = common.of(study).whole_machine
    measured = _found(study)
    drawn = {
        name: [common.watts(machine, each, common.SOCKETS) if each else None for each in of]
        for name, of in measured.items()
    }
    found: dict[str, list[float | None]] = {
        name: [
            watts.platform / each.rate if watts and each else None
            for watts, each in zip(drawn[name], of, strict=True)
        ]
        for name, of in measured.items()
    }
    gains = {
        name: max(
            (other or 0.0) / (mine or 1.0)
            for other, mine in zip(found[name], found[ISOLATION], strict=True)
        )
        for name in ("MemoryMode", common.ORDERED, "PMM")
    }
    shares = [watts.cpu / watts.platform for watts in drawn["MemoryMode"] if watts]
    claims = (
        Claim(
            "5.2",
            f"write isolation takes up to {paper.LESS_ENERGY['MemoryMode']} times less energy than"
            f" Memory Mode and {paper.LESS_ENERGY['PMM']} times less than Optane alone",
            f"{gains['MemoryMode']:.1f} ({gains[common.ORDERED]:.1f} with frames in order) and"
            f" {gains['PMM']:.1f} times",
            gains["MemoryMode"] > paper.LESS_ENERGY["MemoryMode"] / SAME
            and gains["PMM"] > paper.LESS_ENERGY["PMM"] / SAME,
        ),
        Claim(
            "5.2",
            "processors take 55 % of Memory Mode's energy at the smallest and 74 % at the largest"
            " size",
            f"{common.percent(shares[0])} and {common.percent(shares[-1])}",
            abs(shares[0] - paper.CPU_SHARE[0]) < 0.1
            and abs(shares[-1] - paper.CPU_SHARE[1]) < 0.1,
        ),
    )
    note = (
        "modelled: 6.9 W a core all the time (165 W TDP), 38 W of memory a socket, and the bytes"
        " and blocks of Figure 6's model; those numbers are input"
    )
    title = "Figure 15: processors and memory, for each GB copied"
    return _result(study, title, "J/GB", found, claims, (note,))


ITEMS = (
    Item("fig14", "write isolation: bandwidth against the size of the data", runs, bandwidth),
    Item("fig15", "write isolation: energy of each GB (modelled)", runs, energy),
)
