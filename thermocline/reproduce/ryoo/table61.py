"""Table 6.1: the machine.  All of it is input; what was simulated of it stands beside."""

from collections.abc import Sequence

from thermocline import units
from thermocline.machine import store
from thermocline.reproduce.item import Item, Result, Table
from thermocline.reproduce.ryoo import migrated
from thermocline.reproduce.ryoo.mixes import MixRun
from thermocline.reproduce.study import Study


def runs(study: Study) -> Sequence[MixRun]:
    """None: the table is read from the machine file."""
    return ()


def result(study: Study) -> Result:
    """The thesis' numbers, the machine file's, and the simulated machine's."""
    made, _ = migrated.chapter6(study)
    whole, part = store.find("ryoo-migration"), made.machines[6]
    near = migrated.NEAR_MB * migrated.MB // made.size.near_divisor
    assert whole.cpu.frequency is not None

    def cache(number: int) -> tuple[str, str]:
        texts = [
            f"{units.format_bytes(int(each.cache[number].bytes.value))} of"
            f" {each.cache[number].shared_by} core(s), {each.cache[number].ways} way"
            for each in (whole, part)
        ]
        return texts[0], texts[1]

    rows = (
        ("cores", "4", f"{whole.cpu.cores}", "1 thread"),
        ("frequency", "3.8 GHz", f"{whole.cpu.frequency.value / 1e9:g} GHz", "same"),
        ("L1, instructions", "128 KB, 2 way", "not simulated", "not simulated"),
        ("L1, data", "64 KB, 4 way", *cache(0)),
        ("L2", "4 MB, 16 way", *cache(1)),
        ("near: type", "DDR3-1866", str(_standard(whole.tier[0].device)), "same"),
        (
            "near: capacity",
            "400 MB",
            units.format_bytes(whole.tier[0].capacity_bytes),
            units.format_bytes(near),
        ),
        ("far: type", "PCM (emulated)", f"{_standard(whole.tier[1].device)}, 3x latency", "same"),
        ("far: capacity", "8 GB", units.format_bytes(whole.tier[1].capacity_bytes), "same"),
    )
    table = Table(
        "Table 6.1: parameters (all of them input)",
        ("", "thesis", whole.name, "simulated"),
        rows,
        left=4,
    )
    notes = ("the thesis' caches are sums over the cores of an A10-7850K",)
    return Result((table,), (), notes, {"rows": rows})


def _standard(device: object) -> str:
    return getattr(device, "standard", "none")


ITEM = Item("table6.1", "the machine (input)", runs, result, None, 6)
