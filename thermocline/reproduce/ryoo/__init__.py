"""Ryoo, Improving System Performance by Utilizing Heterogeneous Memories, UT Austin 2017.

Chapter 5: SILC-FM.  Our programs in several copies stand for the thesis' SPEC programs; each has
the behaviour, not the name.  The last cache is divided by one number; inputs are as large, and
slices as long, as fetch each line of the footprint about as often as the thesis' (Table 5.3).

Chapter 7: POM-TLB, with the same programs and larger inputs.
"""

from thermocline.machine import store
from thermocline.reproduce.item import Paper
from thermocline.reproduce.ryoo import (
    fig11,
    fig12,
    fig44,
    fig45,
    fig55,
    fig57,
    fig58,
    fig59,
    fig73,
    fig74,
    fig75,
    fig76,
    fig77,
    fig510,
    fig511,
    guided,
    table51,
    table52,
    table53,
    table54,
    table71,
    win_map,
)
from thermocline.reproduce.ryoo.left_out import LEFT_OUT
from thermocline.reproduce.ryoo.mixes import CONTEXT, Mix, MixSize, MixStudy

QUICK = MixSize(divisor=32, region=0)
FULL = MixSize(divisor=8, region=0)
_LONGER = 32  # slices of the full run

# Program, what it stands for, arguments of the quick run and of the full one, and the slice in
# millions of references of a copy.
_CHAPTER5 = (
    ("hydro", "bwaves", "12 12", "19 24", 2.0),
    ("ocean", "zeusmp", "16 4", "32 8", 1.0),
    ("fdtd", "gems", "20 20", "32 40", 1.2),
    ("multigrid", "leslie", "16 2", "32 2", 1.0),
    ("filters", "gcc", "100 3", "200 6", 1.1),
    ("hashjoin", "omnet", "4000 3", "16000 16", 0.7),
    ("graph", "mcf", "13 3", "15 12", 0.4),
    ("stream", "lib", "40000 60", "160000 240", 0.45),
)

# Chapter 7: caches and TLBs are whole, so that the inputs are larger.  The buffer in memory is
# divided by POM_DIVISOR (translated.py).
_CHAPTER7 = (
    ("stream", "gups", "2500000 1", "16000000 1", 1.4),
    ("graph", "graph500", "17 2", "20 2", 2.0),
    ("hashjoin", "canneal", "100000 1", "1600000 1", 2.0),
    ("spline", "mcf", "16 3 24", "64 3 48", 2.0),
    ("fdtd", "GemsFDTD", "56 3", "112 3", 2.0),
    ("ocean", "zeusmp", "80 1", "160 1", 2.0),
    ("hydro", "lbm", "36 2", "71 2", 2.0),
)


def study(full: bool) -> MixStudy:
    """All chapters' mixes."""
    mixes = [
        Mix(
            program,
            stands_for,
            tuple((large if full else small).split()),
            chapter=chapter,
            name=program if chapter == 5 else f"{program}-large",
            region=int(millions * 1e6 * (_LONGER if full else 1)),
        )
        for chapter, all_of_it in ((5, _CHAPTER5), (7, _CHAPTER7))
        for program, stands_for, small, large, millions in all_of_it
    ]
    machines = {5: store.find("ryoo-hbm-ddr3"), 7: store.find("ryoo-skylake")}
    return MixStudy(machines, mixes, FULL if full else QUICK)


PAPER = Paper(
    "ryoo",
    "Ryoo 2017, heterogeneous memories",
    (
        *(fig11.ITEM, table51.ITEM, table52.ITEM, table53.ITEM, fig55.ITEM, fig57.ITEM),
        *(fig58.ITEM, fig59.ITEM, table54.ITEM, fig510.ITEM, fig511.ITEM),
        *(guided.ITEM, win_map.ITEM),
        *(fig12.ITEM, fig44.ITEM, fig45.ITEM, table71.ITEM, fig73.ITEM, fig74.ITEM),
        *(fig75.ITEM, fig76.ITEM, fig77.ITEM),
    ),
    (CONTEXT,),
    study,
    LEFT_OUT,
)
