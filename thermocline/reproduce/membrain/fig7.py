"""Figure 7: guidance by sampling and by isolation, beside none; and by our own methods."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from thermocline.reproduce import guidance
from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.membrain import common, paper
from thermocline.reproduce.study import Run, Study, Workload

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STRATEGY = "thermos"
FIRST_TOUCH = "first-touch"
SAMPLED = guidance.sampled(paper.BEST_RATE)
BARS = (FIRST_TOUCH, SAMPLED, "bursts", "pages", guidance.MBI, guidance.EXACT)
CASES = ((0, "25%"), *((4, capacity) for capacity in paper.CAPACITIES))
MEAN = "geometric mean"
EQUAL = 0.01  # as in figure 4
COLOURS = dict(
    zip(BARS, ("#9a9a9a", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00"), strict=True)
)

# (workload, or MEAN; context; capacity; bar) -> time relative to MCDRAM-only
Times = Mapping[tuple[str, int, str, str], float]


def _run(study: Study, workload: Workload, context: int, capacity: str, bar: str) -> Run:
    near = study.near_bytes(workload.program, context, capacity)
    if bar == FIRST_TOUCH:
        return common.guided(workload, context, near, FIRST_TOUCH)
    return common.guided(workload, context, near, STRATEGY, bar)


def runs(study: Study) -> Sequence[Run]:
    """All bars, and what they are relative to."""
    return [
        run
        for each in study.workloads
        for context, capacity in CASES
        for run in (
            common.all_fast(each, context),
            *(_run(study, each, context, capacity, bar) for bar in BARS),
        )
    ]


def result(study: Study) -> Result:
    """A table for each context and capacity, and the claims."""
    found: dict[tuple[str, int, str, str], float] = {}
    for context, capacity in CASES:
        for bar in BARS:
            for each in study.workloads:
                seconds = study.answer(_run(study, each, context, capacity, bar))["seconds"]
                base = study.answer(common.all_fast(each, context))["seconds"]
                found[each.program, context, capacity, bar] = float(seconds) / float(base)
            found[MEAN, context, capacity, bar] = common.mean(
                [found[each.program, context, capacity, bar] for each in study.workloads]
            )
    labels = {each.program: common.label(each) for each in study.workloads} | {MEAN: MEAN}
    tables = tuple(
        Table(
            f"Figure 7, context {context}, {capacity}: execution time relative to MCDRAM-only,"
            f" {STRATEGY} guided by",
            ("workload", *(guidance.text(bar) for bar in BARS)),
            tuple(
                (label, *(f"{found[program, context, capacity, bar]:.3f}" for bar in BARS))
                for program, label in labels.items()
            ),
        )
        for context, capacity in CASES
    )

    def draw(figure: "Figure") -> None:
        _draw(figure, labels, found)

    data = {
        f"context{context}": {
            capacity: {
                program: {bar: found[program, context, capacity, bar] for bar in BARS}
                for program in labels
            }
            for each, capacity in CASES
            if each == context
        }
        for context in paper.CONTEXTS
    }
    programs = [each.program for each in study.workloads]
    notes = (
        "all guidance has the exact profile's sizes; traffic: exact, the whole run through a model"
        " of the caches; sampling, the same with its load misses thinned at random; bursts and"
        " pages, one run with that method at its default budget on this host, of an input that"
        f" lasts longer ({_inputs(study)}), by site and byte",
        "mbi (simulated): bytes by site of a simulation with the prefetcher on, which a run a site"
        " would count too; of the region that is timed, where the others have the whole run",
        f"of these runs, bursts recorded {_recorded(study)}",
        *common.scale_notes(study),
    )
    return Result(tables, claims(found, programs), notes, data, draw, (14, 9))


def _recorded(study: Study) -> str:
    shares = {
        each.program: study.measured_profile(each.program, 4, "bursts").sampling
        for each in study.workloads
    }
    return ", ".join(
        f"{name} {100 * float(found.get('recorded_share', 0)):.2g} % in"
        f" {found.get('bursts_that_filled_the_cache', 0)}"
        for name, found in shares.items()
    )


def _inputs(study: Study) -> str:
    return ", ".join(" ".join((each.program, *each.timed_arguments)) for each in study.workloads)


def claims(found: Times, programs: Sequence[str]) -> tuple[Claim, ...]:
    """Of section VI.C.  Context 4, as in the paper."""
    cases = [(program, 4, capacity) for program in programs for capacity in paper.CAPACITIES]
    better = [
        case for case in cases if found[*case, SAMPLED] < (1 - EQUAL) * found[*case, FIRST_TOUCH]
    ]
    worse = {
        capacity: found[MEAN, 4, capacity, SAMPLED] / found[MEAN, 4, capacity, guidance.MBI] - 1
        for capacity in paper.CAPACITIES
    }
    shown = ", ".join(f"{100 * value:+.1f} % at {name}" for name, value in worse.items())
    first, last = paper.CAPACITIES[0], paper.CAPACITIES[-1]
    mean_worse = common.mean([1 + value for value in worse.values()]) - 1
    return (
        Claim(
            "VI.C",
            "guidance by sampling is typically faster than first touch",
            f"by more than {common.percent(EQUAL)} in {len(better)} of {len(cases)} cases",
            len(better) > len(cases) / 2,
        ),
        Claim(
            "VI.C",
            "guidance by sampling is significantly slower than by isolation",
            f"sampling against mbi: {shown}",
            mean_worse > EQUAL,
        ),
        Claim(
            "VI.C",
            "sampling and isolation differ less when there is more room",
            shown,
            abs(worse[last]) < abs(worse[first]),
        ),
    )


def _draw(figure: "Figure", labels: Mapping[str, str], found: Times) -> None:
    axes = figure.subplots(2, 2, sharey=True, sharex=True).flat
    width = 0.8 / len(BARS)
    for axis, (context, capacity) in zip(axes, CASES, strict=True):
        for number, bar in enumerate(BARS):
            axis.bar(
                [place + (number - len(BARS) / 2 + 0.5) * width for place in range(len(labels))],
                [found[program, context, capacity, bar] for program in labels],
                width,
                label=guidance.text(bar),
                color=COLOURS[bar],
            )
        axis.axhline(1, color="black", linewidth=0.8)
        axis.set_title(f"tier of {capacity} of peak memory, context {context}", fontsize=10)
        axis.set_xticks(range(len(labels)))
        names = [label.replace(" (", "\n(") for label in labels.values()]
        axis.set_xticklabels(names, rotation=40, ha="right", fontsize=8)
        axis.set_ylabel("time / MCDRAM-only")
        axis.grid(axis="y", alpha=0.3)
        if context == 0:
            axis.legend(fontsize=8, ncols=2)


ITEM = Item("fig7", "execution time by method of profiling", runs, result)
