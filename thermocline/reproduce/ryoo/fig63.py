"""Figure 6.3: how much moved at which granularity under the dynamic schemes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.ryoo import migrated
from thermocline.reproduce.ryoo.migrated import DYNAMIC, FIXED, OURS
from thermocline.reproduce.ryoo.mixes import MixRun
from thermocline.reproduce.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = (*DYNAMIC, OURS)


def runs(study: Study) -> Sequence[MixRun]:
    """Dynamic schemes, and the fixed ones for the preference."""
    return migrated.runs(*migrated.chapter6(study))


def result(study: Study) -> Result:
    """Shares of the chunks that came near."""
    made, mixes = migrated.chapter6(study)
    found = migrated.slowdowns(made, mixes)
    shares: dict[str, dict[str, dict[str, float]]] = {}
    for mix in mixes:
        shares[mix.name] = {}
        for policy in SHOWN:
            chunks = found[mix.name][policy].chunks
            all_ = sum(each["in"] for each in chunks.values())
            shares[mix.name][policy] = {
                size: chunks[size]["in"] / all_ if all_ else 0.0 for size in FIXED
            }
    table = Table(
        "Figure 6.3: of the chunks that came near, the share of 4 KiB, 64 KiB and 2 MiB",
        ("workload", *SHOWN, "best fixed"),
        tuple(
            (
                mix.label,
                *(
                    " ".join(f"{100 * each:.0f}" for each in shares[mix.name][policy].values())
                    + " %"
                    for policy in SHOWN
                ),
                migrated.preference(found[mix.name]),
            )
            for mix in mixes
        ),
    )
    claims = []
    for policy in DYNAMIC:
        right = [
            mix.stands_for
            for mix in mixes
            if (wanted := migrated.preference(found[mix.name])) != "none"
            and max(FIXED, key=lambda size: shares[mix.name][policy][size]) == wanted
        ]
        those = [mix for mix in mixes if migrated.preference(found[mix.name]) != "none"]
        claims.append(
            Claim(
                "6.3.4",
                f"{policy} picks the granularity that is the best fixed one",
                f"in {len(right)} of {len(those)}: {', '.join(right) or 'none'} (by chunks; one of"
                " 2 MiB moves as much as 512 of 4 KiB)",
                len(right) == len(those),
            )
        )

    def draw(figure: "Figure") -> None:
        axes = figure.subplots(len(SHOWN), 1, sharex=True)
        places = range(len(mixes))
        for axis, policy in zip(axes, SHOWN, strict=True):
            below = [0.0] * len(mixes)
            for size in FIXED:
                values = [shares[mix.name][policy][size] for mix in mixes]
                axis.bar(places, values, bottom=below, label=size, color=migrated.COLOURS[size])
                below = [a + b for a, b in zip(below, values, strict=True)]
            axis.set_ylabel(policy)
        axes[0].legend(fontsize=8, ncols=3)
        axes[-1].set_xticks(places, [mix.stands_for for mix in mixes], rotation=40, ha="right")

    data = {"shares": shares}
    return Result((table,), tuple(claims), migrated.notes(made), data, draw, (10, 7))


ITEM = Item("fig6.3", "granularities that the dynamic schemes chose", runs, result, None, 6)
