"""What the items of this paper share."""

from collections.abc import Sequence
from statistics import geometric_mean

from thermocline.reproduce import study
from thermocline.reproduce.guidance import EXACT
from thermocline.reproduce.membrain import paper
from thermocline.reproduce.study import Run, Study, Workload

GUIDED = ("knapsack", "hotset", "thermos", "fastest")
NAMES = {"fastest": "fastest --split (ours)", "thermos": "thermos", "first-touch": "first touch"}
COLOURS = {
    "first-touch": "#9a9a9a",
    "knapsack": "#56b4e9",
    "hotset": "#e69f00",
    "thermos": "#d55e00",
    "fastest": "#009e73",
    "cache": "#0072b2",
    "sampled": "#cc79a7",
    "isolated": "#f0e442",
}


def all_fast(workload: Workload, context: int) -> Run:
    """What the paper calls MCDRAM-only."""
    return study.all_fast(workload.program, context)


def guided(
    workload: Workload, context: int, near_bytes: int, strategy: str, guidance: str = EXACT
) -> Run:
    """By a plan, or first touch."""
    if strategy == "first-touch":
        return Run(workload.program, context, "first-touch", near_bytes)
    return Run(workload.program, context, "membrain", near_bytes, strategy, guidance=guidance)


def label(workload: Workload) -> str:
    """Ours, and what it stands for."""
    return f"{workload.program} ({workload.stands_for})"


def mean(values: Sequence[float]) -> float:
    """Geometric, as the paper's."""
    return geometric_mean(values)


def percent(value: float) -> str:
    """A share, or a change where it is signed."""
    return f"{100 * value:.1f} %"


def scale_notes(made: Study) -> tuple[str, ...]:
    """What every number here was made at."""
    machine = made.whole_machine
    factors = [
        made.prepared(each.program, 4).profile.peak_resident_bytes
        / (paper.TABLE1[each.stands_for].resident_gb * paper.GIB)
        for each in made.workloads
    ]
    last = made.machine.cache[-1]
    regions = [made.prepared(each.program, 4) for each in made.workloads]
    shares = ", ".join(f"{each.job.program} {100 * each.region_share:.0f} %" for each in regions)
    return (
        f"scale: memory, capacities and the last cache ({int(last.bytes.value) >> 10} KiB)"
        f" 1/{made.size.divisor} of the paper's (inputs come to"
        f" 1/{1 / max(factors):.0f} to 1/{1 / min(factors):.0f}); 1 of {machine.name}'s"
        f" {machine.cpu.cores} cores, and that part of its channels; latencies whole",
        f"times are of the last references of each run, {made.size.region / 1e6:.0f} million if"
        f" there are so many ({shares}), after every page's first touch in the run's order",
    )
