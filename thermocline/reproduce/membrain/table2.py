"""Table II: what telling allocation contexts apart costs, at run time and in the executable.

Each variant is compared with the same program on the same allocator without contexts:
`backtrace` on the C library's malloc, our cached unwinder (`--preload`, 4 callers) on the runtime
library, and clones at context 4 against context 0.
"""

import math
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

from thermocline.measuring.paired import Command, GeometricMean, Ratio, run_paired
from thermocline.reproduce import timed
from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.membrain import common, paper
from thermocline.reproduce.study import Run, Study, Update
from thermocline.reproduce.timed import Timed

CONTEXT = 4
# Variant -> what it is compared with.
BASES = {"backtrace": "plain", "cached unwinder": "library", "static": "context 0"}
METRICS = ("seconds", "instructions")
NEAR = 0.05  # so close to the paper's mean counts as agreement


@dataclass(frozen=True)
class Row:
    """One program's."""

    program: str
    stands_for: str
    allocations: int
    seconds: float  # of a plain run, the median
    ratios: Mapping[str, Mapping[str, Ratio]]  # by variant and metric

    @property
    def rate(self) -> float:
        """Allocations a second."""
        return self.allocations / self.seconds

    def cost(self, variant: str) -> float:
        """Seconds that the variant adds to each allocation."""
        added = (self.ratios[variant]["seconds"].median - 1) * self.seconds
        return added / self.allocations if self.allocations else 0.0


def runs(_: Study) -> Sequence[Run]:
    """None: programs run here."""
    return []


def measure(study: Study, update: Update) -> list[Row]:
    """All programs, one after the other."""
    programs = [timed.workload(each) for each in study.workloads]
    programs += [timed.real_program(name) for name in study.real_programs]
    rows = []
    with tempfile.TemporaryDirectory(prefix="thermocline-table2-") as scratch:
        shim = timed.backtrace_library(Path(scratch))
        for number, program in enumerate(programs):
            update("timing contexts", number / len(programs))
            rows.append(_measured(study, program, _variants(program, shim, Path(scratch))))
    update("timing contexts", 1.0)
    return rows


def _variants(program: Timed, shim: Path, folder: Path) -> dict[str, Command]:
    one_tier, paths = folder / "one-tier", folder / "paths"
    one_tier.write_text(timed.ONE_TIER)
    paths.write_text(f"{timed.ONE_TIER}preload {CONTEXT}\n")
    plain = program.at(None)
    return {
        "plain": plain,
        "backtrace": timed.with_environment(plain, {"LD_PRELOAD": str(shim)}),
        "library": program.configured(None, one_tier, preload=True),
        "cached unwinder": program.configured(None, paths, preload=True),
        "context 0": program.configured(0, one_tier),
        "static": program.configured(CONTEXT, one_tier),
    }


def _measured(study: Study, program: Timed, variants: Mapping[str, Command]) -> Row:
    series = run_paired(
        variants,
        rounds=study.size.rounds,
        count_rounds=int(study.size.counted),
        same_output=program.same_output,
    )
    ratios: dict[str, dict[str, Ratio]] = {}
    for variant, base in BASES.items():
        found = {metric: series.ratio(variant, base, metric) for metric in METRICS}
        ratios[variant] = {metric: ratio for metric, ratio in found.items() if ratio}
    seconds = statistics.median(series.values("plain", "seconds") or [math.nan])
    return Row(program.name, program.stands_for, timed.allocations(program), seconds, ratios)


