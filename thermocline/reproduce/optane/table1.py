"""Table 1: the platform.  All of it is input; what is simulated of it, and this host, beside."""

from collections.abc import Sequence
from typing import Any

from thermocline import units
from thermocline.machine.model import Machine
from thermocline.reproduce.item import Item, Result, Table
from thermocline.reproduce.optane import common, small
from thermocline.reproduce.optane.runs import OptaneRun
from thermocline.reproduce.study import Study


def runs(study: Study) -> Sequence[OptaneRun]:
    """None: it is read from the machine file."""
    return ()


def result(study: Study) -> Result:
    """The paper's rows."""
    from thermocline.machine import detect

    made = common.of(study)
    whole, part = made.whole_machine, made.machine
    host = detect.detect().machine
    cores = small.THREADS * common.SOCKETS
    near, far = whole.tier
    rows = (
        ("processor", "Xeon Platinum 8260L", whole.cpu.model, "", host.cpu.model),
        ("cores x sockets", "24 x 2", _cores(whole), f"{small.THREADS} x {common.SOCKETS}",
         _cores(host)),
        ("clock", "2.4 GHz (3.9 turbo)", _clock(whole), _clock(whole), _clock(host)),
        ("L1 data", "32 KB", _cache(whole, 0), _cache(part, 0), _cache(host, 0)),
        ("L2", "1 MB", _cache(whole, 1), "within L1", _cache(host, 1)),
        ("L3", "35.75 MB a socket", _cache(whole, -1), _cache(part, -1), _cache(host, -1)),
        ("DRAM", "12 x 16 GB, 168 left", _size(near.capacity.value),
         _size(part.tier[0].capacity.value), _size(host.tier[0].capacity.value)),
        ("Optane", "12 x 128 GB", _size(far.capacity.value), _size(part.tier[1].capacity.value),
         _size(host.tier[1].capacity.value) if len(host.tier) > 1 else "none"),
        ("channels", "2 x 3 a socket", f"{near.device.channels if near.device else 0}",
         f"{cores // small.THREADS}", "not known"),
        ("links", "10.4, 10.4, 9.6 GT/s", _link(whole), f"1/{made.factor:g} of it", "not known"),
    )  # fmt: skip
    table = Table(
        "Table 1: the platform (input), what is simulated of it, and this host",
        ("", "paper", whole.name, "simulated", "this host (detected)"),
        rows,
        left=5,
    )
    return Result((table,), (), common.notes(study), {"rows": rows})


def _cores(machine: Machine) -> str:
    return f"{machine.cpu.cores // machine.cpu.sockets} x {machine.cpu.sockets}"


def _clock(machine: Machine) -> str:
    figure = machine.cpu.frequency
    return f"{figure.value / 1e9:g} GHz" if figure else "not known"


def _cache(machine: Machine, level: int) -> str:
    if level >= len(machine.cache):
        return "none"
    return _size(machine.cache[level].bytes.value)


def _size(value: Any) -> str:
    return units.format_bytes(int(value))


def _link(machine: Machine) -> str:
    figure = machine.cpu.link_bandwidth
    return f"{figure.value / 1e9:.1f} GB/s" if figure else "not known"


ITEM = Item("table1", "the platform (input)", runs, result)
