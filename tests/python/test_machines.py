"""Machine files, and detection on recorded hosts."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thermocline.errors import BadFile, Misuse, ThermoclineError
from thermocline.machine import model, store, topology
from thermocline.machine.detect import detect

from .conftest import RECORDED

GIB = 2**30

SMALL: dict[str, Any] = {
    "format": 1,
    "name": "small",
    "cpu": {"model": "x", "sockets": 1, "cores": 2},
    "cache": [{"level": 1, "bytes": "32KiB", "ways": 8}],
    "tier": [
        {"name": "hbm", "kind": "HBM", "capacity": "1GiB", "nodes": [1]},
        {"name": "dram", "kind": "DRAM", "capacity": "4GiB", "nodes": [0]},
    ],
}


@pytest.mark.parametrize("name", sorted(store.shipped()))
def test_shipped_files_are_valid_and_survive_rewriting(name: str) -> None:
    machine = store.find(name)
    assert machine.name == name
    assert len(machine.tier) >= 2
    again = model.from_table(tomllib.loads(store.to_toml(machine)), name)
    assert again == machine


@pytest.mark.parametrize("name", sorted(store.shipped()))
def test_every_shipped_number_says_where_it_comes_from(name: str) -> None:
    machine = store.find(name)
    assert machine.cpu.source and machine.cpu.frequency
    figures = {"clock": machine.cpu.frequency}
    figures |= {f"L{cache.level}": cache.bytes for cache in machine.cache}
    for tier in machine.tier:
        for part in ("capacity", "read_bandwidth", "write_bandwidth", "latency"):
            if figure := getattr(tier, part):
                figures[f"{tier.name} {part}"] = figure
    for what, figure in figures.items():
        assert figure.source, f"{name} {what}: a number without a source"
        # Published and made up at once is no status.
        assert not (figure.input and figure.source.startswith(("assumed", "second-hand"))), what


def test_the_papers_numbers() -> None:
    knl = store.find("knl-7230")
    assert (knl.cpu.cores, knl.cpu.smt) == (64, 4)
    assert [tier.capacity_bytes for tier in knl.tier] == [16 * GIB, 192 * GIB]
    assert all(tier.capacity.input for tier in knl.tier)
    optane = store.find("optane-8260l")
    assert optane.share_channels(*optane.tier)
    assert not knl.share_channels(*knl.tier)
    ryoo = store.find("ryoo-hbm-ddr3")
    assert ryoo.tier[1].capacity_bytes == 4 * ryoo.tier[0].capacity_bytes
    for machine in (knl, optane, ryoo):
        for tier in machine.tier:
            assert tier.read_bandwidth and tier.latency


def _changed(path: tuple[Any, ...], value: object) -> dict[str, Any]:
    import copy

    table = copy.deepcopy(SMALL)
    place: Any = table
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    return table


@pytest.mark.parametrize(
    ("path", "value", "complaint"),
    [
        (("format",), 2, "format"),
        (("tier", 0, "capacity"), 16, "unit"),
        (("tier", 0, "capacity"), "16 quux", "16GiB"),
        (("tier", 0, "capacity"), "0GiB", "no capacity"),
        (("tier", 0, "nodes"), [0], "same node"),
        (("tier", 0, "nodes"), [], "nodes or modelled"),
        (("tier", 1, "name"), "hbm", "same name"),
        (("tier", 0, "shares_channel_with"), ["nvm"], "nvm"),
        (("tier", 0, "capcity"), "1GiB", "capcity"),
        (("cache", 0, "ways"), 7, "multiple"),
        (("cache", 0, "level"), 2, "levels"),
        (("name",), "../x", "name"),
    ],
)
def test_wrong_files_say_what_is_wrong(
    path: tuple[Any, ...], value: object, complaint: str
) -> None:
    model.from_table(SMALL, "small.toml")
    with pytest.raises(BadFile) as caught:
        model.from_table(_changed(path, value), "small.toml")
    assert complaint in str(caught.value)
    assert str(caught.value).startswith("small.toml: ")
    assert "\n" not in str(caught.value)


def test_unknown_machine_suggests() -> None:
    with pytest.raises(Misuse, match="knl-7230"):
        store.find("knl-7320")


@pytest.mark.parametrize(
    ("name", "tiers"),
    [
        ("knl-flat-snc4", [("MCDRAM", 16, [4, 5, 6, 7]), ("DRAM", 192, [0, 1, 2, 3])]),
        ("knl-hybrid-snc4", [("MCDRAM", 8, [4, 5, 6, 7]), ("DRAM", 192, [0, 1, 2, 3])]),
        ("xeon-max-flat-snc4", [("HBM", 64, [4, 5, 6, 7]), ("DRAM", 512, [0, 1, 2, 3])]),
        ("two-sockets-cxl", [("DRAM", 256, [0, 1]), ("unknown", 512, [2, 3])]),
        ("optane-kmem", [("DRAM", 192, [0, 1]), ("NVM", 1536, [2, 3])]),
        ("two-sockets", [("DRAM", 256, [0, 1])]),
    ],
)
def test_detect_made_hosts(name: str, tiers: list[tuple[str, int, list[int]]]) -> None:
    found = detect(RECORDED / name)
    assert [(t.kind, t.capacity_bytes // GIB, t.nodes) for t in found.machine.tier] == tiers
    again = model.from_table(tomllib.loads(store.to_toml(found.machine)), name)
    assert [t.nodes for t in again.tier] == [t.nodes for t in found.machine.tier]


@pytest.mark.parametrize(
    ("name", "nodes"),
    [("two-nodes", [[0], [1]]), ("three-nodes", [[0, 1], [2]]), ("hbm-nodes", [[1], [0]])],
)
def test_detect_recorded_hosts(name: str, nodes: list[list[int]]) -> None:
    recorded = RECORDED / "twonode" / f"{name}.xml"
    assert recorded.exists(), "record it with tests/twonode/record.py"
    found = detect(recorded)
    assert [tier.nodes for tier in found.machine.tier] == nodes


def test_detect_reads_hmat_from_sysfs() -> None:
    dram, cxl = detect(RECORDED / "two-sockets-cxl").machine.tier
    assert dram.read_bandwidth is not None and cxl.write_bandwidth is not None
    assert dram.read_bandwidth.value == 2 * 262144 * 2**20
    assert cxl.write_bandwidth.value == 2 * 30720 * 2**20
    assert dram.latency is not None and dram.latency.value == 100e-9
    assert "HMAT" in dram.latency.source


def test_detect_says_what_is_special() -> None:
    assert any("one kind of memory" in note for note in detect(RECORDED / "two-sockets").notes)
    assert any("cache" in note for note in detect(RECORDED / "knl-hybrid-snc4").notes)
    assert detect(RECORDED / "knl-flat-snc4").notes == []


def test_memory_without_cpus_or_figures_is_told(tmp_path: Path) -> None:
    source = RECORDED / "two-sockets-cxl"
    recorded = tmp_path / "dark"
    recorded.mkdir()
    (recorded / "topology.xml").write_text((source / "topology.xml").read_text())
    for node in range(4):
        directory = recorded / "sys/devices/system/node" / f"node{node}"
        directory.mkdir(parents=True)
        (directory / "cpulist").write_text("0-3\n" if node < 2 else "\n")
    found = detect(recorded)
    assert [tier.nodes for tier in found.machine.tier] == [[0, 1], [2, 3]]
    assert any("nothing tells its speed" in note for note in found.notes)


def test_this_host_can_be_detected() -> None:
    machine = detect().machine
    assert machine.tier[0].capacity_bytes > 0
    assert not machine.tier[0].modelled


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "<topology/>",
        "<x/>",
        '<!DOCTYPE t [<!ENTITY a "b">]><topology>&a;</topology>',
        '<topology><object type="Machine"><object type="NUMANode" local_memory="5"/></object>'
        "</topology>",
        '<topology><object type="Machine"><object type="NUMANode" os_index="x" gp_index="1" '
        'local_memory="5"/></object></topology>',
    ],
)
def test_wrong_topologies_are_one_line(text: str, tmp_path: Path) -> None:
    path = tmp_path / "t.xml"
    path.write_text(text)
    with pytest.raises(ThermoclineError) as caught:
        topology.read(path)
    assert "\n" not in str(caught.value)


@given(st.sets(st.integers(0, 200)))
def test_kernel_lists(numbers: set[int]) -> None:
    text = ",".join(f"{n}-{n}" if n % 2 else str(n) for n in sorted(numbers)) + "\n"
    assert topology.parse_list(text) == numbers


def test_hwlocs_own_variable_is_obeyed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HWLOC_XMLFILE", str(RECORDED / "twonode" / "hbm-nodes.xml"))
    machine = detect().machine
    assert machine.name == "hbm-nodes"
    assert [tier.nodes for tier in machine.tier] == [[1], [0]]
