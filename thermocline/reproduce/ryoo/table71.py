"""Table 7.1: what translation costs: the thesis' measurements (input), and our simulations."""

from collections.abc import Sequence

from thermocline.reproduce import ryoo_table71
from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.ryoo import common, translated
from thermocline.reproduce.ryoo.fig45 import runs as both_modes
from thermocline.reproduce.ryoo.mixes import MixRun
from thermocline.reproduce.study import Study
from thermocline.simulation import additive


def runs(study: Study) -> Sequence[MixRun]:
    """The walker, both ways."""
    return both_modes(study)


def result(study: Study) -> Result:
    """Two tables: theirs with the bound that follows, and ours."""
    made, mixes = translated.chapter7(study)
    programs = ryoo_table71.PROGRAMS
    bounds = {name: additive.bound(row.virtual_overhead) for name, row in programs.items()}
    theirs = Table(
        "Table 7.1 (input: measured in the thesis), and the bound that follows from it (result)",
        ("program", "native", "virtual", "cycles native", "virtual", "large pages", "bound"),
        tuple(
            (
                name,
                common.percent(row.native_overhead),
                common.percent(row.virtual_overhead),
                f"{row.native_penalty:.0f}",
                f"{row.virtual_penalty:.0f}",
                common.percent(row.large_share),
                common.percent(bounds[name]),
            )
            for name, row in programs.items()
        ),
    )
    found = {
        mix.name: [
            translated.steady(made, translated.run(mix, translated.BASELINE, mode))
            for mode in ("native", "nested")
        ]
        for mix in mixes
    }
    ours = Table(
        "Table 7.1, simulated",
        ("workload", "native", "virtual", "cycles native", "virtual", "large pages", "footprint"),
        tuple(
            (
                mix.label,
                *(common.percent(each.overhead) for each in found[mix.name]),
                *(f"{each.average:.0f}" for each in found[mix.name]),
                common.percent(programs[mix.stands_for].large_share),
                f"{made.size.copies * made.mix(mix).survey['touched_bytes'] / 2**20:.0f} MiB",
            )
            for mix in mixes
        ),
    )
    mean = sum(bounds.values()) / len(bounds)
    claim = Claim(
        "7.2.5",
        "POM-TLB gains 9.57 % on average",
        f"were translation free, Table 7.1's programs would gain {common.percent(mean)} on average",
        mean > 0.0957,
    )
    data = {
        "bounds": bounds,
        "overhead": {name: [e.overhead for e in f] for name, f in found.items()},
    }
    return Result((theirs, ours), (claim,), translated.notes(made), data)


ITEM = Item("table7.1", "what translation costs, measured and simulated", runs, result, None, 7)
