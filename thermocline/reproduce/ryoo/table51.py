"""Table 5.1: what SILC-FM does with an access, and how often each of the six cases comes up."""

from collections.abc import Sequence

from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.ryoo import common
from thermocline.reproduce.ryoo.mixes import MixRun
from thermocline.reproduce.study import Study

# The simulator's name, the table's columns, and its action.
CASES = (
    ("match_near", "match, bit 1", "serve near"),
    ("match_far", "match, bit 0", "swap the subblock from far memory"),
    ("native_away", "mismatch, bit 1, near address", "swap the subblock from far memory"),
    ("native_home", "mismatch, bit 0, near address", "serve near"),
    ("other_held", "mismatch, bit 1, far address", "restore the block, then swap"),
    ("other_empty", "mismatch, bit 0, far address", "restore the block, then swap"),
)


def runs(study: Study) -> Sequence[MixRun]:
    """SILC-FM, of each mix."""
    _, mixes = common.chapter5(study)
    return [each for mix in mixes for each in (common.baseline(mix), common.run(mix, common.SILC))]


def result(study: Study) -> Result:
    """Shares of accesses."""
    made, mixes = common.chapter5(study)
    counts = {
        mix.name: made.answer(common.run(mix, common.SILC))["organisation"]["cases"]
        for mix in mixes
    }
    share = {
        name: {case: found[case] / sum(found.values()) for case, _, _ in CASES}
        for name, found in counts.items()
    }
    table = Table(
        "Table 5.1: the six cases, with the share of each mix's accesses (not in the thesis)",
        ("case", "action (thesis and here)", *(mix.name for mix in mixes)),
        tuple(
            (text, action, *(common.percent(share[mix.name][case]) for mix in mixes))
            for case, text, action in CASES
        ),
        left=2,
    )
    seen = [case for case, _, _ in CASES if any(each[case] for each in counts.values())]
    claim = Claim(
        "5.1.1",
        "six scenarios of operations",
        f"{len(seen)} of {len(CASES)} came up; lines are moved as the table says, which the"
        " simulator's tests check against an oracle of where each line is",
        len(seen) == len(CASES),
    )
    notes = (
        "accesses are reads and write-backs; of a far line that no way's entry names, the bit is"
        " that of any of the four ways; locked blocks and bypass move nothing in these cases",
        *common.notes(made, mixes),
    )
    return Result((table,), (claim,), notes, {"cases": counts})


ITEM = Item("table5.1", "SILC-FM's cases, and how often each comes up", runs, result, None, 5)
