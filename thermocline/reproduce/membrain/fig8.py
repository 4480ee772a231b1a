"""Figure 8: guided placement beside a memory-side cache, in time and in memory traffic.

The paper's cache is 4 GB of MCDRAM in KNL's hybrid mode, data in DDR4; guided runs have 4 GB of
MCDRAM.  Here both have what 4 GB are of the paper's peak resident memory.  Everything is of the
second half of the region: the first fills the cache.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from thermocline.planning import suitability
from thermocline.reproduce import guidance
from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.membrain import common, paper
from thermocline.reproduce.study import Run, Study, Workload

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CONTEXT = 4
BARS = {
    "first-touch": "first touch",
    "sampled": f"thermos ({guidance.text(guidance.sampled(paper.BEST_RATE))})",
    "isolated": f"thermos ({guidance.text(guidance.MBI)})",
    "thermos": "thermos (exact profile)",
    "fastest": "fastest --split (ours, exact profile)",
    "cache": "cache mode",
}
# Bars that thermos makes from another guidance than the exact profile.
GUIDANCE = {"sampled": guidance.sampled(paper.BEST_RATE), "isolated": guidance.MBI}
MEAN = "geometric mean"


@dataclass(frozen=True)
class Steady:
    """Of the second half of a region."""

    seconds: float
    bytes: float  # that the memories moved, all tiers and purposes

    @property
    def bandwidth(self) -> float:
        """Bytes a second."""
        return self.bytes / self.seconds

    def over(self, base: "Steady") -> dict[str, float]:
        """Relative."""
        return {
            "time": self.seconds / base.seconds,
            "bandwidth": self.bandwidth / base.bandwidth,
            "traffic": self.bytes / base.bytes,
        }


def _run(study: Study, workload: Workload, bar: str) -> Run:
    if bar == "all-fast":
        return common.all_fast(workload, CONTEXT)
    profile = study.prepared(workload.program, CONTEXT).profile
    stated = paper.TABLE1[workload.stands_for].resident_gb * paper.GIB
    near = int(paper.CACHE_BYTES / stated * profile.peak_resident_bytes)
    if bar == "cache":
        return Run(workload.program, CONTEXT, "knl-cache", near)
    if bar in GUIDANCE:
        return common.guided(workload, CONTEXT, near, "thermos", GUIDANCE[bar])
    return common.guided(workload, CONTEXT, near, bar)


def _half(run: Run) -> Run:
    return replace(run, first_half=True)


def runs(study: Study) -> Sequence[Run]:
    """Each in whole, and its first half."""
    return [
        run
        for each in study.workloads
        for bar in ("all-fast", *BARS)
        for run in (_run(study, each, bar), _half(_run(study, each, bar)))
    ]


def steady(whole: Mapping[str, Any], half: Mapping[str, Any]) -> Steady:
    """What the second half took: two runs are equal up to where the shorter one ends."""

    def moved(answer: Mapping[str, Any]) -> int:
        return sum(int(tier["read_bytes"]) + int(tier["write_bytes"]) for tier in answer["tiers"])

    return Steady(
        float(whole["seconds"]) - float(half["seconds"]), float(moved(whole) - moved(half))
    )


def result(study: Study) -> Result:
    """Times and bandwidths relative to MCDRAM-only."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for each in study.workloads:
        base = _steady(study, _run(study, each, "all-fast"))
        found[each.program] = {
            bar: _steady(study, _run(study, each, bar)).over(base) for bar in BARS
        }
    found[MEAN] = {
        bar: {
            what: common.mean([found[each.program][bar][what] for each in study.workloads])
            for what in ("time", "bandwidth", "traffic")
        }
        for bar in BARS
    }
    labels = {each.program: common.label(each) for each in study.workloads} | {MEAN: MEAN}
    tables = tuple(
        Table(
            f"Figure 8: {title}, relative to MCDRAM-only",
            ("workload", *BARS.values()),
            tuple(
                (label, *(f"{found[program][bar][what]:.3f}" for bar in BARS))
                for program, label in labels.items()
            ),
        )
        for what, title in (
            ("time", "execution time"),
            ("bandwidth", "memory bandwidth of both tiers"),
            ("traffic", "bytes moved by both tiers"),
        )
    )

    tables += (_suited(study),)

    def draw(figure: "Figure") -> None:
        _draw(figure, labels, found)

    shares = ", ".join(
        f"{each.program} {common.percent(paper.CACHE_BYTES / paper.GIB / stated)}"
        for each in study.workloads
        for stated in (paper.TABLE1[each.stands_for].resident_gb,)
    )
    notes = (
        "sampling is emulated by thinning the exact profile's load misses; mbi has what each site"
        " moves in a simulation with the prefetcher on, as a run a site would count; see fig7",
        f"near memory of each workload, of its peak: {shares} (4 GB of the paper's peak)",
        "of the second half of each region; the first half fills the cache",
        *common.scale_notes(study),
    )
    programs = {each.stands_for: each.program for each in study.workloads}
    return Result(tables, claims(found, programs), notes, {"relative": found}, draw, (12, 5.5))


