"""What Olson et al. 2018 state in words and tables, with the section it stands in.

Figures 2, 4 and 8 are drawings without numbers: nothing was read off them.
"""

from dataclasses import dataclass

GIB = 2**30


@dataclass(frozen=True)
class Row:
    """Table I (section V.B), one workload: memory in GB, executables in MB."""

    name: str
    metric: str
    ddr: float  # performance by the metric
    mcdram: float
    metric_is_time: bool
    resident_gb: float
    executable_mb: float
    executable_context_mb: float
    static_sites: int
    reached_sites: int
    static_sites_context: int
    reached_sites_context: int

    @property
    def mcdram_time(self) -> float:
        """Execution time with all in MCDRAM relative to all in DDR4."""
        return self.mcdram / self.ddr if self.metric_is_time else self.ddr / self.mcdram


TABLE1 = {
    row.name: row
    for row in (
        Row("imagick", "s", 609.2, 531.0, True, 11.3, 6.6, 21, 6, 4, 7491, 168),
        Row("fotonik3d", "s", 430.9, 332.6, True, 9.6, 1.4, 1.5, 279, 129, 355, 141),
        Row("roms", "s", 196.4, 110.6, True, 11, 3.2, 8.8, 640, 395, 15211, 439),
        Row("lulesh", "zones/s", 690.3, 1284.5, False, 10.5, 0.4, 0.4, 17, 16, 48, 47),
        Row("amg", "nnz(iters+steps)/s", 1.2e7, 2.5e7, False, 11.5, 3.1, 15, 29, 2, 11969, 290),
        Row("qmcpack", "blocks steps Nw/s", 8.9, 17.2, False, 13.7, 48, 55, 3170, 216, 13833, 776),
    )
}

# Section V.B: only programs that gain more than this from all-MCDRAM were taken.
LEAST_GAIN = 0.10
# Section III: of qmcpack's capacity without context, and the bandwidth that this has at least.
QMCPACK_CAPACITY, QMCPACK_BANDWIDTH = 0.23, 0.63
# Section VI.B: over first touch, on average, at a tier of this share of the peak resident set.
GAIN_AT_EIGHTH, GAIN_AT_HALF = 0.20, 0.10
# Section VI.D, against cache mode, by isolation; and the cache's size in KNL's hybrid mode.
SLOWER_THAN_CACHE, LESS_BANDWIDTH, AS_GOOD_AS_CACHE = 0.01, 0.28, 4
SAMPLED_SLOWER_THAN_CACHE = 0.16
CACHE_BETTER = ("roms", "amg")
CACHE_BYTES = 4 * GIB
CAPACITIES = ("12.5%", "25%", "50%")
CONTEXTS = (0, 4)
# Section VI.C: one sample in so many last-level misses; and the rate that did best.
SAMPLING_RATES = (128, 256, 512, 1024, 2048, 4096, 8192)
BEST_RATE = 512
# Section VI.C: what profiling costs in all, and what of it is the sampling alone; on average.
PROFILING_OVERHEAD = (0.22, 0.32)
SAMPLING_OVERHEAD = (0.016, 0.107)


@dataclass(frozen=True)
class ContextRow:
    """Table II (section VI.A), one workload: times relative to no context detection."""

    kallocs: float  # thousands of allocations a second
    backtrace: float
    static: float


TABLE2 = {
    "imagick": ContextRow(35.2, 2.92, 1.01),
    "fotonik3d": ContextRow(0.15, 0.99, 0.98),
    "roms": ContextRow(39.8, 4.80, 1.05),
    "lulesh": ContextRow(0.06, 1.00, 0.99),
    "amg": ContextRow(40.2, 1.17, 1.03),
    "qmcpack": ContextRow(34.1, 1.05, 1.00),
}
TABLE2_MEAN = ContextRow(24.9, 1.61, 1.01)
