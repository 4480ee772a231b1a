"""What Ryoo 2017 states in words and tables, with the section it stands in.

Figures of chapters 5 and 7 are drawings without numbers: nothing was read off them.  Where the text
contradicts itself both are here (SEMANTICS: Ryoo ch. 5).
"""

from dataclasses import dataclass

# --- Chapter 5. ---


@dataclass(frozen=True)
class Program:
    """Table 5.3: misses of the last cache per kilo-instruction and core; all copies' footprint."""

    group: str
    mpki: float
    footprint_gb: float


TABLE53 = {
    "bwaves": Program("low", 10.12, 6.82),
    "cactus": Program("low", 7.52, 2.31),
    "dealII": Program("low", 4.46, 0.69),
    "xalanc": Program("low", 5.98, 2.87),
    "gcc": Program("medium", 31.23, 1.34),
    "gems": Program("medium", 15.95, 10.59),
    "leslie": Program("medium", 11.28, 1.19),
    "omnet": Program("medium", 27.22, 2.06),
    "zeusmp": Program("medium", 11.41, 3.32),
    "lbm": Program("high", 53.29, 6.30),
    "lib": Program("high", 35.50, 0.50),
    "mcf": Program("high", 88.95, 18.46),
    "milc": Program("high", 34.13, 9.05),
    "soplex": Program("high", 43.32, 0.78),
}
GROUPS = ("low", "medium", "high")
LOW_BELOW, HIGH_ABOVE = 11, 32  # section 5.2.2
COPIES = (16, 8)  # cores: Table 5.2, and the text
# Section 5.2.3: swapping alone over no near memory, and what each feature adds, in points.
SWAP, LOCKING, ASSOCIATIVITY, BYPASS = 1.55, 0.11, 0.08, 0.08
BEST_ACCESS_RATE = 0.8  # section 5.1.5
# Section 5.2.3: share of the demanded bandwidth that near memory serves.
NEAR_SHARE = {"hma": 0.71, "pom": 0.58, "silc-fm": 0.76}
ACCURACY = {"low": 0.59, "medium": 0.69, "high": 0.64, "all": 0.64}  # Table 5.4
# Section 5.2.3: less energy-delay than the baseline, and than CAMEO.
LESS_ENERGY_DELAY, LESS_THAN_CAMEO = 0.66, 0.14
OVER_BEST_RIVAL = 0.36  # section 5.3
# Section 5.2.4, Figure 5.11: SILC-FM and the best rival, by near : far.
BY_CAPACITY = {"1/16": (1.83, 1.47), "1/4": (2.04, 1.67)}

# --- Chapter 7. ---

# Sections 7.2.5 to 7.2.9: averages of 8 cores, 16 MB.
IMPROVEMENT = {"pom": 0.0957, "shared-l2": 0.0610, "tsb": 0.0427}
MOST_IMPROVED = 0.17
L2_HITS, POM_HITS = 0.897, 0.88
SIZE_ACCURACY, BYPASS_ACCURACY = 0.95, 0.458
ROW_HITS = 0.71
CACHING = 0.05
WALKS_GONE = 0.99

# --- Chapter 6. ---

# Table 6.2: resident memory, MB.
RESIDENT_MB = {
    "graph500": 761,
    "gups": 2048,
    "stream": 1106,
    "cg": 890,
    "ft": 1290,
    "is": 1055,
    "mg": 490,
    "ua": 483,
    "canneal": 939,
    "freqmine": 678,
    "lulesh": 696,
    "minife": 642,
    "xsbench": 5683,
}
# Section 6.3.4, of Figure 6.2: the best fixed granularity.
PREFERS = {
    **dict.fromkeys(("gups", "cg", "ft", "is", "xsbench"), "4K"),
    **dict.fromkeys(("graph500", "mg", "minife"), "64K"),
    **dict.fromkeys(("stream", "lulesh", "freqmine"), "2M"),
    **dict.fromkeys(("ua", "canneal"), "none"),
}
# The same: where a dynamic scheme beats the best fixed one, and where neither reaches it.
DYNAMIC_WINS = {"history": ("stream", "is", "cg"), "sampling": ("cg", "is", "ft")}
DYNAMIC_LOSES = ("lulesh", "graph500")
MOST_GAIN, MEAN_GAIN = 0.74, 0.66  # over the baseline, chapter 6 and section 6.4
