"""Figure 4: execution time of guided placement relative to all data in MCDRAM."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.membrain import common, paper
from thermocline.reproduce.study import Run, Study, Workload

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BARS = ("first-touch", *common.GUIDED)
PAPERS = ("knapsack", "hotset", "thermos")
MEAN = "geometric mean"
# Closer than this, times count as equal: the paper gives no such number, its means have intervals.
EQUAL = 0.01

# (workload, or MEAN; context; capacity; bar) -> time relative to MCDRAM-only
Times = Mapping[tuple[str, int, str, str], float]


def _run(study: Study, workload: Workload, context: int, capacity: str, bar: str) -> Run:
    near = study.near_bytes(workload.program, context, capacity)
    return common.guided(workload, context, near, bar)


def runs(study: Study) -> Sequence[Run]:
    """All bars, and what they are relative to."""
    return [
        run
        for each in study.workloads
        for context in paper.CONTEXTS
        for run in (
            common.all_fast(each, context),
            *(
                _run(study, each, context, capacity, bar)
                for capacity in paper.CAPACITIES
                for bar in BARS
            ),
        )
    ]


def times(study: Study) -> dict[tuple[str, int, str, str], float]:
    """Relative execution times, with their means."""
    found = {}
    for context in paper.CONTEXTS:
        for capacity in paper.CAPACITIES:
            for bar in BARS:
                each_one = []
                for each in study.workloads:
                    answer = study.answer(_run(study, each, context, capacity, bar))
                    base = study.answer(common.all_fast(each, context))
                    each_one.append(float(answer["seconds"]) / float(base["seconds"]))
                    found[each.program, context, capacity, bar] = each_one[-1]
                found[MEAN, context, capacity, bar] = common.mean(each_one)
    return found


def result(study: Study) -> Result:
    """A table for each context, and the claims."""
    found = times(study)
    labels = {each.program: common.label(each) for each in study.workloads} | {MEAN: MEAN}

    def draw(figure: "Figure") -> None:
        _draw(figure, labels, found)

    data = {
        f"context{context}": {
            capacity: {
                program: {bar: found[program, context, capacity, bar] for bar in BARS}
                for program in labels
            }
            for capacity in paper.CAPACITIES
        }
        for context in paper.CONTEXTS
    }
    notes = (
        "time relative to all data in MCDRAM; capacities are of the program's peak resident"
        " memory; guidance from the exact trace profile of the same input; fastest, which is ours,"
        " may split sites",
        *common.scale_notes(study),
    )
    tables = tuple(table(found, labels, context) for context in paper.CONTEXTS)
    programs = {each.stands_for: each.program for each in study.workloads}
    return Result(tables, claims(found, programs), notes, data, draw, (16, 8))


def table(found: Times, labels: Mapping[str, str], context: int) -> Table:
    """Workloads down, capacities and bars across."""
    return Table(
        f"Figure 4, context {context}: execution time relative to MCDRAM-only",
        ("workload", *(f"{capacity} {bar}" for capacity in paper.CAPACITIES for bar in BARS)),
        tuple(
            (
                label,
                *(
                    f"{found[program, context, capacity, bar]:.3f}"
                    for capacity in paper.CAPACITIES
                    for bar in BARS
                ),
            )
            for program, label in labels.items()
        ),
    )


def claims(found: Times, programs: Mapping[str, str]) -> tuple[Claim, ...]:
    """Of section VI.B; `programs`: ours, by the name of what they stand for."""
    made = []
    for capacity, stated, limit in (
        ("12.5%", "more than", paper.GAIN_AT_EIGHTH),
        ("50%", "less than", paper.GAIN_AT_HALF),
    ):
        gain = {
            bar: found[MEAN, 4, capacity, "first-touch"] / found[MEAN, 4, capacity, bar] - 1
            for bar in common.GUIDED
        }
        ours = ", ".join(f"{bar} {common.percent(gain[bar])}" for bar in common.GUIDED)
        best = max(gain[bar] for bar in PAPERS)
        made.append(
            Claim(
                "VI.B",
                f"guidance is on average {stated} {common.percent(limit)} faster than first touch"
                f" at {capacity}",
                f"{ours} (context 4)",
                best > limit if stated == "more than" else best < limit,
            )
        )
    cases = [
        (program, context, capacity)
        for program in programs.values()
        for context in paper.CONTEXTS
        for capacity in paper.CAPACITIES
    ]
    good = [
        case
        for case in cases
        if found[*case, "thermos"]
        <= (1 + EQUAL) * min(found[*case, bar] for bar in ("knapsack", "hotset"))
    ]
    made.append(
        Claim(
            "VI.B",
            "thermos is as good as knapsack and hotset, or better, in almost all cases",
            f"in {len(good)} of {len(cases)}, within {common.percent(EQUAL)}",
            len(good) >= 0.9 * len(cases),
        )
    )
    better = {
        capacity: found[MEAN, 0, capacity, "thermos"] / found[MEAN, 4, capacity, "thermos"] - 1
        for capacity in paper.CAPACITIES
    }
    made.append(
        Claim(
            "VI.B",
            "context makes guidance better",
            "thermos gains "
            + ", ".join(f"{common.percent(value)} at {name}" for name, value in better.items())
            + " in the mean",
            all(value > 0 for value in better.values()),
        )
    )
    for name in ("imagick", "amg"):
        if name not in programs:
            continue
        gains = [
            found[programs[name], 0, capacity, "thermos"]
            / found[programs[name], 4, capacity, "thermos"]
            - 1
            for capacity in paper.CAPACITIES
        ]
        made.append(
            Claim(
                "VI.B",
                f"context is particularly important for {name}",
                f"thermos gains {' / '.join(common.percent(gain) for gain in gains)} at"
                f" {' / '.join(paper.CAPACITIES)}",
                max(gains) > EQUAL,
            )
        )
    for name in ("imagick", "qmcpack"):
        if name not in programs:
            continue
        least, capacity, context, bar = min(
            (found[programs[name], context, capacity, bar], capacity, context, bar)
            for context in paper.CONTEXTS
            for capacity in paper.CAPACITIES
            for bar in PAPERS
        )
        made.append(
            Claim(
                "VI.B",
                f"some configuration of {name} is as fast as MCDRAM-only",
                f"at best {least:.3f} ({bar} at {capacity}, context {context})",
                least <= 1 + EQUAL,
            )
        )
    return tuple(made)


def _draw(figure: "Figure", labels: Mapping[str, str], found: Times) -> None:
    axes = figure.subplots(2, len(paper.CAPACITIES), sharex=True, sharey=True, squeeze=False)
    width = 0.8 / len(BARS)
    for row, context in enumerate(paper.CONTEXTS):
        for column, capacity in enumerate(paper.CAPACITIES):
            axis = axes[row][column]
            for number, bar in enumerate(BARS):
                axis.bar(
                    [place + (number - 2) * width for place in range(len(labels))],
                    [found[program, context, capacity, bar] for program in labels],
                    width,
                    label=common.NAMES.get(bar, bar),
                    color=common.COLOURS[bar],
                )
            axis.axhline(1, color="black", linewidth=0.8)
            axis.set_title(f"tier of {capacity} of peak memory, context {context}", fontsize=10)
            axis.set_xticks(range(len(labels)))
            names = [label.replace(" (", "\n(") for label in labels.values()]
            axis.set_xticklabels(names, rotation=40, ha="right", fontsize=8)
            axis.grid(axis="y", alpha=0.3)
        axes[row][0].set_ylabel("time / MCDRAM-only")
    axes[0][0].legend(fontsize=8, ncols=2)


ITEM = Item("fig4", "execution time by strategy, capacity and context", runs, result)
