"""The machine at the size that is simulated: memory and caches divided by one number.

The levels before the last are taken together, and are no less than a loop needs to have its streams
in.
"""

from thermocline.machine.figures import Figure
from thermocline.machine.model import Cache, Machine, Tier

DIVISOR = 16384  # of kernels, which nothing but the ratio to DRAM matters to
LINE = 64
GIB = 2**30
THREADS = 4  # of each socket, with one of its six channels: a sixth of the machine
# Without namespaces there is no metadata of pages, which takes 24 of the 192 GiB otherwise.
MEMORY_MODE_DRAM = 192 * GIB
FIRST_BYTES, FIRST_WAYS = 1024, 8
AHEAD_BYTES, AHEAD_WAYS = 8192, 16


def machine(whole: Machine, memory_mode: bool, ahead: bool, divisor: int) -> Machine:
    """`memory_mode`: all DRAM is the cache; `ahead`: a second level for the prefetcher."""
    near, far = whole.tier
    dram = MEMORY_MODE_DRAM if memory_mode else near.capacity_bytes
    tiers = [
        _with_capacity(near, dram // divisor),
        _with_capacity(far, far.capacity_bytes // divisor),
    ]
    first, second, last = whole.cache
    kept = [_of(first, _first_bytes(whole, divisor), FIRST_WAYS)]
    if ahead:
        kept.append(_of(second, AHEAD_BYTES, AHEAD_WAYS))
    shared = _of(last, int(last.bytes.value) // divisor, last.ways)
    # All of the socket's cache belongs to the cores that are simulated.
    kept.append(shared.model_copy(update={"shared_by": THREADS}))
    levels = [each.model_copy(update={"level": level}) for level, each in enumerate(kept, 1)]
    return whole.model_copy(update={"tier": tiers, "cache": levels})


def described(whole: Machine, divisor: int) -> str:
    """For a note below each table."""
    last = whole.cache[-1].bytes.value / 2**20
    made = machine(whole, False, False, divisor)
    return (
        f"memory, data and caches are divided by {divisor}, the sizes printed are times that:"
        f" {last:g} MiB of last cache are {made.cache[-1].bytes.value / 1024:.1f} KiB; of the"
        f" levels before it each simulated core has {made.cache[0].bytes.value / 1024:.1f} KiB"
        f" ({AHEAD_BYTES >> 10} KiB more where prefetched lines need a place); latencies are whole"
    )


def scaled(gib: float) -> int:
    """Bytes in the simulator of so many of the paper's machine."""
    return int(gib * GIB) // DIVISOR


def count(figure: Figure | None) -> float:
    """A figure's value, 0 without one."""
    return 0.0 if figure is None else float(figure.value)


def _first_bytes(whole: Machine, divisor: int) -> int:
    first, second = (each.bytes.value for each in whole.cache[:2])
    each = (first + second) * whole.cpu.cores / (whole.cpu.sockets * THREADS) / divisor
    return max(FIRST_BYTES, int(each))


def _with_capacity(tier: Tier, size: int) -> Tier:
    capacity = tier.capacity.model_copy(update={"value": float(size)})
    return tier.model_copy(update={"capacity": capacity})


def _of(cache: Cache, size: int, ways: int) -> Cache:
    whole = max(1, size // (ways * LINE)) * ways * LINE
    figure = cache.bytes.model_copy(update={"value": float(whole)})
    return cache.model_copy(update={"bytes": figure, "ways": ways})
