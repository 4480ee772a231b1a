"""Six patterns of reads and writes on one socket: what Figures 4, 6, 7 and 8 show."""

from thermocline.reproduce.optane import common, small
from thermocline.reproduce.optane.patterns import Pattern
from thermocline.reproduce.optane.runs import OptaneRun, of_kernel
from thermocline.reproduce.study import Study

PATTERNS = {
    "read": "read",
    "nt-write": "non-temporal write",
    "nt-copy": "1 read : 1 non-temporal write",
    "1r1w": "1 read : 1 write",
    "2r1w": "2 reads : 1 write",
    "3r1w": "3 reads : 1 write",
}
NON_TEMPORAL = ("nt-write", "nt-copy")
OTHERS = tuple(name for name in PATTERNS if name not in NON_TEMPORAL)
MIXED = ("1r1w", "2r1w", "3r1w")
ALL_THREADS = small.THREADS
DRAM, PMM, CACHED = "DRAM-local", "PMM-numa-local", "MemoryMode-local"
ORDERED = f"{CACHED}, in order"
LOCAL = (DRAM, PMM, CACHED, ORDERED)
REMOTE = ("DRAM-remote", "PMM-numa-remote", "MemoryMode-remote")
COLOURS = {
    DRAM: "#0072b2",
    PMM: "#d55e00",
    CACHED: "#009e73",
    ORDERED: "#66c2a5",
    "DRAM-remote": "#56b4e9",
    "PMM-numa-remote": "#e69f00",
    "MemoryMode-remote": "#999999",
}
_PAGES = 64  # of each array and thread: 48 GiB with all threads and three arrays, half of a cache


def run(pattern: str, scheme: str, threads: int = ALL_THREADS) -> OptaneRun:
    """Twice over all arrays, after a pass that touches them."""
    in_order = scheme == ORDERED
    return of_kernel(
        Pattern(pattern, threads, 1, _PAGES, 3),
        CACHED if in_order else scheme,
        non_temporal=pattern in NON_TEMPORAL,
        contiguous=common.IN_ORDER if in_order else 0,
    )


def of(study: Study, pattern: str, scheme: str, threads: int = ALL_THREADS) -> common.Measured:
    """Of the whole socket."""
    return common.measured(study, run(pattern, scheme, threads))


def watts(study: Study, pattern: str, scheme: str) -> common.Watts:
    """Of the socket, all cores at work."""
    return common.watts(common.of(study).whole_machine, of(study, pattern, scheme), 1)
