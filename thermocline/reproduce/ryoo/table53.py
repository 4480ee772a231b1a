"""Table 5.3: workloads by misses and footprint; and what a slice twice as long would change."""

from collections.abc import Sequence
from dataclasses import replace

from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.ryoo import common, paper
from thermocline.reproduce.ryoo.mixes import Mix, MixRun, MixStudy
from thermocline.reproduce.study import Study

LINE, GIB = 64, 2**30
SLICE_INSTRUCTIONS = 1e9  # of each copy in the thesis
CHECKED = ("hma", common.SILC)  # schemes whose speed-up is looked at over half a slice


def _half(run: MixRun) -> MixRun:
    return replace(run, first_half=True)


def runs(study: Study) -> Sequence[MixRun]:
    """Whole slices and half ones."""
    _, mixes = common.chapter5(study)
    whole = [common.baseline(mix) for mix in mixes]
    whole += [common.run(mix, scheme) for mix in mixes for scheme in CHECKED]
    return [*whole, *map(_half, whole)]


def result(study: Study) -> Result:
    """Both tables, side by side, with what follows from them."""
    made, mixes = common.chapter5(study)
    table = Table(
        "Table 5.3: workloads (fetches: how often each line of the footprint comes from memory)",
        (
            *("workload", "group", "MPKI", "footprint", "fetches"),
            *("thesis: program", "group", "MPKI", "footprint", "fetches"),
        ),
        tuple(_row(made, mix) for mix in mixes),
    )
    doubled = {
        mix.name: {scheme: _doubled(made, mix, scheme) for scheme in CHECKED} for mix in mixes
    }
    slices = Table(
        "Speed-up over half the slice, over all of it, and the change",
        ("workload", *(f"{common.NAMES[scheme]}" for scheme in CHECKED)),
        tuple(
            (
                mix.label,
                *(
                    f"{half:.3f}, {whole:.3f} ({100 * (whole / half - 1):+.1f} %)"
                    for half, whole in doubled[mix.name].values()
                ),
            )
            for mix in mixes
        ),
    )
    groups = {mix.name: common.group(made, mix) for mix in mixes}
    claim = Claim(
        "5.2.2",
        "workloads of low, medium and high misses",
        ", ".join(f"{name} {list(groups.values()).count(name)}" for name in paper.GROUPS),
        all(name in groups.values() for name in paper.GROUPS),
    )
    notes = (
        "programs of the thesis are those whose behaviour is nearest; groups are by each side's own"
        " misses. Ours count the trace's instructions, before the compiler's last steps, in which a"
        " vector is one: fewer than the machine's, so that our misses per thousand are too high",
        "fetches are misses times 64 bytes over footprint; of the thesis for 10^9 instructions of"
        f" {paper.COPIES[0]} copies",
        *common.notes(made, mixes),
    )
    data = {"groups": groups, "doubled": doubled}
    return Result((table, slices), (claim,), notes, data)


def _row(study: MixStudy, mix: Mix) -> tuple[str, ...]:
    answer = study.answer(common.baseline(mix))
    touched = study.size.copies * int(study.mix(mix).survey["touched_bytes"])
    theirs = paper.TABLE53[mix.stands_for]
    misses = theirs.mpki / 1000 * SLICE_INSTRUCTIONS * paper.COPIES[0]
    return (
        mix.name,
        common.group(study, mix),
        f"{common.mpki(answer):.1f}",
        f"{touched / 2**20:.1f} MiB",
        f"{int(answer['lines_found'][-1]) * LINE / touched:.1f}",
        mix.stands_for,
        theirs.group,
        f"{theirs.mpki:.1f}",
        f"{theirs.footprint_gb:.2f} GB",
        f"{misses * LINE / (theirs.footprint_gb * GIB):.1f}",
    )


def _doubled(study: MixStudy, mix: Mix, scheme: str) -> tuple[float, float]:
    def seconds(run: MixRun) -> float:
        return float(study.answer(run)["seconds"])

    base, run = common.baseline(mix), common.run(mix, scheme)
    return seconds(_half(base)) / seconds(_half(run)), seconds(base) / seconds(run)


ITEM = Item("table5.3", "workloads: misses, footprint, and the slice", runs, result, None, 5)
