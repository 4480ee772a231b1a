"""Olson et al., MemBrain: Automated Application Guidance for Hybrid Memory Systems, NAS 2018.

Six programs of ours stand for the paper's six; each has the behaviour, not the name.  Inputs are
such that peak resident memory is the paper's (Table I), divided by one number; the same number
divides the last cache.
"""

from thermocline.machine import store
from thermocline.reproduce.item import Paper
from thermocline.reproduce.membrain import fig2, fig4, fig5, fig6, fig7, fig8, table1, table2
from thermocline.reproduce.membrain.paper import CONTEXTS
from thermocline.reproduce.study import Size, Study, Workload

QUICK = Size(divisor=512, region=32_000_000)
FULL = Size(divisor=64, region=400_000_000, rounds=15, counted=True)
# From Debian's sources, besides the six: of the paper's programs they have the allocation rates.
REAL_PROGRAMS = ("lua", "mujs")

# Program, what it stands for, arguments of the quick run, of the full one, of runs against the
# clock, and what divides the paper's peak memory in these.
_WORKLOADS = (
    ("filters", "imagick", "745", "2081", "2081", 64),
    ("fdtd", "fotonik3d", "48 12", "95 12", "95 12", 64),
    ("ocean", "roms", "56 4", "156 4", "128 4", 116),
    ("hydro", "lulesh", "36 4", "71 4", "71 4", 64),
    ("multigrid", "amg", "47", "93", "64", 196),
    ("spline", "qmcpack", "256 3 24", "256 3 136", "256 3 64", 147),
)


def study(full: bool) -> Study:
    """The six workloads on the paper's machine."""
    workloads = [
        Workload(
            program,
            stands_for,
            tuple((large if full else small).split()),
            tuple(timed.split()),
            divisor,
        )
        for program, stands_for, small, large, timed, divisor in _WORKLOADS
    ]
    return Study(store.find("knl-7230"), workloads, FULL if full else QUICK, REAL_PROGRAMS)


PAPER = Paper(
    "membrain",
    "Olson et al. 2018, MemBrain",
    (
        *(table1.ITEM, fig2.ITEM, table2.ITEM, fig4.ITEM),
        *(fig5.ITEM, fig6.ITEM, fig7.ITEM, fig8.ITEM),
    ),
    CONTEXTS,
    study,
    (
        ("fig1", "How guidance is made and applied", "a drawing of the method, no result"),
        ("fig3", "Function cloning, an example", "a drawing; tests/lit/context holds such cases"),
    ),
)
