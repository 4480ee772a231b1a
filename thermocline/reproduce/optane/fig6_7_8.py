"""Figures 6 to 8: dynamic power of memory, bandwidth per watt, and energy, of one socket."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.optane import common, mixed, paper
from thermocline.reproduce.optane.runs import OptaneRun
from thermocline.reproduce.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Values = Mapping[str, Mapping[str, float]]  # pattern, configuration
SAME = 1.25
NOTE = (
    "modelled: DRAM's joules a byte (60 W at 104 GB/s), the joules of a block that Optane's media"
    " read or write (47 % better and 20 % worse per byte) and the static 38 W are input; the bytes"
    " and blocks of a pattern, and its time, are not"
)


def runs(study: Study) -> Sequence[OptaneRun]:
    """Figure 4's, with all threads."""
    return [
        each
        for pattern in mixed.PATTERNS
        for scheme in mixed.LOCAL
        for each in common.needs(mixed.run(pattern, scheme))
    ]


def _values(study: Study, of: Callable[[common.Watts, float], float]) -> Values:
    return {
        pattern: {
            scheme: of(mixed.watts(study, pattern, scheme), mixed.of(study, pattern, scheme).rate)
            for scheme in mixed.LOCAL
        }
        for pattern in mixed.PATTERNS
    }


def _result(study: Study, name: str, unit: str, found: Values, claims: Sequence[Claim]) -> Result:
    table = Table(
        f"{name}, {unit}",
        ("pattern", *mixed.LOCAL),
        tuple(
            (title, *(f"{found[pattern][scheme]:.2f}" for scheme in mixed.LOCAL))
            for pattern, title in mixed.PATTERNS.items()
        ),
    )

    def draw(figure: "Figure") -> None:
        series = {s: [found[p][s] for p in mixed.PATTERNS] for s in mixed.LOCAL}
        common.bars(figure.subplots(), list(mixed.PATTERNS), series, unit, mixed.COLOURS)

    notes = (*common.notes(study), NOTE)
    return Result((table,), tuple(claims), notes, {"values": found}, draw, (8, 4.5))


def power(study: Study) -> Result:
    """Figure 6."""
    found = _values(study, lambda watts, _: watts.dynamic)
    dram = [of[mixed.DRAM] for of in found.values()]
    optane = [found[pattern][mixed.PMM] for pattern in mixed.MIXED]
    less = [of[mixed.DRAM] / of[mixed.PMM] for of in found.values()]
    nt = [found[p][mixed.ORDERED] / found[p][mixed.DRAM] - 1 for p in mixed.NON_TEMPORAL]
    claims = (
        Claim(
            "4.3",
            f"DRAM draws about {paper.DRAM_WATTS} W in all patterns ({paper.INPUT} for reads)",
            f"{common.span(dram)} W",
            max(dram) < SAME * paper.DRAM_WATTS and min(dram) > paper.DRAM_WATTS / SAME,
        ),
        Claim(
            "4.3",
            "Optane draws 2 to 8 W in mixed patterns, rising with the share of reads",
            f"{common.span(optane)} W",
            max(optane) < SAME * paper.OPTANE_MIXED_WATTS[1] and optane == sorted(optane),
        ),
        Claim(
            "4.3",
            f"Optane draws {paper.OPTANE_LESS[0]} to {paper.OPTANE_LESS[1]} times less than DRAM",
            f"{common.span(less)} times less",
            min(less) > paper.OPTANE_LESS[0] / SAME and max(less) > paper.OPTANE_LESS[1] / SAME,
        ),
        Claim(
            "4.3",
            f"Memory Mode draws {common.percent(paper.NT_MORE_WATTS)} more than DRAM with"
            " non-temporal writes",
            " and ".join(f"{100 * each:+.0f} %" for each in nt) + " (frames in order)",
            max(nt) > 0,
        ),
    )
    return _result(study, "Figure 6: dynamic power of a socket's memory", "W", found, claims)


def efficiency(study: Study) -> Result:
    """Figure 7."""
    found = _values(study, lambda watts, rate: rate / watts.dynamic)
    mixed_gain = [found[p][mixed.PMM] / found[p][mixed.DRAM] for p in mixed.MIXED]
    nt = [1 - found[p][mixed.ORDERED] / found[p][mixed.DRAM] for p in mixed.NON_TEMPORAL]
    read, write = (
        found[pattern][mixed.PMM] / found[pattern][mixed.DRAM] for pattern in ("read", "nt-write")
    )
    claims = (
        Claim(
            "4.3",
            "Optane has higher or comparable efficiency but for writes alone"
            f" (+47 % for reads and -20 % for writes are {paper.INPUT}: here"
            f" {100 * read - 100:+.0f} % and {100 * write - 100:+.0f} %)",
            f"{common.span(mixed_gain, '{:.2f}')} times DRAM's in mixed patterns",
            min(mixed_gain) > 1 / SAME,
        ),
        Claim(
            "4.3",
            f"with non-temporal writes Memory Mode has {common.percent(paper.NT_EFFICIENCY_LOSS)}"
            " less than DRAM, and less than Optane alone",
            " and ".join(common.percent(each) for each in nt)
            + " less (frames in order); Optane alone "
            + ", ".join(f"{found[p][mixed.PMM]:.2f}" for p in mixed.NON_TEMPORAL)
            + " against "
            + ", ".join(f"{found[p][mixed.ORDERED]:.2f}" for p in mixed.NON_TEMPORAL)
            + " GB/s per W",
            max(nt) > paper.NT_EFFICIENCY_LOSS / SAME
            and found["nt-write"][mixed.ORDERED] < found["nt-write"][mixed.PMM],
        ),
    )
    title = "Figure 7: bandwidth per watt of dynamic memory power"
    return _result(study, title, "GB/s per W", found, claims)


def energy(study: Study) -> Result:
    """Figure 8: of each GB that a pattern reads and writes."""
    found = _values(study, lambda watts, rate: watts.memory / rate)
    static = _values(study, lambda watts, _: watts.static / watts.memory)
    more = [
        of[mixed.ORDERED] / of[mixed.DRAM]
        for pattern, of in found.items()
        if pattern in mixed.NON_TEMPORAL
    ]
    claims = (
        Claim(
            "4.3",
            f"1 read : 1 write in Optane spends {common.percent(paper.STATIC_SHARE_1R1W)} of its"
            " energy statically",
            common.percent(static["1r1w"][mixed.PMM]),
            static["1r1w"][mixed.PMM] > paper.STATIC_SHARE_1R1W - 0.1,
        ),
        Claim(
            "4.3",
            "with non-temporal writes Memory Mode takes more energy than DRAM",
            f"{common.span(more, '{:.2f}')} times (frames in order)",
            min(more) > 1,
        ),
        Claim(
            "4.3",
            "in total, static energy makes Optane dear where bandwidth binds",
            f"{common.span([of[mixed.PMM] / of[mixed.DRAM] for of in found.values()], '{:.2f}')}"
            " times DRAM's energy for the same bytes",
            min(of[mixed.PMM] / of[mixed.DRAM] for of in found.values()) > 1,
        ),
    )
    name = "Figure 8: energy of a socket's memory for each GB, static included"
    return _result(study, name, "J/GB", found, claims)


ITEMS = (
    Item("fig6", "dynamic power of memory (modelled)", runs, power),
    Item("fig7", "bandwidth per dynamic watt (modelled)", runs, efficiency),
    Item("fig8", "energy of memory, static and dynamic (modelled)", runs, energy),
)
