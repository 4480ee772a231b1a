"""Table 5.2: the simulated machine.  All of it is input; what was simulated of it stands beside."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from thermocline import units
from thermocline.reproduce.item import Item, Result, Table
from thermocline.reproduce.ryoo.mixes import MixRun, MixStudy
from thermocline.reproduce.study import Study
from thermocline.simulation import config
from thermocline.simulation import scheme as schemes


def runs(study: Study) -> Sequence[MixRun]:
    """None: the table is read from the machine file."""
    return ()


def result(study: Study) -> Result:
    """The thesis' numbers, the machine file's, and the part that a mix runs on."""
    assert isinstance(study, MixStudy)
    machine, copies = study.whole_machine, study.size.copies
    setting = config.Setting(study.machine, copies, 2**30, prefetcher=False)
    part = config.configure(setting, Path("any.trace"), schemes.parse("all-slow"), None).json
    first, last = machine.cache[0], machine.cache[-1]
    near, far = (memory["dram"] for memory in part["memories"])

    def channels(number: int) -> tuple[str, str]:
        device = machine.tier[number].device
        assert device is not None
        return f"{device.channels}", f"{part['memories'][number]['channels']}"

    rows = (
        ("cores", "16 (the text: 8)", f"{machine.cpu.cores}", f"{part['cpu']['cores']}"),
        ("frequency", "3.2 GHz", _ghz(machine.cpu.frequency), "same"),
        ("width, reorder buffer", "4, 128", _whole(machine.cpu.width, machine.cpu.window),
         f"{part['cpu']['width']}, {part['cpu']['window']}"),
        ("first level, data", "16 KB, 4 way, 4 cycles", _cache(first), _size(part["caches"][0])),
        ("last level, shared", "8 MB, 16 way, 11 cycles", _cache(last), _size(part["caches"][-1])),
        ("HBM: channels", "8", *channels(0)),
        ("HBM: clock", "800 MHz", "as in the device's file", _mhz(near)),
        ("DDR3: channels", "4", *channels(1)),
        ("DDR3: clock", "800 MHz", "as in the device's file", _mhz(far)),
        ("DDR3: CAS-RCD-RP-RAS", "11-11-144 (garbled)", "11-11-11-28, of a DDR3-1600 part", "same"),
        ("near : far", "1 : 4", "1 : 4, of the mix's footprint", "same"),
    )  # fmt: skip
    table = Table(
        "Table 5.2: parameters (all of them input)",
        ("", "thesis", machine.name, f"simulated for {copies} copies"),
        rows,
        left=4,
    )
    notes = ("instruction fetch is not simulated, so that the first level for code is left out",)
    return Result((table,), (), notes, {"rows": rows})


def _ghz(frequency: Any) -> str:
    return f"{frequency.value / 1e9:g} GHz"


def _whole(*counts: Any) -> str:
    return ", ".join(f"{count.value:g}" for count in counts)


def _cache(cache: Any) -> str:
    size = units.format_bytes(int(cache.bytes.value))
    return f"{size}, {cache.ways} way, {cache.cycles.value:g} cycles"


def _size(cache: dict[str, Any]) -> str:
    return f"{units.format_bytes(cache['bytes'])}, {cache['latency_ps'] / 1000:.2f} ns"


def _mhz(dram: dict[str, Any]) -> str:
    return f"{1e6 / dram['clock_ps']:.0f} MHz"


ITEM = Item("table5.2", "the simulated machine (input)", runs, result, None, 5)
