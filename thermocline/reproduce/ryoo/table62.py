"""Table 6.2: workloads, and their memory over near memory."""

from collections.abc import Sequence

from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.ryoo import common, migrated, paper
from thermocline.reproduce.ryoo.migrated import MB, NEAR_MB
from thermocline.reproduce.ryoo.mixes import MixRun
from thermocline.reproduce.study import Study

NEAR = 0.15  # ratios this near are alike


def runs(study: Study) -> Sequence[MixRun]:
    """All data near."""
    _, mixes = migrated.chapter6(study)
    return [migrated.all_near(mix) for mix in mixes]


def result(study: Study) -> Result:
    """Ours beside the thesis'."""
    made, mixes = migrated.chapter6(study)
    near = NEAR_MB * MB / made.size.near_divisor
    rows, ratios = [], {}
    for mix in mixes:
        prepared, answer = made.mix(mix), made.answer(migrated.all_near(mix))
        touched = int(prepared.survey["touched_bytes"])
        theirs = paper.RESIDENT_MB[mix.stands_for]
        ratios[mix.stands_for] = (touched / near, theirs / NEAR_MB)
        rows.append(
            (
                mix.stands_for,
                f"{theirs} MB",
                f"{theirs / NEAR_MB:.2f}",
                f"{mix.program} {' '.join(mix.arguments)}",
                f"{touched / MB:.1f} MiB",
                f"{touched / near:.2f}",
                f"{prepared.recorded.region / 1e6:.1f} M",
                common.percent(prepared.region_share),
                f"{common.mpki(answer):.1f}",
            )
        )
    table = Table(
        "Table 6.2: workloads, and what stands for them",
        (
            *("thesis", "resident", "over near", "ours", "touched", "over near"),
            *("references simulated", "of the run", "MPKI"),
        ),
        tuple(rows),
    )
    off = {n: a / b for n, (a, b) in ratios.items() if abs(a / b - 1) > NEAR}
    claim = Claim(
        "6.3.3",
        "memory over near memory",
        "within 15 % but for "
        + (", ".join(f"{name} ({each:.2f} times)" for name, each in off.items()) or "none"),
        not off,
    )
    return Result((table,), (claim,), migrated.notes(made), {"over_near": ratios})


ITEM = Item("table6.2", "workloads and their memory", runs, result, None, 6)
