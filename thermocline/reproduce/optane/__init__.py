"""Peng, Gokhale and Green, System Evaluation of the Intel Optane Byte-addressable NVM, MEMSYS 2019.

Kernels that the paper describes are written as traces (patterns.py); its graph programs are those
of workloads/, recorded (graphs.py).  All run on `optane-8260l` in the simulator, memory and data
divided by one number, which each item prints.
"""

from thermocline.machine import store
from thermocline.reproduce.item import Paper
from thermocline.reproduce.optane import (
    fig3,
    fig4,
    fig5,
    fig6_7_8,
    fig9,
    fig10_11,
    fig12,
    fig13,
    fig14_15,
    fig16,
    fig17,
    staged,
    table1,
    table2,
    weighted,
)
from thermocline.reproduce.optane.runs import OptaneStudy


def study(full: bool) -> OptaneStudy:
    """One size: ratios to DRAM's capacity are the paper's at any."""
    return OptaneStudy(store.find("optane-8260l"))


PAPER = Paper(
    "optane",
    "Peng, Gokhale and Green 2019, Optane DC",
    (
        *(table1.ITEM, table2.ITEM, fig3.ITEM, fig4.ITEM, fig5.ITEM, *fig6_7_8.ITEMS),
        *(fig9.ITEM, *fig10_11.ITEMS, fig12.ITEM, fig13.ITEM, *fig14_15.ITEMS),
        *(fig16.ITEM, fig17.ITEM, staged.ITEM, weighted.ITEM),
    ),
    (0,),
    study,
    (
        ("fig1", "One socket of the platform", "a drawing, no result; docs/memory-devices.md"),
        ("fig2", "App Direct and Memory mode", "a drawing, no result; docs/configurations.md"),
    ),
)
