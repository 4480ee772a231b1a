"""Ours: `adaptive` beside the best fixed granularity, of each program and of all others."""

from collections.abc import Mapping, Sequence

from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.ryoo import common, migrated
from thermocline.reproduce.ryoo.migrated import FIXED, OURS, POLICIES, Measured
from thermocline.reproduce.ryoo.mixes import MixRun
from thermocline.reproduce.study import Study

GOAL = 0.03  # adaptive may be so much slower than the best fixed one


def runs(study: Study) -> Sequence[MixRun]:
    """All policies."""
    return migrated.runs(*migrated.chapter6(study))


def chosen_by_others(found: Mapping[str, Mapping[str, Measured]], left_out: str) -> str:
    """The fixed granularity that is best in the geometric mean of all programs but one."""
    return min(
        FIXED,
        key=lambda policy: migrated.mean(
            [each[policy].slowdown for name, each in found.items() if name != left_out]
        ),
    )


def result(study: Study) -> Result:
    """Each program, with what would have been chosen for it without knowing it."""
    made, mixes = migrated.chapter6(study)
    found = migrated.slowdowns(made, mixes)
    rows, behind = [], {}
    blind: dict[str, str] = {}
    for mix in mixes:
        mine = found[mix.name]
        blind[mix.name] = chosen_by_others(found, mix.name)
        best = min(FIXED, key=lambda policy: mine[policy].slowdown)
        behind[mix.stands_for] = mine[OURS].slowdown / mine[best].slowdown
        rows.append(
            (
                mix.label,
                f"{best} {mine[best].slowdown:.2f}",
                f"{blind[mix.name]} {mine[blind[mix.name]].slowdown:.2f}",
                f"{mine[OURS].slowdown:.2f}",
                f"{behind[mix.stands_for]:.2f}",
            )
        )
    means = {p: migrated.mean([each[p].slowdown for each in found.values()]) for p in POLICIES}
    left_out = migrated.mean([found[name][policy].slowdown for name, policy in blind.items()])
    oracle = migrated.mean([migrated.best_fixed(each) for each in found.values()])
    rows.append(
        (
            common.MEAN,
            f"{oracle:.2f}",
            f"{left_out:.2f}",
            f"{means[OURS]:.2f}",
            f"{means[OURS] / oracle:.2f}",
        )
    )
    table = Table(
        "adaptive beside fixed granularities (not in the thesis): time over all data near",
        ("workload", "best fixed", "best of all other programs", OURS, "over best fixed"),
        tuple(rows),
    )
    slow = {name: each for name, each in behind.items() if each > 1 + GOAL}
    single = min(FIXED, key=lambda policy: means[policy])
    claims = (
        Claim(
            "ours",
            "adaptive is within 3 % of the best fixed granularity for every program",
            "slower: "
            + (", ".join(f"{n} {100 * (r - 1):.0f} %" for n, r in slow.items()) or "none"),
            not slow,
        ),
        Claim(
            "ours",
            "adaptive is better than the best single fixed choice over all",
            f"adaptive {means[OURS]:.2f}, {single} {means[single]:.2f}, chosen by the other"
            f" programs {left_out:.2f} (geometric means)",
            means[OURS] < min(means[single], left_out),
        ),
    )
    data = {"means": means, "left_one_out": left_out, "behind": behind, "chosen": blind}
    return Result((table,), claims, migrated.notes(made), data)


ITEM = Item("granularity", "ours: adaptive beside fixed granularities", runs, result, None, 6)
