"""Figure 1.2: the access time of larger TLBs in SRAM.  Not computed: it needs an SRAM model."""

from collections.abc import Sequence

from thermocline.reproduce.item import Item, Result, Table
from thermocline.reproduce.ryoo.mixes import MixRun
from thermocline.reproduce.study import Study


def runs(study: Study) -> Sequence[MixRun]:
    """None."""
    return ()


def result(study: Study) -> Result:
    """Says so."""
    table = Table(
        "Figure 1.2: L2 TLB latency by capacity",
        ("", "thesis", "ours"),
        (("access time / 16 KB of SRAM", "CACTI; no numbers printed", "not computed"),),
        left=3,
    )
    notes = ("no SRAM model is part of Thermocline; the figure's numbers come from one (CACTI)",)
    return Result((table,), (), notes, {})


ITEM = Item("fig1.2", "access time of larger TLBs in SRAM (not computed)", runs, result, None, 7)
