"""Table I: what the workloads use, their allocation sites, and what MCDRAM gives them."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from thermocline import units
from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.membrain import common, paper
from thermocline.reproduce.study import Run, Study, Workload


def _all_slow(workload: Workload) -> Run:
    return Run(workload.program, 4, "all-slow")


def runs(study: Study) -> Sequence[Run]:
    """All data in DDR4, and all in MCDRAM."""
    return [run for each in study.workloads for run in (_all_slow(each), common.all_fast(each, 4))]


@dataclass(frozen=True)
class Row:
    """One workload's."""

    workload: str
    stands_for: str
    arguments: str
    metric: str
    mcdram_time: float  # relative to all in DDR4
    peak_resident_bytes: int
    nonheap_share: float
    executable: int  # bytes
    executable_context: int
    static_sites: int
    reached_sites: int
    static_sites_context: int
    reached_sites_context: int
    unseen_instruction_share: float  # by the profile


def result(study: Study) -> Result:
    """Ours, then the paper's, and where they differ in kind."""
    rows = [_row(study, each) for each in study.workloads]
    ours = Table(
        "Table I, ours",
        (
            *("workload", "arguments", "metric", "MCDRAM time", "peak", "non-heap"),
            *("executable", "with context", "sites", "reached", "with context", "reached"),
        ),
        tuple(
            (
                row.workload,
                row.arguments,
                row.metric,
                f"{row.mcdram_time:.2f}",
                units.format_bytes(row.peak_resident_bytes),
                common.percent(row.nonheap_share),
                units.format_bytes(row.executable),
                units.format_bytes(row.executable_context),
                *(str(getattr(row, name)) for name in _COUNTS),
            )
            for row in rows
        ),
        3,
    )
    theirs = Table(
        "Table I, the paper's (section V.B)",
        (
            *("workload", "metric", "MCDRAM time", "peak", "executable", "with context"),
            *("sites", "reached", "with context", "reached"),
        ),
        tuple(
            (
                row.name,
                row.metric,
                f"{row.mcdram_time:.2f}",
                f"{row.resident_gb:g} GB",
                f"{row.executable_mb:g} MB",
                f"{row.executable_context_mb:g} MB",
                *(str(getattr(row, name)) for name in _COUNTS),
            )
            for row in (paper.TABLE1[each.stands_for] for each in study.workloads)
        ),
        2,
    )
    notes = (
        "MCDRAM time: with all data in MCDRAM, relative to all in DDR4 (ours simulated)",
        "executable: the file less the code that only a profile or a trace runs; context 4",
        *common.scale_notes(study),
    )
    return Result((ours, theirs), claims(rows), notes, {"workloads": [asdict(row) for row in rows]})


_COUNTS = ("static_sites", "reached_sites", "static_sites_context", "reached_sites_context")


def _row(study: Study, workload: Workload) -> Row:
    plain, context = (study.prepared(workload.program, n) for n in paper.CONTEXTS)
    slow, fast = (
        float(study.answer(run)["seconds"])
        for run in (_all_slow(workload), common.all_fast(workload, 4))
    )
    profile = context.profile
    return Row(
        common.label(workload),
        workload.stands_for,
        " ".join(workload.arguments),
        context.metric,
        fast / slow,
        profile.peak_resident_bytes,
        profile.nonheap_bytes / profile.peak_resident_bytes,
        plain.file_bytes - plain.recording_bytes,
        context.file_bytes - context.recording_bytes,
        plain.sites,
        plain.reached,
        context.sites,
        context.reached,
        profile.unseen_instruction_share or 0.0,
    )


def claims(rows: Sequence[Row]) -> tuple[Claim, ...]:
    """Of section V.B, and what the table shows without words."""
    least = min(rows, key=lambda row: 1 / row.mcdram_time)
    gain = 1 / least.mcdram_time - 1
    more = [row for row in rows if row.reached_sites_context > row.reached_sites]
    made = [
        Claim(
            "V.B",
            f"every workload gains more than {common.percent(paper.LEAST_GAIN)} from MCDRAM alone",
            f"the least gain is {common.percent(gain)}, of {least.workload}",
            gain > paper.LEAST_GAIN,
        ),
        Claim(
            "Table I",
            "context tells more reached sites apart in all workloads",
            f"in {len(more)} of {len(rows)}",
            len(more) == len(rows),
        ),
    ]
    for row in rows:
        stated = paper.TABLE1[row.stands_for].reached_sites
        if stated <= 4:
            made.append(
                Claim(
                    "Table I",
                    f"{row.stands_for} reaches {stated} sites without context",
                    f"{row.workload} reaches {row.reached_sites}",
                    row.reached_sites <= 4,
                )
            )
    return tuple(made)


ITEM = Item("table1", "workload statistics and allocation sites", runs, result)
