"""Ours, not the thesis': which scheme wins where, by workload, capacity and near bandwidth."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.ryoo import common
from thermocline.reproduce.ryoo.mixes import Mix, MixRun, MixStudy, with_near_bandwidth
from thermocline.reproduce.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NOTHING = "nothing"  # no near memory at all, which is the measure of the others
SCHEMES = (*common.RIVALS, common.SILC)
HARDWARE = ("cameo", "cameo-p", "pom", common.SILC)  # move lines, with nobody's help
NAMES = {**common.NAMES, NOTHING: "none"}
COLOURS = {**common.COLOURS, NOTHING: "#ffffff"}
# Near : far capacity, and near memory's bandwidth over the machine's.  One axis moves at a time;
# what the machine has already is simulated for Figure 5.11.
PLACES = (("1/16", 1.0), ("1/8", 1.0), ("1/4", 1.0), ("1/4", 0.5), ("1/4", 2.0))
BLOCK = 2048  # PoM's and SILC-FM's
EQUAL = 0.04  # schemes no farther apart share a cell: by so much other seeds changed Random


def _run(mix: Mix, scheme: str, place: tuple[str, float]) -> MixRun:
    ratio, bandwidth = place
    return replace(common.run(mix, scheme, ratio), near_bandwidth=bandwidth)


def _blocks(mix: Mix) -> MixRun:
    return common.run(mix, "cache:blocks=on")  # as in Figure 1.1


def runs(study: Study) -> Sequence[MixRun]:
    """All schemes at all places."""
    _, mixes = common.chapter5(study)
    made = [each for mix in mixes for each in (common.baseline(mix), _blocks(mix))]
    return made + [
        _run(mix, scheme, place) for mix in mixes for place in PLACES for scheme in SCHEMES
    ]


def locality(blocks: Sequence[Mapping[str, int]]) -> float:
    """Misses of a cache with lines, over its misses with BLOCK: lines that a block's miss saves."""
    misses = {int(each["bytes"]): int(each["misses"]) for each in blocks}
    return misses[common.LINE] / misses[BLOCK] if misses[BLOCK] else 0.0


def winners(speeds: Mapping[str, float]) -> tuple[str, ...]:
    """The fastest, and those as fast but for EQUAL."""
    order = sorted(speeds, key=lambda scheme: -speeds[scheme])
    return tuple(each for each in order if speeds[each] >= (1 - EQUAL) * speeds[order[0]])


def _title(study: MixStudy, place: tuple[str, float]) -> str:
    ratio, bandwidth = place
    rates = [
        tier.read_bandwidth.value
        for tier in with_near_bandwidth(study.machine, bandwidth).tier
        if tier.read_bandwidth
    ]
    return f"{ratio}, {rates[0] / rates[1]:g} : 1"


