"""Figure 5: what profiling costs, by method and rate, with and without the heap of sites.

Programs run here, against the clock.  Sampling needs a processor that samples addresses: where
there is none its columns say so, and nothing stands in for it.
"""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from thermocline import methods
from thermocline.machine.model import Machine
from thermocline.measuring.paired import Command, GeometricMean, Ratio, Series, run_paired
from thermocline.methods.base import Request
from thermocline.reproduce import timed
from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.membrain import common, paper
from thermocline.reproduce.study import Run, Study, Update
from thermocline.run import config

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CONTEXT = 4
PLAIN, HEAP = "unprofiled", "heap of sites alone"
NEEDS = "needs PEBS, IBS or SPE"
SAMPLED = {f"sampling 1/{rate}": rate for rate in paper.SAMPLING_RATES}
MEAN = "geometric mean"
SLACK = 0.05  # beyond the paper's range still counts as agreement


def runs(_: Study) -> Sequence[Run]:
    """None: programs run here."""
    return []


def _directives(machine: Machine) -> dict[str, list[str]]:
    """Of each method and rate that this host can do."""
    wanted: list[tuple[str, str, int | None]] = [
        (HEAP, "none", None),
        ("pages", "pages", None),
        ("bursts", "bursts", None),
        *((title, "sample", rate) for title, rate in SAMPLED.items()),
    ]
    found = {}
    for title, name, rate in wanted:
        method = methods.find(name)
        if not method.lacks():
            request = Request((), Path(), machine, Path(), rate)
            found[title] = method.directives(request)
    return found


def measure(study: Study, update: Update) -> dict[str, Series]:
    """Each workload at context 4: unprofiled, on the heap alone, and with each method."""
    found = {}
    with tempfile.TemporaryDirectory(prefix="thermocline-fig5-") as scratch:
        for number, each in enumerate(study.workloads):
            update("timing methods", number / len(study.workloads))
            program = timed.workload(each)
            variants: dict[str, Command] = {PLAIN: program.at(CONTEXT)}
            machine = study.timed_machine(each)
            for title, lines in _directives(machine).items():
                file = Path(scratch) / title.replace(" ", "-").replace("/", "-")
                text = config.for_profile(file.with_suffix(".out"), machine, lines)
                file.write_text(text)
                variants[title] = program.configured(CONTEXT, file)
            found[each.program] = run_paired(
                variants, rounds=study.size.rounds, count_rounds=0, same_output=False
            )
    update("timing methods", 1.0)
    return found


def ratios(found: Mapping[str, Series], base: str) -> dict[str, dict[str, Ratio]]:
    """Of time, by program (or MEAN) and variant."""
    made: dict[str, dict[str, Ratio]] = {}
    for program, series in found.items():
        made[program] = {}
        for variant in series.samples:
            ratio = series.ratio(variant, base, "seconds")
            if ratio and variant not in (PLAIN, base):
                made[program][variant] = ratio
    variants = next(iter(made.values()))
    made[MEAN] = {name: GeometricMean([each[name] for each in made.values()]) for name in variants}
    return made


def result(study: Study) -> Result:
    """In all, and over the heap alone."""
    found: dict[str, Series] = study.measurements["fig5"]
    whole, added = ratios(found, PLAIN), ratios(found, HEAP)
    labels = {each.program: common.label(each) for each in study.workloads} | {MEAN: MEAN}

    def draw(figure: "Figure") -> None:
        _draw(figure, labels, whole)

    notes = (
        f"wall time of whole programs on this host, {study.size.rounds} interleaved rounds, medians"
        f" [95 % interval]; context {CONTEXT}; pages and bursts at their default budgets",
        "the paper: 22 to 32 % in all, 1.6 to 10.7 % of it the sampling, and most of the rest"
        " threads that allocate from the same arenas; ours run in one thread",
        *(() if _sampled(whole) else (f"sampling: {methods.find('sample').lacks()}",)),
    )
    data = {
        title: {
            program: {variant: ratio.as_json() for variant, ratio in row.items()}
            for program, row in made.items()
        }
        for title, made in (("in all", whole), ("over the heap alone", added))
    }
    tables = (
        _table("Figure 5: time relative to an unprofiled run", labels, whole),
        _table("Figure 5: time relative to the heap of sites alone", labels, added),
    )
    return Result(tables, claims(whole[MEAN], added[MEAN]), notes, data, draw, (11, 5))


def _sampled(made: Mapping[str, Mapping[str, Ratio]]) -> list[str]:
    return [title for title in SAMPLED if title in made[MEAN]]


def _table(title: str, labels: Mapping[str, str], made: Mapping[str, Mapping[str, Ratio]]) -> Table:
    variants = list(made[MEAN])
    rates = paper.SAMPLING_RATES
    missing = () if _sampled(made) else (f"sampling 1/{rates[0]} to 1/{rates[-1]}",)
    return Table(
        title,
        ("workload", *variants, *missing),
        tuple(
            (label, *(_shown(made[program][each]) for each in variants), *(NEEDS for _ in missing))
            for program, label in labels.items()
        ),
    )


def _shown(ratio: Ratio) -> str:
    return f"{ratio.median:.3f} [{ratio.low:.3f}, {ratio.high:.3f}]"


def claims(whole: Mapping[str, Ratio], added: Mapping[str, Ratio]) -> tuple[Claim, ...]:
    """Of section VI.C, where sampling ran: nothing else may stand for it."""
    made = []
    for what, stated, found in (
        ("in all", paper.PROFILING_OVERHEAD, whole),
        ("for the sampling alone", paper.SAMPLING_OVERHEAD, added),
    ):
        over = [found[title].median - 1 for title in SAMPLED if title in found]
        if not over:
            continue
        low, high = stated
        made.append(
            Claim(
                "VI.C",
                f"profiling by samples costs {common.percent(low)} to {common.percent(high)}"
                f" {what}, by rate",
                f"{common.percent(min(over))} to {common.percent(max(over))}",
                min(over) >= low - SLACK and max(over) <= high + SLACK,
            )
        )
    return tuple(made)


def _draw(
    figure: "Figure", labels: Mapping[str, str], made: Mapping[str, Mapping[str, Ratio]]
) -> None:
    axis = figure.subplots()
    variants = list(made[MEAN])
    width = 0.8 / len(variants)
    for number, variant in enumerate(variants):
        bars = [made[program][variant] for program in labels]
        axis.bar(
            [place + (number - len(variants) / 2 + 0.5) * width for place in range(len(labels))],
            [ratio.median for ratio in bars],
            width,
            yerr=[
                [max(0.0, ratio.median - ratio.low) for ratio in bars],
                [max(0.0, ratio.high - ratio.median) for ratio in bars],
            ],
            label=variant,
        )
    axis.axhline(1, color="black", linewidth=0.8)
    axis.set_xticks(range(len(labels)))
    axis.set_xticklabels([label.replace(" (", "\n(") for label in labels.values()], fontsize=9)
    title = "" if _sampled(made) else f" (sampling: {NEEDS})"
    axis.set_ylabel(f"time / unprofiled{title}")
    axis.grid(axis="y", alpha=0.3)
    axis.legend(fontsize=8, ncols=3)


ITEM = Item("fig5", "what profiling costs, by method and rate", runs, result, measure)
