"""Device files, and what a machine's tiers are for the simulator."""

import copy
import tomllib
from typing import Any

import pytest

from thermocline.errors import BadFile, Misuse
from thermocline.machine import devices, figures, memories, model, store
from thermocline.machine.devices import Dram, NvmDevice


def _table(name: str) -> dict[str, Any]:
    return tomllib.loads(devices.shipped()[name].read_text(encoding="utf-8"))


def _figures(part: object) -> list[tuple[str, figures.Figure]]:
    if isinstance(part, figures.Figure):
        return [("", part)]
    found = []
    for name in getattr(type(part), "model_fields", {}):
        found += [(f"{name}.{rest}", f) for rest, f in _figures(getattr(part, name))]
    return found


@pytest.mark.parametrize("name", sorted(devices.shipped()))
def test_every_number_says_where_it_comes_from(name: str) -> None:
    device = devices.find(name)
    assert device.name.lower() == name
    figures = _figures(device)
    assert len(figures) > 7
    for what, figure in figures:
        assert figure.source, f"{name} {what}: a number without a source"
        assert not (figure.input and figure.source.startswith(("assumed", "second-hand"))), what


@pytest.mark.parametrize(
    ("name", "channels", "gigabytes"),
    [
        ("DDR3-1600", 4, 51.2),
        ("DDR4-2400", 6, 115.2),
        ("DDR5-4800", 8, 307.2),
        ("HBM2", 8, 256),
        ("HBM2e", 8, 409.6),
        ("HBM2-Ryoo", 8, 204.8),
    ],
)
def test_peak_bandwidth_is_the_standards(name: str, channels: int, gigabytes: float) -> None:
    json = devices.resolve(name, channels)
    dram = json["dram"]
    burst_ps = dram["burst_cycles"] * dram["clock_ps"]
    peak = json["channels"] * dram["burst_bytes"] / burst_ps * 1000
    assert peak == pytest.approx(gigabytes, rel=0.002)  # clocks are whole picoseconds


def test_times_become_cycles_as_jedec_rounds() -> None:
    timing = devices.find_dram("DDR4-2400").timing_cycles()
    # 7.5 ns are 9.004 cycles of 0.833 ns and count as 9; 21 ns are 25.2, and take 26.
    assert (timing["wtr_l"], timing["faw"], timing["ras"], timing["rc"]) == (9, 26, 39, 56)
    assert devices.find_dram("DDR4-2400").unloaded_ps() == (17 + 17 + 4) * 833


def test_energy_follows_the_currents() -> None:
    energy = devices.find_dram("DDR4-2400").energies()
    assert energy["open_mw"] == pytest.approx(8 * 1.2 * 43)
    assert energy["read_pj"] == pytest.approx(8 * 1.2 * (135 - 43) * 4 * 0.833)
    # One activate and precharge every tRC draws IDD0 in all.
    ns = {name: cycles * 0.833 for name, cycles in {"ras": 39, "rc": 56}.items()}
    background = energy["open_mw"] * ns["ras"] + energy["closed_mw"] * (ns["rc"] - ns["ras"])
    assert energy["activate_pj"] + background == pytest.approx(8 * 1.2 * 48 * ns["rc"])
    # Also where IDD3N, with all banks open, is more than IDD0.
    ddr5 = devices.find_dram("DDR5-4800")
    energy, rc = ddr5.energies(), ddr5.timing_cycles()["rc"] * 0.417
    assert energy["activate_pj"] + energy["open_mw"] * rc == pytest.approx(4 * 1.1 * 122 * rc)


@pytest.mark.parametrize(
    ("path", "value", "complaint"),
    [
        (("format",), 2, "format"),
        (("kind",), "sram", "kind must be one of"),
        (("timing", "tcl"), 17, "tcl"),
        (("timing", "cl"), -1, "from 0 on"),
        (("timing", "cl"), 1.5, "whole number"),
        (("timing", "cl"), "17", "17"),
        (("timing", "cl"), True, "wrong kind"),
        (("timing", "cl"), 0, "cl is 0"),
        (("timing", "ras"), 3, "ras (3 cycles) is shorter than rcd (17)"),
        (("timing", "refi"), "400ns", "refi leaves no time"),
        (("timing", "source"), "", "no source"),
        (("structure", "burst_cycles"), 8, "ccd_s (4 cycles) is shorter than burst_cycles (8)"),
        (("structure", "row_bytes"), 3000, "power of two"),
        (("structure", "ranks"), 0, "power of two"),
        (("clock",), "833ps", "source"),
        (("clock",), {"value": "0ps", "source": "x"}, "clock"),
        (("currents",), None, "currents"),
    ],
)
def test_wrong_files_say_what_is_wrong(
    path: tuple[str, ...], value: object, complaint: str
) -> None:
    table = _table("ddr4-2400")
    devices.from_table(copy.deepcopy(table), "x.toml")
    place = table
    for part in path[:-1]:
        place = place[part]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    with pytest.raises(BadFile) as caught:
        devices.from_table(table, "x.toml")
    assert complaint in str(caught.value)
    assert str(caught.value).startswith("x.toml: ")
    assert "\n" not in str(caught.value)


