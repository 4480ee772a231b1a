"""Figure 4: bandwidth of six patterns against the number of threads, on one socket."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.optane import common, host, mixed, paper
from thermocline.reproduce.optane.runs import OptaneRun
from thermocline.reproduce.study import Study, Update

if TYPE_CHECKING:
    from matplotlib.figure import Figure

THREADS = tuple(range(1, mixed.ALL_THREADS + 1))
CONFIGURATIONS = (*mixed.LOCAL, *mixed.REMOTE)
SAME = 1.2
Rates = Mapping[str, Mapping[str, Sequence[float]]]  # pattern, configuration, threads


def runs(study: Study) -> Sequence[OptaneRun]:
    """Every pattern, configuration and number of threads."""
    return [
        each
        for pattern in mixed.PATTERNS
        for scheme in CONFIGURATIONS
        for threads in THREADS
        for each in common.needs(mixed.run(pattern, scheme, threads))
    ]


def result(study: Study) -> Result:
    """GB/s, and what section 4.2 says."""
    times = common.of(study).factor
    labels = [f"{threads * times:g}" for threads in THREADS]
    found = {
        pattern: {
            scheme: [mixed.of(study, pattern, scheme, threads).rate for threads in THREADS]
            for scheme in CONFIGURATIONS
        }
        for pattern in mixed.PATTERNS
    }
    tables = [
        Table(
            f"Figure 4: {title}, GB/s of one socket",
            ("threads", *CONFIGURATIONS),
            tuple(
                (label, *(f"{found[pattern][scheme][at]:.1f}" for scheme in CONFIGURATIONS))
                for at, label in enumerate(labels)
            ),
        )
        for pattern, title in mixed.PATTERNS.items()
    ]
    tables.append(_peaks(found))
    tables += host.tables(study, ITEM.name)

    def draw(figure: "Figure") -> None:
        axes = figure.subplots(2, 3).flat
        for axis, (pattern, title) in zip(axes, mixed.PATTERNS.items(), strict=True):
            for scheme in CONFIGURATIONS:
                colour = mixed.COLOURS[scheme]
                axis.plot(labels, found[pattern][scheme], "o-", label=scheme, color=colour)
            axis.set_title(title, fontsize=9)
            axis.set_xlabel("threads")
            axis.set_ylabel("GB/s")
            axis.set_ylim(bottom=0)
            axis.grid(alpha=0.3)
        axis.legend(fontsize=6)

    data = {"threads": labels, "rate": found, "host": host.data(study, ITEM.name)}
    return Result(tuple(tables), claims(found), common.notes(study), data, draw, (12, 6.5))


def _peaks(found: Rates) -> Table:
    read, write = found["read"], found["nt-write"]
    rows = (
        ("DRAM, read", f"{paper.READ['dram']}", "", f"{max(read[mixed.DRAM]):.1f}"),
        ("Optane, read", f"{paper.READ['optane']}", paper.INPUT, f"{max(read[mixed.PMM]):.1f}"),
        ("Optane, write", f"{paper.OPTANE_WRITE}", paper.INPUT, f"{max(write[mixed.PMM]):.1f}"),
    )
    return Table("Peaks, GB/s of one socket", ("", "paper", "", "here"), rows, left=1)


def claims(found: Rates) -> tuple[Claim, ...]:
    """Of section 4.2."""

    def last(pattern: str, scheme: str) -> float:
        return found[pattern][scheme][-1]

    dram = [last(pattern, mixed.DRAM) for pattern in mixed.MIXED]
    optane = [last(pattern, mixed.PMM) for pattern in mixed.MIXED]
    gaps = [d / o for d, o in zip(dram, optane, strict=True)]
    nt = [last(p, mixed.ORDERED) / last(p, mixed.DRAM) for p in mixed.NON_TEMPORAL]
    strewn = [last(p, mixed.CACHED) / last(p, mixed.DRAM) for p in mixed.NON_TEMPORAL]
    others = [last(p, mixed.ORDERED) / last(p, mixed.DRAM) for p in mixed.OTHERS]
    others_strewn = [last(p, mixed.CACHED) / last(p, mixed.DRAM) for p in mixed.OTHERS]
    remote = [last(pattern, "PMM-numa-remote") for pattern in mixed.MIXED]
    return (
        Claim(
            "4.2",
            f"mixed patterns: DRAM sustains {paper.MIXED_DRAM[0]} to {paper.MIXED_DRAM[1]} GB/s",
            f"{common.span(dram)} GB/s",
            paper.MIXED_DRAM[0] / SAME < min(dram) and max(dram) < SAME * paper.MIXED_DRAM[1],
        ),
        Claim(
            "4.2",
            f"mixed patterns: Optane falls to {paper.MIXED_OPTANE[0]} to {paper.MIXED_OPTANE[1]}"
            " GB/s, and the more it reads the more it has",
            f"{common.span(optane)} GB/s",
            max(optane) < SAME * paper.MIXED_OPTANE[1]
            and min(optane) < SAME * paper.MIXED_OPTANE[0]
            and optane == sorted(optane),
        ),
        Claim(
            "4.2",
            f"so that the gap is {paper.MIXED_GAP[0]} to {paper.MIXED_GAP[1]} times",
            f"{common.span(gaps)} times",
            min(gaps) > paper.MIXED_GAP[0] / SAME and max(gaps) > paper.MIXED_GAP[1] / SAME,
        ),
        Claim(
            "4.2",
            "Optane has its least bandwidth with mixed accesses, not with writes alone",
            f"{min(optane):.1f} against {last('nt-write', mixed.PMM):.1f} GB/s",
            min(optane) < last("nt-write", mixed.PMM),
        ),
        Claim(
            "4.2",
            "Memory Mode has 47 and 64 % of DRAM's bandwidth in the two non-temporal patterns",
            f"{common.percent(nt[0])} and {common.percent(nt[1])} with frames in order,"
            f" {common.percent(strewn[0])} and {common.percent(strewn[1])} with frames strewn",
            all(
                abs(ours / stated - 1) < SAME - 1
                for ours, stated in zip(nt, paper.MEMORY_MODE_NT, strict=True)
            ),
        ),
        Claim(
            "4.2",
            "and 80 to 88 % in the others",
            f"{common.span([100 * each for each in others], '{:.0f}')} % with frames in order,"
            f" {common.span([100 * each for each in others_strewn], '{:.0f}')} % with frames"
            " strewn",
            min(others) > paper.MEMORY_MODE_OTHERS[0] / SAME
            and max(others) < paper.MEMORY_MODE_OTHERS[1] * SAME,
        ),
        Claim(
            "4.2",
            f"local Optane reads faster than remote DRAM from {paper.THREADS_OVER_REMOTE_DRAM}"
            " threads on",
            f"{last('read', mixed.PMM):.1f} against {last('read', 'DRAM-remote'):.1f} GB/s with"
            " all threads",
            last("read", mixed.PMM) > last("read", "DRAM-remote"),
        ),
        Claim(
            "4.2",
            f"mixed accesses to remote Optane fall below {paper.REMOTE_MIXED:g} GB/s",
            f"{common.span(remote)} GB/s (links queue here, and lose nothing)",
            max(remote) < paper.REMOTE_MIXED,
        ),
    )


def measure(study: Study, update: Update) -> dict[str, Any]:
    """The same patterns on this host."""
    return host.measure("bandwidth", update)


ITEM = Item("fig4", "bandwidth of six patterns against threads", runs, result, measure)
