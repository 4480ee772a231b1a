"""`thermocline machine measure`: its plan, its statistics, the file it writes, and a real run."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thermocline import units
from thermocline.errors import Misuse, ThermoclineError
from thermocline.machine import curves, measured, measurement, measurement_plan, model, store
from thermocline.machine import processors as host
from thermocline.machine.curves import Curve
from thermocline.machine.measurement import Found
from thermocline.machine.measurement_plan import Run, Wanted

from .test_cli import answer, fails, ok
from .test_machines import SMALL

GIB = 2**30


def machine() -> model.Machine:
    return model.from_table(SMALL, "small")


@pytest.fixture
def two_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "by_node", lambda: {0: [0, 2, 4]})
    monkeypatch.setattr(host, "free_bytes", lambda: {0: 8 * GIB, 1: 2 * GIB})
    monkeypatch.setattr(host, "nearest", lambda node, others: 0)


def curve(what: curves.What, pattern: str, node: int, *points: tuple[float, float]) -> Curve:
    made = [curves.point(what, at, (v, 0.9 * v, 1.1 * v), 9, 9) for at, v in points]
    return Curve(
        what=what, pattern=pattern, cpu_node=0, memory_node=node, pages="huge", points=made
    )


def test_every_pair_of_nodes_is_measured(two_nodes: None) -> None:
    runs = measurement_plan.plan(Wanted(), machine())
    pairs = {(run.what, run.cpu_node, run.memory_node) for run in runs}
    kinds = ("latency", "bandwidth", "intensity", "loaded", "power")
    assert pairs == {(what, 0, node) for what in kinds for node in (0, 1)} | {
        ("intensity", 0, None)
    }
    turns = [run.nodes for run in runs if run.nodes]
    assert turns == [f"1:{10 - far},0:{far}" for far in (1, 3, 5, 7, 9)]  # hbm is node 1
    bandwidth = next(run for run in runs if run.what == "bandwidth")
    assert bandwidth.points == 6 * 3
    assert bandwidth.arguments[bandwidth.arguments.index("--cpus") + 1] == "0,2,4"
    for run in runs:  # never more than a part of what is free
        text = run.arguments[run.arguments.index("--bytes") + 1]
        assert max(map(int, text.split(","))) <= (8 if run.memory_node == 0 else 2) * GIB // 4


def test_nodes_that_are_not_there_are_misuse(two_nodes: None) -> None:
    with pytest.raises(Misuse, match="node 7 has no memory"):
        measurement_plan.plan(Wanted(memory_nodes=(7,)), machine())
    with pytest.raises(Misuse, match="node 1 has no processors"):
        measurement_plan.plan(Wanted(cpu_nodes=(1,)), machine())
    with pytest.raises(Misuse, match="give 6 or more"):
        measurement_plan.plan(Wanted(goes=5), machine())


def test_a_file_is_measured_once_a_node_of_processors(two_nodes: None) -> None:
    runs = measurement_plan.plan(Wanted(directory=Path("/d"), what=("latency",)), machine())
    assert [(run.cpu_node, run.memory_node) for run in runs] == [(0, None)]
    assert "--directory" in runs[0].arguments and "--nodes" not in runs[0].arguments


@given(st.integers(1, 300))
def test_threads_go_up_to_all(most: int) -> None:
    steps = measurement_plan.ladder(most)
    assert steps[0] == 1 and steps[-1] == most
    assert len(steps) < 40
    assert steps == sorted(set(steps))


def test_the_interval_is_of_order_statistics() -> None:
    # Of 15 values, the 4th and the 12th hold the median in 96.5 % of cases: the least over 95 %.
    values = [float(n) for n in range(1, 16)]
    assert measurement.interval(values) == (8.0, 4.0, 12.0)
    low, high = measurement.interval([3.0] * 6)[1:]
    assert (low, high) == (3.0, 3.0)


def test_curves_survive_the_file() -> None:
    made = machine().model_copy(
        update={
            "measured": [
                curve("latency", "random", 0, (16384, 1.25e-9), (GIB, 2.345678e-7)),
                curve("bandwidth", "nt-write", 0, (1, 5.5e9), (2, 1.234e10)),
                curve("intensity", "accumulate", 0, (0.125, 4e10), (32, 3e8)),
                curve("loaded", "random", 0, (1e9, 1e-7)),
            ]
        }
    )
    again = model.from_table(tomllib.loads(store.to_toml(made)), "again")
    assert again == made
    assert again.measured[0].at == [16384, GIB]
    assert again.measured[0].values == pytest.approx([1.25e-9, 2.346e-7])
    assert again.measured[2].values[1] == pytest.approx(3e8)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"points": []}, "points"),
        ({"what": "weight"}, "what"),
        ({"points": [{"at": 3, "value": "1ns", "low": "1ns", "high": "1ns"}]}, "goes"),
        (
            {
                "points": [
                    {"at": 3, "value": "1ns", "low": "1ns", "high": "1ns", "goes": 9, "quiet": 9}
                ]
            },
            "needs a unit",
        ),
    ],
)
def test_bad_curves_are_told(change: dict[str, Any], problem: str) -> None:
    good = curve("latency", "random", 0, (16384, 1e-9)).model_dump()
    with pytest.raises(ThermoclineError, match=problem):
        model.from_table({**SMALL, "measured": [{**good, **change}]}, "m")


def test_a_tiers_figures_are_the_measured_ones() -> None:
    found = Found(
        [
            curve("latency", "random", 1, (16384, 1e-9), (GIB, 9e-8)),
            curve("latency", "random", 0, (16384, 1e-9), (GIB, 2e-7)),
            curve("bandwidth", "read", 1, (1, 1e10), (2, 5e10), (3, 4e10)),
            curve("bandwidth", "nt-write", 1, (1, 2e10)),
        ]
    )
    made = measured.apply(machine(), found)
    hbm, dram = made.tier
    assert hbm.latency and hbm.latency.value == pytest.approx(9e-8)
    assert hbm.read_bandwidth and hbm.read_bandwidth.value == pytest.approx(5e10)
    assert hbm.write_bandwidth and hbm.write_bandwidth.value == pytest.approx(2e10)
    assert dram.latency and dram.latency.value == pytest.approx(2e-7)
    assert dram.read_bandwidth is None  # was not measured: nothing is made up
    assert "2 thread(s)" in hbm.read_bandwidth.source and "measured" in hbm.read_bandwidth.source


def test_what_another_socket_adds() -> None:
    def pair(cpu: int, memory: int, seconds: float) -> Curve:
        made = curve("latency", "random", memory, (GIB, seconds))
        return made.model_copy(update={"cpu_node": cpu})

    four = [pair(0, 0, 8e-8), pair(1, 1, 9e-8), pair(0, 1, 1.5e-7), pair(1, 0, 1.6e-7)]
    assert measured.remote_latency(four) == pytest.approx(7e-8)
    # A node without processors is other memory, not a remote one.
    assert measured.remote_latency([pair(0, 0, 8e-8), pair(0, 1, 3e-7)]) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"kind": "latency"}', '{"kind": 3}'])
def test_nonsense_is_one_line(text: str) -> None:
    with pytest.raises(ThermoclineError, match="measuring printed nonsense"):
        measurement.parse(text)


def test_a_program_that_fails_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "measure"
    program.write_text("#!/bin/sh\necho thermocline: no such luck >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr(measurement, "program", lambda: program)
    run = Run("latency", 0, 0, (), 1)
    with pytest.raises(ThermoclineError, match="measuring failed: no such luck"):
        measurement.measure([run], Wanted(), lambda _: None)


def test_this_host(tmp_path: Path) -> None:
    text = ok(
        tmp_path, "machine", "measure", "--what", "latency,intensity", "--largest", "256KiB",
        "--quick", "--goes", "6", "-o", "m.toml", "--json",
    )  # fmt: skip
    data = answer(text)
    assert data["isa"] in ("sse2", "avx2", "avx512")
    found = store.find(str(tmp_path / "m.toml"))
    assert {c.what for c in found.measured} == {"latency", "intensity"}
    chased = [c for c in found.measured if c.pattern == "random"]
    assert chased and chased[0].at == [16384, 65536, 262144]
    for each in found.measured:
        for point in each.points:
            assert point.goes == 6
            parse = units.parse_seconds if each.what == "latency" else units.parse_bandwidth
            assert parse(point.low) <= parse(point.value) <= parse(point.high)
    home = next(tier for tier in found.tier if chased[0].memory_node in tier.nodes)
    assert home.latency and "measured" in home.latency.source
    assert "--force" in fails(tmp_path, 2, "machine", "measure", "-o", "m.toml")


def test_a_mapped_file(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    data = answer(
        ok(
            tmp_path, "machine", "measure", "--what", "latency", "--largest", "64KiB", "--quick",
            "--goes", "6", "--directory", str(folder), "-o", "m.toml", "--json",
        )
    )  # fmt: skip
    found = store.find(str(tmp_path / "m.toml"))
    assert {each.pages for each in found.measured} <= {"file", "dax"}
    assert all(each.memory_node is None for each in found.measured)
    if found.measured[0].pages == "file":
        assert any("no DAX" in note for note in data["notes"])
    # A file's figures are no node's.
    assert not any(
        "measured" in (tier.latency.source if tier.latency else "") for tier in found.tier
    )
    assert not list(folder.iterdir())


def test_misuse_is_told_before_anything_is_measured(tmp_path: Path) -> None:
    assert "--what" in fails(tmp_path, 2, "machine", "measure", "--what", "weight")
    assert "--isa" in fails(tmp_path, 2, "machine", "measure", "--isa", "mmx")
    assert "--goes" in fails(tmp_path, 2, "machine", "measure", "--goes", "3")
    said = fails(tmp_path, 1, "machine", "measure", "--directory", "/nowhere/at/all")
    assert "/nowhere/at/all" in said
    assert not list(tmp_path.iterdir())
