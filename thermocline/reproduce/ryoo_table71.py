"""Table 7.1 of Ryoo 2017: what translation cost programs on an Intel Skylake (i7-6700).

Published numbers, all of them inputs: what is computed from them is the bound of section 7.2.3's
model, o / (1 - o), and what a simulated penalty would give.
"""

from dataclasses import dataclass

SOURCE = "Ryoo 2017, Table 7.1"


@dataclass(frozen=True)
class Measured:
    """A program's row; overheads are shares of its time, penalties cycles for each L2 TLB miss."""

    native_overhead: float
    virtual_overhead: float
    native_penalty: float
    virtual_penalty: float
    large_share: float  # of its pages


def _row(
    native: float, virtual: float, cycles: float, virtual_cycles: float, large: float
) -> Measured:
    return Measured(native / 100, virtual / 100, cycles, virtual_cycles, large / 100)


PROGRAMS = {
    "astar": _row(13.89, 16.08, 98, 114, 41.7),
    "bwaves": _row(0.73, 7.70, 128, 151, 0.8),
    "canneal": _row(3.19, 6.34, 53, 61, 16.0),
    "ccomponent": _row(0.73, 7.40, 44, 1158, 50.0),
    "gcc": _row(0.30, 12.12, 46, 88, 29.0),
    "GemsFDTD": _row(10.58, 16.01, 129, 133, 71.0),
    "graph500": _row(1.03, 7.66, 79, 80, 7.0),
    "gups": _row(12.20, 17.20, 43, 70, 2.59),
    "lbm": _row(0.05, 12.02, 110, 290, 57.4),
    "libquantum": _row(0.02, 7.37, 70, 75, 32.9),
    "mcf": _row(10.32, 19.01, 66, 169, 60.7),
    "pagerank": _row(4.07, 6.96, 51, 61, 60.0),
    "soplex": _row(4.16, 17.07, 144, 145, 12.3),
    "streamcluster": _row(0.07, 2.11, 74, 76, 87.2),
    "zeusmp": _row(0.01, 10.22, 136, 137, 72.1),
}
