"""Table 5.3: workloads by misses and footprint; and what a slice twice as long would change."""

from collections.abc import Sequence

from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.ryoo import common, paper
from thermocline.reproduce.ryoo.mixes import Mix, MixRun, MixStudy
from thermocline.reproduce.study import Study

LINE, GIB = 64, 2**30
SLICE_INSTRUCTIONS = 1e9  # of each copy in the thesis
LEAST = min(row.mpki for row in paper.TABLE53.values())


def runs(study: Study) -> Sequence[MixRun]:
    """Whole slices and half ones; and real programs that no other item has."""
    made, mixes = common.chapter5(study)
    return [*common.halves(mixes), *(common.baseline(mix) for mix in made.extras(5))]


def result(study: Study) -> Result:
    """Both tables, side by side, with what follows from them."""
    made, mixes = common.chapter5(study)
    table = Table(
        "Table 5.3: workloads (fetches: how often each line of the footprint comes from memory)",
        (
            *("workload", "group", "MPKI", "footprint", "fetches"),
            *("thesis: program", "group", "MPKI", "footprint", "fetches"),
        ),
        tuple(_row(made, mix) for mix in [*mixes, *made.extras(5)]),
    )

    def faster(base: MixRun, run: MixRun) -> float:
        return float(made.answer(base)["seconds"]) / float(made.answer(run)["seconds"])

    doubled = common.doubled(mixes, faster)
    slices = Table(
        "Speed-up over half the slice, over all of it, and the change",
        ("workload", *(f"{common.NAMES[scheme]}" for scheme in common.CHECKED)),
        tuple(
            (
                mix.label,
                *(common.change(half, whole) for half, whole in doubled[mix.name].values()),
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
        "programs of the thesis are those whose behaviour is nearest, and none for real programs"
        " (Debian's sources; what they do in the C library is not in their traces); groups are by"
        " each side's own misses",
        "ours count the trace's instructions, before the compiler's last steps, in which a vector"
        " is one: fewer than the machine's, so that our misses per thousand are too high",
        "fetches are misses times 64 bytes over footprint; of the thesis for 10^9 instructions of"
        f" {paper.COPIES[0]} copies",
        *_left_out(made),
        *common.notes(made, mixes),
    )
    data = {"groups": groups, "doubled": doubled}
    return Result((table, slices), (claim,), notes, data)


def _row(study: MixStudy, mix: Mix) -> tuple[str, ...]:
    answer = study.answer(common.baseline(mix))
    touched = study.size.copies * int(study.mix(mix).survey["touched_bytes"])
    ours = (
        mix.name,
        "left out" if mix.extra else common.group(study, mix),
        f"{common.mpki(answer):.1f}",
        f"{touched / 2**20:.1f} MiB",
        f"{int(answer['lines_found'][-1]) * LINE / touched:.1f}",
    )
    if mix.real:
        return (*ours, "(real)", *[""] * 4)
    theirs = paper.TABLE53[mix.stands_for]
    misses = theirs.mpki / 1000 * SLICE_INSTRUCTIONS * paper.COPIES[0]
    return (
        *ours,
        mix.stands_for,
        theirs.group,
        f"{theirs.mpki:.1f}",
        f"{theirs.footprint_gb:.2f} GB",
        f"{misses * LINE / (theirs.footprint_gb * GIB):.1f}",
    )


def _left_out(study: MixStudy) -> tuple[str, ...]:
    return tuple(
        f"{mix.name} is in no other item: its {common.mpki(study.answer(common.baseline(mix))):.1f}"
        f" misses per thousand instructions are in no group of the thesis (its least: {LEAST:g})"
        for mix in study.extras(5)
    )


ITEM = Item("table5.3", "workloads: misses, footprint, and the slice", runs, result, None, 5)
