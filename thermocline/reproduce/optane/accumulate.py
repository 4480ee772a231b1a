"""Both sockets read one array, larger and larger: what Figures 5 and 13 show."""

from thermocline.reproduce.optane import common, small
from thermocline.reproduce.optane.patterns import PAGE, Pattern
from thermocline.reproduce.optane.runs import GUIDED, OptaneRun, of_kernel

SIZES = (8, 16, 32, 64, 96, 128, 160, 192, 256, 384, 512, 768, 1024, 1280, 1540)  # GiB
MODES = {"bandwidth": "MemoryMode", "latency": "memory-mode-latency"}  # the firmware's options
THREADS = small.THREADS * common.SOCKETS
DRAM, PMM = "DRAM", "PMM"


def pattern(gib: float, gap: int = 1, kernel: str = "read") -> Pattern:
    """All of an array of this size, twice."""
    one = Pattern(kernel, THREADS, common.SOCKETS, 1, 2, gap)
    pages = round(small.scaled(gib) / (PAGE * THREADS * len(one.arrays)))
    return Pattern(kernel, THREADS, common.SOCKETS, max(1, pages), 2, gap)


def memory_mode(gib: float, option: str, in_order: bool) -> OptaneRun:
    """Behind DRAM as a cache."""
    contiguous = common.IN_ORDER if in_order else 0
    return of_kernel(pattern(gib), MODES[option], contiguous=contiguous)


def spilled(gib: float) -> OptaneRun:
    """Blocks round the sockets, in DRAM until that is full."""
    return of_kernel(pattern(gib), GUIDED, placed=(("a", (1.0, 0.0)),))


def alone(scheme: str) -> OptaneRun:
    """The peak of one memory: a size that it holds with room."""
    return of_kernel(pattern(64), scheme)
