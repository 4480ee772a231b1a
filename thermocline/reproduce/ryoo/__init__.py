"""Ryoo, Improving System Performance by Utilizing Heterogeneous Memories, UT Austin 2017.

Chapter 5: SILC-FM.  Our programs in several copies stand for the thesis' SPEC programs; each has
the behaviour, not the name.  Real programs from Debian's sources join them.  The last cache is
divided by one number; inputs are as large, and slices as long, as fetch each line of the footprint
about as often as the thesis' (Table 5.3).

Chapter 6: migration by granularity, one program at a time.

Chapter 7: POM-TLB, with the same programs and larger inputs.
"""

from thermocline.machine import store
from thermocline.reproduce.item import Paper
from thermocline.reproduce.ryoo import (
    cores,
    fig11,
    fig12,
    fig41,
    fig42,
    fig43,
    fig44,
    fig45,
    fig55,
    fig57,
    fig58,
    fig59,
    fig62,
    fig63,
    fig64,
    fig65,
    fig66,
    fig67,
    fig73,
    fig74,
    fig75,
    fig76,
    fig77,
    fig510,
    fig511,
    fourth,
    granularity,
    guided,
    migrated,
    programs,
    reclaim,
    sizes,
    table51,
    table52,
    table53,
    table54,
    table61,
    table62,
    table71,
    today,
    weighed,
    win_map,
)
from thermocline.reproduce.ryoo.left_out import LEFT_OUT
from thermocline.reproduce.ryoo.mixes import CONTEXT, MixSize, MixStudy

QUICK = MixSize(divisor=32, region=0)
FULL = MixSize(divisor=8, region=0, near_divisor=4, time_divisor=2, seconds=0.5)


def study(full: bool) -> MixStudy:
    """All chapters' programs."""
    size = FULL if full else QUICK
    machines = {
        5: store.find("ryoo-hbm-ddr3"),
        6: migrated.machine(size),
        7: store.find("ryoo-skylake"),
    }
    return MixStudy(machines, programs.mixes(full), size)


PAPER = Paper(
    "ryoo",
    "Ryoo 2017, heterogeneous memories",
    (
        *(fig11.ITEM, table51.ITEM, table52.ITEM, table53.ITEM, fig55.ITEM, fig57.ITEM),
        *(fig58.ITEM, fig59.ITEM, table54.ITEM, fig510.ITEM, fig511.ITEM),
        *(guided.ITEM, win_map.ITEM),
        *(table61.ITEM, table62.ITEM, fig41.ITEM, fig42.ITEM, fig43.ITEM, fig62.ITEM),
        *(fig63.ITEM, fig64.ITEM, fig65.ITEM, fig66.ITEM, fig67.ITEM, granularity.ITEM),
        reclaim.ITEM,
        *(fig12.ITEM, fig44.ITEM, fig45.ITEM, table71.ITEM, fig73.ITEM, fig74.ITEM),
        *(fig75.ITEM, fig76.ITEM, fig77.ITEM),
        *(sizes.ITEM, cores.ITEM, today.ITEM, weighed.ITEM, fourth.ITEM),
    ),
    (CONTEXT,),
    study,
    LEFT_OUT,
)