def _suited(study: Study) -> Table:
    """Which sites wait less behind the cache than where thermos puts them; of whole regions."""
    rows = []
    for each in study.workloads:
        placed, cached = (study.answer(_run(study, each, bar)) for bar in ("thermos", "cache"))
        sites = suitability.judge(placed, cached).values()
        read = sum(site.bytes for site in sites)
        cells = []
        for verdict in ("cache", "placement", "either"):
            those = [site for site in sites if site.suits == verdict]
            share = sum(site.bytes for site in those) / read if read else 0.0
            cells.append(f"{len(those)} ({common.percent(share)})")
        rows.append((common.label(each), *cells))
    return Table(
        "Sites that suit cache mode or placement (share of what is read; not in the paper)",
        ("workload", "cache mode", "placement by thermos", "either"),
        tuple(rows),
    )


def _steady(study: Study, run: Run) -> Steady:
    return steady(study.answer(run), study.answer(_half(run)))


def claims(
    found: Mapping[str, Mapping[str, Mapping[str, float]]], programs: Mapping[str, str]
) -> tuple[Claim, ...]:
    """Of section VI.D; `programs`: ours, by the name of what they stand for."""
    guided, cache = found[MEAN]["isolated"], found[MEAN]["cache"]
    slower = guided["time"] / cache["time"] - 1
    sampled = found[MEAN]["sampled"]["time"] / cache["time"] - 1
    less = {what: 1 - guided[what] / cache[what] for what in ("bandwidth", "traffic")}
    good = [
        name
        for name, program in programs.items()
        if found[program]["isolated"]["time"] <= (1 + 0.01) * found[program]["cache"]["time"]
    ]
    cached = [name for name in programs if name not in good]
    stated = [name for name in paper.CACHE_BETTER if name in programs]
    return (
        Claim(
            "VI.D",
            f"guidance by isolation is {common.percent(paper.SLOWER_THAN_CACHE)} slower than cache"
            " mode",
            f"{common.percent(abs(slower))} {'slower' if slower >= 0 else 'faster'}"
            f" (fastest: {found[MEAN]['fastest']['time'] / cache['time'] - 1:+.1%})",
            abs(slower - paper.SLOWER_THAN_CACHE) < 0.05,
        ),
        Claim(
            "VI.D",
            f"guidance by sampling is {common.percent(paper.SAMPLED_SLOWER_THAN_CACHE)} slower than"
            " cache mode",
            f"{common.percent(abs(sampled))} {'slower' if sampled >= 0 else 'faster'}",
            abs(sampled - paper.SAMPLED_SLOWER_THAN_CACHE) < 0.05,
        ),
        Claim(
            "VI.D",
            f"with {common.percent(paper.LESS_BANDWIDTH)} less memory bandwidth",
            f"{common.percent(less['bandwidth'])} less bandwidth,"
            f" {common.percent(less['traffic'])} fewer bytes",
            abs(less["bandwidth"] - paper.LESS_BANDWIDTH) < 0.05,
        ),
        Claim(
            "VI.D",
            f"guidance meets or exceeds cache mode on {paper.AS_GOOD_AS_CACHE} of 6",
            f"on {len(good)} of {len(programs)}: {', '.join(good) or 'none'}",
            len(good) == paper.AS_GOOD_AS_CACHE,
        ),
        Claim(
            "VI.D",
            f"cache mode is faster on {' and '.join(stated)}",
            f"on {', '.join(cached) or 'none'}",
            set(stated) <= set(cached),
        ),
    )


def _draw(
    figure: "Figure",
    labels: Mapping[str, str],
    found: Mapping[str, Mapping[str, Mapping[str, float]]],
) -> None:
    axis = figure.subplots()
    width = 0.8 / len(BARS)
    for number, (bar, name) in enumerate(BARS.items()):
        places = [place + (number - (len(BARS) - 1) / 2) * width for place in range(len(labels))]
        axis.bar(
            places,
            [found[program][bar]["time"] for program in labels],
            width,
            label=name,
            color=common.COLOURS[bar],
        )
        axis.plot(
            places,
            [found[program][bar]["bandwidth"] for program in labels],
            linestyle="none",
            marker="D",
            markersize=5,
            color="black",
            label="memory bandwidth" if number == 0 else None,
        )
    axis.axhline(1, color="black", linewidth=0.8)
    axis.set_xticks(range(len(labels)))
    axis.set_xticklabels([label.replace(" (", "\n(") for label in labels.values()], fontsize=9)
    axis.set_ylabel("relative to MCDRAM-only")
    axis.grid(axis="y", alpha=0.3)
    axis.set_ylim(top=1.15 * axis.get_ylim()[1])  # room for the legend
    axis.legend(fontsize=8, ncols=3)


ITEM = Item("fig8", "guided placement beside cache mode, time and bandwidth", runs, result)