def test_resolve_puts_parts_together() -> None:
    plain = devices.resolve("ddr4-2400", 6, ranks=2)
    assert (plain["channels"], plain["dram"]["ranks"], "link" in plain) == (6, 2, False)
    linked = devices.resolve("DDR5-4800", link="cxl-link", fidelity="screening")
    assert linked["link"]["request_bandwidth"] == 59_300_000_000
    assert linked["fidelity"] == "screening"
    optane = devices.resolve("Optane", 6)
    assert optane["nvm_base"] == 0
    assert optane["dram"] == plain["dram"] | {"ranks": 1}
    for wrong in ("DDR9", "CXL-link"):
        with pytest.raises(Misuse):
            devices.resolve(wrong)


def test_optanes_latency_is_what_was_measured() -> None:
    """The parts add up to Peng et al.'s latencies with the way that their DRAM's implies."""
    machine = store.find("optane-8260l")
    dram, optane = machine.tier
    assert dram.latency is not None and optane.latency is not None
    way = dram.latency.value * 1e12 - memories.unloaded_ps(machine, dram)
    assert memories.unloaded_ps(machine, optane) + way == pytest.approx(
        optane.latency.value * 1e12, rel=0.002
    )
    device = devices.find("optane")
    assert isinstance(device, NvmDevice)
    media = device.nvm.media_read.ps()
    assert optane.latency.value * 1e12 - media * 3 / 4 == pytest.approx(174e3, rel=0.002)


@pytest.mark.parametrize("name", sorted(store.shipped()))
def test_every_shipped_machine_can_be_simulated(name: str) -> None:
    machine = store.find(name)
    made = memories.memories(machine)
    assert sorted(n for memory in made for n in memory.tiers) == list(range(len(machine.tier)))
    for memory in made:
        assert memory.json["channels"] >= 1


def test_tiers_that_share_channels_are_one_memory() -> None:
    machine = store.find("optane-8260l")
    (memory,) = memories.memories(machine)
    assert memory.tiers == {0: 0, 1: machine.tier[0].capacity_bytes}
    assert memory.json["nvm_base"] == machine.tier[0].capacity_bytes
    assert memory.json["nvm"]["block_bytes"] == 256
    assert len(memories.memories(store.find("knl-7230"))) == 2


def _machine(first: object, second: object, share: bool) -> model.Machine:
    tiers = [
        {"name": f"t{i}", "kind": "DRAM", "capacity": "1GiB", "modelled": True}
        | ({} if device is None else {"device": device})
        for i, device in enumerate((first, second))
    ]
    if share:
        tiers[0]["shares_channel_with"] = ["t1"]
    table = {
        "format": 1,
        "name": "made",
        "cpu": {"model": "x", "sockets": 1, "cores": 1},
        "cache": [{"level": 1, "bytes": "32KiB", "ways": 8}],
        "tier": tiers,
    }
    return model.from_table(table, "made.toml")


_DDR4 = {"standard": "DDR4-2400", "channels": 2}


@pytest.mark.parametrize(
    ("first", "second", "share", "complaint"),
    [
        (_DDR4, None, False, "names no device"),
        (_DDR4, _DDR4, True, "one must be NVM"),
        (_DDR4, {"standard": "Optane", "channels": 1}, True, "different numbers"),
    ],
)
def test_machines_that_cannot_be_simulated_say_why(
    first: object, second: object, share: bool, complaint: str
) -> None:
    with pytest.raises(Misuse, match=complaint):
        memories.memories(_machine(first, second, share))


@pytest.mark.parametrize(
    ("device", "complaint"),
    [
        ({"standard": "DDR9", "channels": 2}, "no device 'DDR9'"),
        ({"standard": "DDR4-2400"}, "channels"),
        ({"standard": "DDR4-2400", "channels": 0}, "channels"),
        ({"standard": "DDR4-2400", "channels": 2, "link": "rope"}, "no device 'rope'"),
        ({"standard": "DDR4-2400", "channels": 2, "colour": "red"}, "colour"),
    ],
)
def test_a_machine_files_devices_are_checked(device: object, complaint: str) -> None:
    with pytest.raises(BadFile, match=complaint):
        _machine(device, device, False)


def test_dram_needs_exactly_one_account_of_energy() -> None:
    table = _table("ddr4-2400")
    table["energy"] = _table("hbm2")["energy"]
    with pytest.raises(BadFile, match="either"):
        devices.from_table(table, "x.toml")
    assert isinstance(devices.find("hbm2"), Dram)
