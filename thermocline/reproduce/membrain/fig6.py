"""Figure 6: how far the sampling rate changes guided runs.

Here no sampler runs: the exact profile's load misses are thinned (guidance.py), so that what
changes is the number of samples alone.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from thermocline.reproduce import guidance
from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.membrain import common, paper
from thermocline.reproduce.study import Run, Study, Workload

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAPACITY = "25%"
STRATEGY = "thermos"
BARS = (guidance.EXACT, *(guidance.sampled(rate) for rate in paper.SAMPLING_RATES))
MEAN = "geometric mean"
EQUAL = 0.01  # as in figure 4

# (workload, or MEAN; context; guidance) -> time relative to MCDRAM-only
Times = Mapping[tuple[str, int, str], float]


def _run(study: Study, workload: Workload, context: int, bar: str) -> Run:
    near = study.near_bytes(workload.program, context, CAPACITY)
    return common.guided(workload, context, near, STRATEGY, bar)


def runs(study: Study) -> Sequence[Run]:
    """All bars, and what they are relative to."""
    return [
        run
        for each in study.workloads
        for context in paper.CONTEXTS
        for run in (
            common.all_fast(each, context),
            *(_run(study, each, context, bar) for bar in BARS),
        )
    ]


def result(study: Study) -> Result:
    """Times, and how many samples they rest on."""
    found: dict[tuple[str, int, str], float] = {}
    for context in paper.CONTEXTS:
        for bar in BARS:
            for each in study.workloads:
                seconds = study.answer(_run(study, each, context, bar))["seconds"]
                base = study.answer(common.all_fast(each, context))["seconds"]
                found[each.program, context, bar] = float(seconds) / float(base)
            found[MEAN, context, bar] = common.mean(
                [found[each.program, context, bar] for each in study.workloads]
            )
    taken = {
        (each.program, context, rate): sum(
            guidance.samples(study.prepared(each.program, context).profile, rate).values()
        )
        for each in study.workloads
        for context in paper.CONTEXTS
        for rate in paper.SAMPLING_RATES
    }
    labels = {each.program: common.label(each) for each in study.workloads} | {MEAN: MEAN}
    heads = ("exact", *(f"1/{rate}" for rate in paper.SAMPLING_RATES))
    times = tuple(
        Table(
            f"Figure 6, context {context}: execution time relative to MCDRAM-only, {STRATEGY} at"
            f" {CAPACITY}, by sampling rate (emulated)",
            ("workload", *heads),
            tuple(
                (label, *(f"{found[program, context, bar]:.3f}" for bar in BARS))
                for program, label in labels.items()
            ),
        )
        for context in paper.CONTEXTS
    )
    samples = Table(
        "Figure 6: samples in the whole run, context 4",
        ("workload", *heads[1:]),
        tuple(
            (
                common.label(each),
                *(str(taken[each.program, 4, rate]) for rate in paper.SAMPLING_RATES),
            )
            for each in study.workloads
        ),
    )

    def draw(figure: "Figure") -> None:
        _draw(figure, labels, found)

    data = {
        f"context{context}": {
            program: {bar: found[program, context, bar] for bar in BARS} for program in labels
        }
        for context in paper.CONTEXTS
    }
    notes = (
        "sampling is emulated: the exact profile's load misses, thinned at random with a fixed"
        " seed; it has the chance of samples and their blindness to stores and write-backs, not"
        " a processor's skid, lost samples, or its blindness to what prefetches bring",
        *common.scale_notes(study),
    )
    programs = [each.program for each in study.workloads]
    return Result((*times, samples), claims(found, programs), notes, data, draw, (12, 8))


def claims(found: Times, programs: Sequence[str]) -> tuple[Claim, ...]:
    """Of section VI.C."""
    rates = [bar for bar in BARS if bar != guidance.EXACT]
    spread = {
        (program, context): max(found[program, context, bar] for bar in rates)
        / min(found[program, context, bar] for bar in rates)
        - 1
        for program in programs
        for context in paper.CONTEXTS
    }
    small = [case for case, value in spread.items() if value <= EQUAL]
    worst = max(spread, key=lambda case: spread[case])
    lost = {context: found[MEAN, context, rates[-1]] / found[MEAN, context, rates[0]] - 1
            for context in paper.CONTEXTS}  # fmt: skip
    return (
        Claim(
            "VI.C",
            "with only a few exceptions the sampling rate hardly changes guided runs",
            f"in {len(small)} of {len(spread)} cases all rates are within {common.percent(EQUAL)};"
            f" the most is {common.percent(spread[worst])} ({worst[0]}, context {worst[1]}); from"
            f" 1/128 to 1/8192 the mean loses {common.percent(lost[0])} in context 0,"
            f" {common.percent(lost[4])} in context 4",
            len(small) >= 0.75 * len(spread),
        ),
    )


def _draw(figure: "Figure", labels: Mapping[str, str], found: Times) -> None:
    axes = figure.subplots(len(paper.CONTEXTS), 1, sharex=True, sharey=True)
    width = 0.8 / len(BARS)
    for axis, context in zip(axes, paper.CONTEXTS, strict=True):
        for number, bar in enumerate(BARS):
            grey = 0.85 - 0.75 * number / len(BARS)
            axis.bar(
                [place + (number - len(BARS) / 2 + 0.5) * width for place in range(len(labels))],
                [found[program, context, bar] for program in labels],
                width,
                label=guidance.text(bar),
                color=common.COLOURS["thermos"] if bar == guidance.EXACT else str(grey),
            )
        axis.axhline(1, color="black", linewidth=0.8)
        axis.set_title(f"{STRATEGY} at {CAPACITY}, context {context}", fontsize=10)
        axis.set_xticks(range(len(labels)))
        names = [label.replace(" (", "\n(") for label in labels.values()]
        axis.set_xticklabels(names, fontsize=9)
        axis.set_ylabel("time / MCDRAM-only")
        axis.grid(axis="y", alpha=0.3)
    axes[0].legend(fontsize=8, ncols=4)


ITEM = Item("fig6", "guided runs by sampling rate (emulated)", runs, result)
