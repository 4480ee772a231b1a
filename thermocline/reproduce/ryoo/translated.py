"""What the items of chapter 7 share: simulations with translation, and their second halves.

The first half, and the first touch of each page before it, fill TLBs, caches and the buffer in
memory; counts and times are of the second half, as the difference of two simulations.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from thermocline.reproduce import ryoo_table71
from thermocline.reproduce.ryoo.mixes import CONTEXT, Mix, MixRun, MixStudy
from thermocline.reproduce.study import Study
from thermocline.simulation.translation import Mode

# The thesis' buffer is 16 MiB and reaches 4 GiB; our mixes touch a fraction of a GiB.
POM_DIVISOR = 16
WHOLE_BYTES = 16 * 2**20
BYTES = WHOLE_BYTES // POM_DIVISOR
BASELINE = "baseline"
POM = f"pom:bytes={BYTES}"
UNCACHED = f"{POM}:caching=off"
NEIGHBOURS = f"{POM}:neighbours=on"  # ours: four neighbouring pages share a line
SHARED = "shared-l2"
TSB = f"tsb:bytes={BYTES}"
NAMES = {
    BASELINE: "baseline",
    POM: "POM-TLB",
    UNCACHED: "POM-TLB, not cached",
    NEIGHBOURS: "POM-TLB, neighbours (ours)",
    SHARED: "Shared L2",
    TSB: "TSB",
}


def chapter7(study: Study) -> tuple[MixStudy, list[Mix]]:
    """The study, and this chapter's mixes."""
    assert isinstance(study, MixStudy)
    return study, study.of_chapter(7)


def run(mix: Mix, tlb: str, mode: Mode = "nested") -> MixRun:
    """Data in far memory, the buffer in near memory; large pages as in Table 7.1."""
    large = ryoo_table71.PROGRAMS[mix.stands_for].large_share
    return MixRun(mix.name, CONTEXT, "all-slow", tlb=tlb, mode=mode, large=large)


def both(runs: Sequence[MixRun]) -> list[MixRun]:
    """Each in whole, and its first half."""
    return [each for one in runs for each in (one, replace(one, first_half=True))]


@dataclass(frozen=True)
class Steady:
    """Of the second half, all cores together where not said otherwise."""

    seconds: float  # of the mix
    cycles: float  # of all cores
    misses: int  # of the second-level TLB
    penalty: float  # cycles of walkers, all misses together
    walks: int
    found: tuple[int, ...]  # the walker's references, by level; the last is memory
    last: Mapping[str, Any]  # the last level's own counts

    @property
    def average(self) -> float:
        """Cycles for each miss."""
        return self.penalty / self.misses if self.misses else 0.0

    @property
    def overhead(self) -> float:
        """Share of the cores' time, as the thesis' counters would show it."""
        return min(self.penalty / self.cycles, 0.999)


def steady(study: MixStudy, run: MixRun) -> Steady:
    """Whole run less its first half."""
    whole, half = study.answer(run), study.answer(replace(run, first_half=True))
    hertz = study.configuration(run)["cpu"]["hertz"]

    def less(path: Sequence[str]) -> Any:
        return _less(_at(whole, path), _at(half, path))

    seconds = float(less(["seconds"]))
    in_translation = ("translation",)
    return Steady(
        seconds,
        seconds * hertz * (run.copies or study.size.copies),
        int(less([*in_translation, "second_misses"])),
        float(less([*in_translation, "penalty_seconds"])) * hertz,
        int(less([*in_translation, "walks"])),
        tuple(less([*in_translation, "references_found"])),
        less([*in_translation, "last"]) or {},
    )


def _at(answer: Any, path: Sequence[str]) -> Any:
    for name in path:
        answer = answer[name]
    return answer


def _less(whole: Any, half: Any) -> Any:
    """Counts in the same places, one from the other."""
    if isinstance(whole, dict):
        return {name: _less(each, half[name]) for name, each in whole.items()}
    if isinstance(whole, list):
        padded = [*half, *[0] * (len(whole) - len(half))]
        return [_less(one, other) for one, other in zip(whole, padded, strict=True)]
    return whole - half if isinstance(whole, int | float) else whole


def notes(study: MixStudy) -> tuple[str, ...]:
    """What every number of chapter 7 was made at."""
    machine, copies = study.machines[7], study.size.copies
    return (
        f"{copies} copies on {copies} of {machine.name}'s {machine.cpu.cores} cores and that part"
        " of its last cache and channels; TLBs and caches whole; the buffer in memory"
        f" 1/{POM_DIVISOR} of the thesis' 16 MiB, as our mixes touch that much less; shares of"
        " large pages are Table 7.1's (input); data in DDR4, the buffer alone in HBM",
        "second half of each slice; the first half, and the first touch of every page before it,"
        " fill what keeps translations",
        "programs of the thesis are those whose behaviour is nearest; its numbers are of whole runs"
        " on an i7-6700",
    )