def result(study: Study) -> Result:
    """Ours, the paper's, and what an allocation costs in both."""
    rows: list[Row] = study.measurements["table2"]
    groups = {"geometric mean, workloads": [row for row in rows if row.stands_for]}
    if study.real_programs:
        groups["geometric mean, all"] = rows
    means = {title: _means(group) for title, group in groups.items()}
    counted = all("instructions" in row.ratios[variant] for row in rows for variant in BASES)
    heads = [f"{variant}, time" for variant in BASES]
    if counted:
        heads += [f"{variant}, instructions" for variant in BASES]
    ours = Table(
        "Table II, ours: relative to no context detection, medians [95 % interval]",
        ("program", "1000 allocations/s", *heads),
        (
            *(
                (
                    f"{row.program} ({row.stands_for})" if row.stands_for else row.program,
                    _thousands(row),
                    *(_shown(row.ratios[variant]["seconds"]) for variant in BASES),
                    *(
                        f"{row.ratios[variant]['instructions'].median:.3f}"
                        for variant in BASES
                        if counted
                    ),
                )
                for row in rows
            ),
            *(
                (
                    title,
                    "",
                    *(_shown(means[title][variant]) for variant in BASES),
                    *(f"{_counted(group, variant):.3f}" for variant in BASES if counted),
                )
                for title, group in groups.items()
            ),
        ),
    )
    theirs = Table(
        "Table II, the paper's (section VI.A)",
        ("program", "1000 allocations/s", "backtrace", "static", "backtrace, µs an allocation"),
        (
            *(
                (
                    name,
                    f"{row.kallocs:g}",
                    f"{row.backtrace:.2f}",
                    f"{row.static:.2f}",
                    f"{1000 * (row.backtrace - 1) / row.kallocs:.3g}",
                )
                for name, row in paper.TABLE2.items()
            ),
            (
                "geometric mean",
                *(f"{value:g}" for value in astuple(paper.TABLE2_MEAN)),
                "",
            ),
        ),
    )
    notes = (
        f"wall time of whole programs, {study.size.rounds} interleaved rounds on this host; the"
        " paper leaves some programs' start out",
        "each variant over its own base: backtrace (5 frames, a table of paths) over the C"
        " library's malloc; cached unwinder (4 callers) over the runtime library without paths;"
        " static (clones, context 4) over context 0; the last two with everything in one tier",
        f"the paper's time an allocation: (ratio - 1) / rate; ours: {_costs(rows)}",
    )
    data = {
        "programs": [
            {
                "program": row.program,
                "stands_for": row.stands_for,
                "allocations": row.allocations,
                "seconds": row.seconds,
                "ratios": {
                    variant: {metric: ratio.as_json() for metric, ratio in found.items()}
                    for variant, found in row.ratios.items()
                },
            }
            for row in rows
        ],
        "means": {
            title: {variant: mean.as_json() for variant, mean in found.items()}
            for title, found in means.items()
        },
    }
    first = next(iter(means.values()))
    return Result((ours, theirs), claims(first, rows), notes, data)


def _means(rows: Sequence[Row]) -> dict[str, Ratio]:
    return {
        variant: GeometricMean([row.ratios[variant]["seconds"] for row in rows])
        for variant in BASES
    }


def _shown(ratio: Ratio) -> str:
    return f"{ratio.median:.2f} [{ratio.low:.2f}, {ratio.high:.2f}]"


def _counted(rows: Sequence[Row], variant: str) -> float:
    return common.mean([row.ratios[variant]["instructions"].median for row in rows])


def _thousands(row: Row) -> str:
    rate = row.rate / 1000
    return f"{rate:.3g}" if rate < 100 else f"{rate:,.0f}"


def _busiest(rows: Sequence[Row]) -> Row:
    return max(rows, key=lambda row: row.rate)


def _costs(rows: Sequence[Row]) -> str:
    row = _busiest(rows)
    shown = ", ".join(f"{each} {1e6 * row.cost(each):.3f} µs" for each in BASES)
    return f"{shown} an allocation in {row.program}"


def claims(means: Mapping[str, Ratio], rows: Sequence[Row]) -> tuple[Claim, ...]:
    """Of section VI.A; `means`: of the workloads that stand for the paper's."""
    backtrace, static = means["backtrace"], means["static"]
    busy = _busiest(rows)
    at_busiest = busy.ratios["backtrace"]["seconds"].median
    return (
        Claim(
            "VI.A",
            f"backtrace at each allocation takes {paper.TABLE2_MEAN.backtrace:.2f} times as long"
            " on average",
            f"{_shown(backtrace)} for the workloads, whose most is"
            f" {_thousands(_busiest([row for row in rows if row.stands_for]))} thousand"
            f" allocations a second; {at_busiest:.2f} in {busy.program}, with"
            f" {_thousands(busy)} thousand allocations a second",
            abs(backtrace.median / paper.TABLE2_MEAN.backtrace - 1) < NEAR,
        ),
        Claim(
            "VI.A",
            f"clones take {paper.TABLE2_MEAN.static:.2f} times as long on average",
            _shown(static),
            abs(static.median / paper.TABLE2_MEAN.static - 1) < NEAR,
        ),
        Claim(
            "VI.A",
            "backtrace can cost prohibitively much, where clones cost nothing to speak of",
            f"in {busy.program}: backtrace {at_busiest:.2f}, clones"
            f" {busy.ratios['static']['seconds'].median:.2f}, the cached unwinder"
            f" {busy.ratios['cached unwinder']['seconds'].median:.2f}",
            at_busiest > 1.5 and busy.ratios["static"]["seconds"].median < 1 + NEAR,
        ),
    )


ITEM = Item("table2", "what telling contexts apart costs", runs, result, measure)