def result(study: Study) -> Result:
    """Rows by misses, most first."""
    made, mixes = common.chapter5(study)
    misses = {mix.name: common.mpki(made.answer(common.baseline(mix))) for mix in mixes}
    mixes = sorted(mixes, key=lambda mix: -misses[mix.name])
    used = {
        mix.name: locality(made.answer(_blocks(mix))["organisation"]["blocks"]) for mix in mixes
    }
    titles = [_title(made, place) for place in PLACES]
    speeds = {
        mix.name: {
            title: {NOTHING: 1.0}
            | {scheme: common.over_baseline(made, _run(mix, scheme, place)) for scheme in SCHEMES}
            for title, place in zip(titles, PLACES, strict=True)
        }
        for mix in mixes
    }
    won = {
        name: {title: winners(each) for title, each in places.items()}
        for name, places in speeds.items()
    }

    best = {
        name: {title: max(HARDWARE, key=each.__getitem__) for title, each in places.items()}
        for name, places in speeds.items()
    }

    def cell(name: str, title: str, between: str) -> str:
        first, *others = won[name][title]
        text = " ≈ ".join(NAMES[each] for each in (first, *others))
        return f"{text}{between}{speeds[name][title][first]:.2f}"

    def hardware(name: str, title: str) -> str:
        scheme = best[name][title]
        return f"{NAMES[scheme]} {speeds[name][title][scheme]:.2f}"

    table = Table(
        "The fastest scheme and its speed-up over no near memory, by near : far capacity and"
        " bandwidth (not in the thesis)",
        ("workload", "MPKI", "lines a block", *titles),
        tuple(
            (
                mix.label,
                f"{misses[mix.name]:.1f}",
                f"{used[mix.name]:.1f}",
                *(cell(mix.name, title, " ") for title in titles),
            )
            for mix in mixes
        ),
    )
    moving = Table(
        "The same of those that move lines by hardware",
        ("workload", *titles),
        tuple((mix.label, *(hardware(mix.name, title) for title in titles)) for mix in mixes),
    )
    counts = {
        scheme: [sum(won[mix.name][title][0] == scheme for mix in mixes) for title in titles]
        for scheme in (*SCHEMES, NOTHING)
    }
    wins = Table(
        "Workloads for which a scheme is the fastest",
        ("scheme", *titles, "all"),
        tuple((NAMES[scheme], *map(str, each), str(sum(each))) for scheme, each in counts.items()),
    )

    def draw(figure: "Figure") -> None:
        from matplotlib.colors import to_rgba
        from matplotlib.patches import Patch

        axis = figure.subplots()
        first = [[won[mix.name][title][0] for title in titles] for mix in mixes]
        axis.imshow([[to_rgba(COLOURS[each], 0.6) for each in row] for row in first], aspect="auto")
        for y, mix in enumerate(mixes):
            for x, title in enumerate(titles):
                text = cell(mix.name, title, "  ") + f"\n({hardware(mix.name, title)})"
                axis.text(x, y, text, ha="center", va="center", fontsize=8)
        axis.set_xticks(range(len(titles)), titles)
        labels = [
            f"{mix.label}\n{misses[mix.name]:.0f} MPKI, {used[mix.name]:.1f} lines a block"
            for mix in mixes
        ]
        axis.set_yticks(range(len(mixes)), labels, fontsize=8)
        axis.set_xlabel("near : far capacity, bandwidth")
        axis.set_title("fastest scheme and its speed-up over no near memory (of those by hardware)")
        seen = [scheme for scheme in counts if sum(counts[scheme])]
        patches = [
            Patch(facecolor=to_rgba(COLOURS[each], 0.6), edgecolor="black", label=NAMES[each])
            for each in seen
        ]
        figure.legend(handles=patches, loc="outside lower center", ncols=len(seen), fontsize=8)

    notes = (
        "lines a block (spatial locality): misses of a cache in near memory (1/4, Figure 1.1's)"
        f" with lines of {common.LINE} B over its misses with blocks of {BLOCK} B, which have"
        f" {BLOCK // common.LINE} lines",
        "near bandwidth is scaled by the number of channels, timing is the machine's;"
        " none is no near memory;"
        f" schemes within {100 * EQUAL:g} % of the fastest stand beside it (another seed of random"
        " pages can change the order), and the fastest is counted",
        *common.notes(made, mixes),
    )
    data = {
        "mpki": misses,
        "lines_a_block": used,
        "speedup": speeds,
        "winners": won,
        "hardware": best,
    }
    return Result((table, moving, wins), _claims(counts, titles), notes, data, draw, (11, 7))


def _claims(counts: Mapping[str, Sequence[int]], titles: Sequence[str]) -> tuple[Claim, ...]:
    cells = sum(map(sum, counts.values()))
    thesis = [number for number, (_, bandwidth) in enumerate(PLACES) if bandwidth == 1]
    silc = sum(counts[common.SILC][number] for number in thesis)
    those = sum(each[number] for each in counts.values() for number in thesis)
    found = ", ".join(f"{NAMES[name]} {sum(each)}" for name, each in counts.items() if sum(each))
    return (
        Claim(
            "5.2.4",
            "SILC-FM is the fastest at each capacity",
            f"in {silc} of {those} cells at {', '.join(titles[number] for number in thesis)}",
            silc == those,
        ),
        Claim(
            "ours",
            "each scheme is the fastest somewhere",
            f"of {cells} cells: {found}",
            all(sum(counts[scheme]) for scheme in SCHEMES),
        ),
    )


ITEM = Item("map", "ours: which scheme wins where", runs, result, None, 5)
