"""POM-TLB on 1 to 32 cores, ours: the buffer stays, caches and channels grow with the cores."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from thermocline.reproduce.item import Item, Result, Table
from thermocline.reproduce.ryoo import common, translated
from thermocline.reproduce.ryoo.mixes import Mix, MixRun, MixStudy
from thermocline.reproduce.ryoo.sizes import with_mean
from thermocline.reproduce.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CORES = (1, 2, 4, 8, 16, 32)
# Where translation costs most; 32 copies of all seven would take longer than all else.
PROGRAMS = ("gups", "mcf")


def _mixes(study: Study) -> tuple[MixStudy, list[Mix]]:
    made, mixes = translated.chapter7(study)
    return made, [mix for mix in mixes if mix.stands_for in PROGRAMS]


def _run(mix: Mix, tlb: str, cores: int) -> MixRun:
    return replace(translated.run(mix, tlb), copies=cores)


def runs(study: Study) -> Sequence[MixRun]:
    """The walker and POM-TLB with each number of copies."""
    return translated.both(
        [
            _run(mix, tlb, cores)
            for mix in _mixes(study)[1]
            for tlb in (translated.BASELINE, translated.POM)
            for cores in CORES
        ]
    )


def result(study: Study) -> Result:
    """Gain by simulated time, walks spared, and what translation costs the walker's system."""
    made, mixes = _mixes(study)
    gain, gone, overhead = {}, {}, {}
    for mix in mixes:
        base, pom = (
            [translated.steady(made, _run(mix, tlb, cores)) for cores in CORES]
            for tlb in (translated.BASELINE, translated.POM)
        )
        gain[mix.label] = [b.seconds / p.seconds - 1 for b, p in zip(base, pom, strict=True)]
        gone[mix.label] = [1 - p.walks / max(1, p.misses) for p in pom]
        overhead[mix.label] = [each.overhead for each in base]
    tables = tuple(
        Table(
            f"{what}, by cores",
            ("workload", *map(str, CORES)),
            tuple((label, *map(common.percent, row)) for label, row in with_mean(values).items()),
        )
        for what, values in (
            ("POM-TLB's improvement over the walker by simulated time", gain),
            ("POM-TLB: misses of the second-level TLB without a walk", gone),
            ("The walker: share of time in translation", overhead),
        )
    )

    def draw(figure: "Figure") -> None:
        axis = figure.subplots()
        for label, row in gain.items():
            axis.plot(CORES, [100 * value for value in row], marker="o", label=label)
        axis.set_xscale("log", base=2)
        axis.set_xlabel("cores, a copy on each")
        axis.set_ylabel("improvement by simulated time, percent")
        axis.legend(fontsize=8)

    notes = (
        "ours, not the thesis'; up to 8 cores are a part of the machine, beyond that its last cache"
        " and channels are multiplied; the buffer is as large with all",
        *translated.notes(made)[1:],
    )
    data = {"cores": CORES, "improvement": gain, "without_walk": gone, "overhead": overhead}
    return Result(tables, (), notes, data, draw, (8, 5))


ITEM = Item("cores", "POM-TLB on 1 to 32 cores (ours)", runs, result, None, 7)
