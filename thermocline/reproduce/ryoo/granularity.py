"""Ours: `adaptive` beside the best fixed granularity of each program.

What is chosen for a program, a fixed granularity or adaptive's thresholds, is chosen by the others.
"""

from collections.abc import Mapping, Sequence
from math import log

from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.ryoo import common, migrated
from thermocline.reproduce.ryoo.migrated import FIXED, OURS, POLICIES, Measured
from thermocline.reproduce.ryoo.mixes import MixRun
from thermocline.reproduce.study import Study

GOAL = 0.03  # adaptive may be so much slower than the best fixed one
# Blocks that fault in a row, and that leave (migration/policies/adaptive.h); what ships is 4 and 4.
THRESHOLDS = tuple(
    OURS if (run, gone) == (4, 4) else f"{OURS}:run={run}:gone={gone}"
    for run in (3, 4, 6)
    for gone in (4, 8)
)
Found = Mapping[str, Mapping[str, Measured]]  # by program and policy


def runs(study: Study) -> Sequence[MixRun]:
    """Fixed granularities, and adaptive with all thresholds."""
    return migrated.runs(*migrated.chapter6(study), (*POLICIES, *THRESHOLDS))


def over_best(found: Mapping[str, Measured], policy: str) -> float:
    """A program's time over that of its best fixed granularity."""
    return found[policy].slowdown / migrated.best_fixed(found)


def fixed_by_others(found: Found, left_out: str) -> str:
    """The fixed granularity that is best in the geometric mean of all programs but one."""
    return min(
        FIXED,
        key=lambda policy: migrated.mean(
            [each[policy].slowdown for name, each in found.items() if name != left_out]
        ),
    )


def fitted(found: Found, left_out: str = "") -> str:
    """The thresholds that are least behind the best fixed granularities, of all programs but one.

    What is gained in one program does not pay for what is lost in another.
    """

    def behind(policy: str) -> float:
        return sum(
            max(0.0, log(over_best(each, policy)))
            for name, each in found.items()
            if name != left_out
        )

    return min(THRESHOLDS, key=behind)


def _short(policy: str) -> str:
    """Thresholds without the policy's name."""
    return policy.removeprefix(f"{OURS}:").replace(":", " ") if policy != OURS else "as shipped"


def result(study: Study) -> Result:
    """Each program, with what would have been chosen for it without knowing it."""
    made, mixes = migrated.chapter6(study)
    found = migrated.slowdowns(made, mixes, (*POLICIES, *THRESHOLDS))
    rows, behind = [], {}
    blind = {mix.name: fixed_by_others(found, mix.name) for mix in mixes}
    thresholds = {mix.name: fitted(found, mix.name) for mix in mixes}
    for mix in mixes:
        mine = found[mix.name]
        best = min(FIXED, key=lambda policy: mine[policy].slowdown)
        behind[mix.stands_for] = over_best(mine, thresholds[mix.name])
        rows.append(
            (
                mix.label,
                f"{best} {mine[best].slowdown:.2f}",
                f"{blind[mix.name]} {mine[blind[mix.name]].slowdown:.2f}",
                _short(thresholds[mix.name]),
                f"{mine[thresholds[mix.name]].slowdown:.2f}",
                f"{behind[mix.stands_for]:.3f}",
                f"{over_best(mine, OURS):.3f}",
            )
        )
    means = {p: migrated.mean([each[p].slowdown for each in found.values()]) for p in POLICIES}
    left_out = migrated.mean([found[name][policy].slowdown for name, policy in blind.items()])
    oracle = migrated.mean([migrated.best_fixed(each) for each in found.values()])
    ours = migrated.mean([found[name][policy].slowdown for name, policy in thresholds.items()])
    rows.append(
        (
            common.MEAN,
            f"{oracle:.2f}",
            f"{left_out:.2f}",
            "",
            f"{ours:.2f}",
            f"{ours / oracle:.3f}",
            f"{means[OURS] / oracle:.3f}",
        )
    )
    table = Table(
        "adaptive beside fixed granularities (not in the thesis): time over all data near",
        (
            *("workload", "best fixed", "best of all other programs"),
            *("thresholds of all others", OURS, "over best fixed", "as shipped"),
        ),
        tuple(rows),
    )
    settings = Table(
        "adaptive by its thresholds, over the best fixed granularity",
        ("thresholds", *(mix.stands_for for mix in mixes)),
        tuple(
            (_short(policy), *(f"{over_best(found[mix.name], policy):.3f}" for mix in mixes))
            for policy in THRESHOLDS
        ),
    )
    slow = {name: each for name, each in behind.items() if each > 1 + GOAL}
    single = min(FIXED, key=lambda policy: means[policy])
    claims = (
        Claim(
            "ours",
            "adaptive, with thresholds fitted to all other programs, is within 3 % of the best"
            " fixed granularity for every program",
            "slower: "
            + (", ".join(f"{n} {100 * (r - 1):.0f} %" for n, r in slow.items()) or "none"),
            not slow,
        ),
        Claim(
            "ours",
            "adaptive is better than the best single fixed choice over all",
            f"adaptive {ours:.2f}, {single} {means[single]:.2f}, chosen by the other"
            f" programs {left_out:.2f} (geometric means)",
            ours < min(means[single], left_out),
        ),
        Claim(
            "ours",
            "the thresholds that ship are those fitted to all programs",
            f"fitted: {_short(fitted(found))}",
            fitted(found) == OURS,
        ),
    )
    data = {
        "means": means,
        "left_one_out": left_out,
        "behind": behind,
        "chosen": blind,
        "thresholds": thresholds,
        "ours": ours,
    }
    return Result((table, settings), claims, migrated.notes(made), data)


ITEM = Item("granularity", "ours: adaptive beside fixed granularities", runs, result, None, 6)
