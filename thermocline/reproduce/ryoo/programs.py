"""Our programs by chapter, and what each stands for; one table for all chapters."""

from thermocline.reproduce.ryoo.mixes import Mix

# Slices of the full run are so many times as long.  Chapter 5: four times the footprint, and each
# line fetched about twice as often, so that the whole of it takes hours.
LONGER = {5: 8, 6: 8, 7: 32}
# Chapter, program, the thesis' program that its behaviour is nearest to, arguments of the quick run
# and of the full one, and the slice in millions of references of a copy.
#
# Chapter 5: inputs are as large, and slices as long, as fetch each line about as often as Table 5.3
# says.  Chapter 6: touched memory is Table 6.2's divided by 16 (4), as near as inputs allow, and
# the slice is the run's last part (graph without PageRank: searches and their validation).
# Chapter 7: caches and TLBs are whole, so that the inputs are larger; the buffer in memory is
# divided by POM_DIVISOR (translated.py).
PROGRAMS = (
    (5, "hydro", "bwaves", "12 12", "19 24", 2.0),
    (5, "ocean", "zeusmp", "16 4", "32 8", 1.0),
    (5, "fdtd", "gems", "20 20", "32 40", 1.2),
    (5, "multigrid", "leslie", "16 2", "32 2", 1.0),
    (5, "filters", "gcc", "100 3", "200 6", 1.1),
    (5, "hashjoin", "omnet", "4000 3", "16000 16", 0.7),
    (5, "graph", "mcf", "13 3", "15 12", 0.4),
    (5, "stream", "lib", "40000 60", "160000 240", 0.45),
    (6, "graph", "graph500", "19 2 0", "21 2 0", 20.0),
    (6, "updates", "gups", "16000000 1500000", "64000000 6000000", 6.0),
    (6, "stream", "stream", "2900000 2 0", "11700000 2 0", 8.0),
    (6, "sparsecg", "cg", "18000 128 3", "36000 256 3", 12.0),
    (6, "fourier", "ft", "128 0", "256 0", 50.0),
    (6, "sortkeys", "is", "5600000 1", "22400000 1", 25.0),
    (6, "vcycle", "mg", "104 2", "168 2", 36.0),
    (6, "remesh", "ua", "8 10", "9 20", 16.0),
    (6, "anneal", "canneal", "300000 30000", "1200000 100000", 4.0),
    (6, "itemsets", "freqmine", "38000 80", "152000 80", 16.0),
    (6, "hydro", "lulesh", "44 4", "70 4", 14.0),
    (6, "elements", "minife", "44 6", "69 6", 16.0),
    (6, "lookups", "xsbench", "17300 40000 64", "69000 100000 64", 5.0),
    (7, "stream", "gups", "2500000 1", "16000000 1", 1.4),
    (7, "graph", "graph500", "17 2", "20 2", 2.0),
    (7, "hashjoin", "canneal", "100000 1", "1600000 1", 2.0),
    (7, "spline", "mcf", "16 3 24", "64 3 48", 2.0),
    (7, "fdtd", "GemsFDTD", "56 3", "112 3", 2.0),
    (7, "ocean", "zeusmp", "80 1", "160 1", 2.0),
    (7, "hydro", "lbm", "36 2", "71 2", 2.0),
)
# Not of any figure: four copies outgrow today's TLBs, which chapter 7's inputs do not.
EXTRA = ((7, "lookups", "gups", "5000 40000 64", "17300 160000 64", 2.0),)
# Real programs in chapter 5 by the size of their job (thermocline/measuring/real_programs.py).
REAL = (
    ("lua", "9 3000", "11 12000", 2.0),
    ("gawk", "8000", "32000", 1.5),
    ("mujs", "600 3", "2400 4", 2.0),
    ("ninja", "1000", "4000", 1.5),
)
# Measured for table5.3 and in no other item: misses of no group.
REAL_LEFT_OUT = (("sqlite", "4000", "16000", 2.0),)
_SUFFIX = {5: "", 6: "-moved", 7: "-large"}


def mixes(full: bool) -> list[Mix]:
    """All of them, at one size."""
    ours = [
        Mix(
            program,
            stands_for,
            tuple((large if full else small).split()),
            chapter=chapter,
            name=f"{program}{_SUFFIX[chapter]}",
            region=_references(millions, chapter, full),
            extra=extra,
        )
        for extra, all_of_them in ((False, PROGRAMS), (True, EXTRA))
        for chapter, program, stands_for, small, large, millions in all_of_them
    ]
    real = [
        Mix(
            program,
            "",
            tuple((large if full else small).split()),
            chapter=5,
            name=program,
            region=_references(millions, 5, full),
            extra=left_out,
            real=True,
        )
        for left_out, all_of_them in ((False, REAL), (True, REAL_LEFT_OUT))
        for program, small, large, millions in all_of_them
    ]
    return ours + real


def _references(millions: float, chapter: int, full: bool) -> int:
    return int(millions * 1e6 * (LONGER[chapter] if full else 1))
