"""Figure 4.3: how many chunks move between near and far memory, by granularity."""

from collections.abc import Sequence

from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.ryoo import migrated
from thermocline.reproduce.ryoo.fig42 import runs as of_three
from thermocline.reproduce.ryoo.fig42 import three
from thermocline.reproduce.ryoo.migrated import FIXED
from thermocline.reproduce.ryoo.mixes import MixRun
from thermocline.reproduce.study import Study


def runs(study: Study) -> Sequence[MixRun]:
    """Those of Figure 4.2."""
    return of_three(study)


def result(study: Study) -> Result:
    """Relative to 4 KiB, for each reference, as runs are not equally long."""
    made, mixes = three(study)
    found = migrated.slowdowns(made, mixes, FIXED)
    moves = {mix.stands_for: {p: found[mix.name][p].moves for p in FIXED} for mix in mixes}
    relative = {
        name: {p: each[p] / each["4K"] if each["4K"] else 0.0 for p in FIXED}
        for name, each in moves.items()
    }
    table = Table(
        "Figure 4.3: chunks moved, in and out, relative to 4 KiB",
        ("workload", *FIXED, "4K: for each 1000 references"),
        tuple(
            (
                mix.label,
                *(f"{relative[mix.stands_for][p]:.4g}" for p in FIXED),
                f"{moves[mix.stands_for]['4K']:.3g}",
            )
            for mix in mixes
        ),
    )
    claims = (
        Claim(
            "4.2",
            "xsbench moves most often with the largest granularity",
            ", ".join(f"{p} {each:.3g}" for p, each in relative["xsbench"].items()),
            max(relative["xsbench"], key=lambda p: relative["xsbench"][p]) == "2M",
        ),
        Claim(
            "4.2",
            "lulesh moves less often with larger granularities",
            ", ".join(f"{p} {each:.3g}" for p, each in relative["lulesh"].items()),
            1 > relative["lulesh"]["64K"] > relative["lulesh"]["2M"],
        ),
        Claim(
            "4.2",
            "graph500 gains up to 64 KiB, and moves more often with 2 MiB",
            ", ".join(f"{p} {each:.3g}" for p, each in relative["graph500"].items()),
            relative["graph500"]["64K"] < min(1.0, relative["graph500"]["2M"]),
        ),
    )
    return Result((table,), claims, migrated.notes(made), {"moves": moves})


ITEM = Item("fig4.3", "how often chunks move, by granularity", runs, result, None, 6)
