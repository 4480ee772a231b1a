"""Energy counters, on a powercap tree that is made here: this host may have none."""

import itertools
from pathlib import Path

import pytest

from thermocline.machine import curves, measured, measurement, model, power_measurement, powercap
from thermocline.machine import processors as host
from thermocline.machine.measurement import Found
from thermocline.machine.measurement_plan import Run, Wanted, plan

from .test_machines import SMALL

GIB = 2**30
WRAP = 1000_000_000


def domain(root: Path, name: str, label: str, energy: int) -> Path:
    folder = root / name
    folder.mkdir()
    (folder / "name").write_text(label + "\n")
    (folder / "energy_uj").write_text(f"{energy}\n")
    (folder / "max_energy_range_uj").write_text(f"{WRAP}\n")
    return folder


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tree = tmp_path / "powercap"
    tree.mkdir()
    monkeypatch.setattr(powercap, "ROOT", tree)
    return tree


@pytest.fixture
def two_sockets(root: Path) -> Path:
    for package in (0, 1):
        domain(root, f"intel-rapl:{package}", f"package-{package}", 5000)
        domain(root, f"intel-rapl:{package}:0", "core", 3000)
        domain(root, f"intel-rapl:{package}:1", "dram", 1000 * package)
    return root


def test_packages_and_their_memory_are_found(two_sockets: Path) -> None:
    found = {(each.package, each.memory) for each in powercap.domains()}
    assert found == {(0, False), (0, True), (1, False), (1, True)}
    assert powercap.lacks() == ""


def test_what_is_lacking_is_said(root: Path) -> None:
    assert "no RAPL" in powercap.lacks()
    package = domain(root, "intel-rapl:0", "package-0", 1)
    assert "no memory domain" in powercap.lacks()
    (package / "energy_uj").unlink()
    assert "root" in powercap.lacks()


def test_counters_wrap_around(two_sockets: Path) -> None:
    domains = powercap.domains()
    (two_sockets / "intel-rapl:0:1" / "energy_uj").write_text(f"{WRAP - 1_000_000}")
    before = powercap.read(domains)
    (two_sockets / "intel-rapl:0:1" / "energy_uj").write_text("2000000")
    (two_sockets / "intel-rapl:1:1" / "energy_uj").write_text("7001000")
    after = powercap.Reading(before.seconds + 2, powercap.read(domains).microjoules)
    assert powercap.watts(before, after, memory=True) == pytest.approx({0: 1.5, 1: 3.5})
    assert powercap.watts(before, after, memory=False) == pytest.approx({0: 0, 1: 0})


def test_dynamic_is_busy_less_idle_socket(
    two_sockets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A busy socket of 98 W beside an idle one of 38 W, at 100 GB/s: 75 pJ a bit."""
    monkeypatch.setattr(host, "by_node", lambda: {0: [0], 1: [1]})
    monkeypatch.setattr(host, "free_bytes", lambda: {0: 8 * GIB})
    monkeypatch.setattr(host, "nearest", lambda node, others: node)
    monkeypatch.setattr(powercap, "package_of", lambda cpu: cpu)
    program = tmp_path / "measure"
    program.write_text(
        "#!/bin/sh\nsleep 1.5\n"
        'echo \'{"kind":"bandwidth","isa":"x","huge_share":1,"dax":false,"values":[1e11]}\'\n'
    )
    program.chmod(0o755)
    monkeypatch.setattr(measurement, "program", lambda: program)
    monkeypatch.setattr(power_measurement, "IDLE_SECONDS", 0.1)
    clock = itertools.count()

    def reading(of: list[powercap.Domain]) -> powercap.Reading:
        now = next(clock)
        drawn = {0: 98_000_000, 1: 38_000_000}
        return powercap.Reading(float(now), {each: now * drawn[each.package] for each in of})

    monkeypatch.setattr(powercap, "read", reading)
    machine = model.from_table(SMALL, "small")
    runs = plan(Wanted(what=("power",), cpu_nodes=(0,)), machine)
    done: list[Run] = []
    found = power_measurement.measure(runs, done.append)
    assert len(done) == sum(run.points for run in runs) == 6
    assert [curve.pattern for curve in found] == [*curves.PATTERNS, "static"]
    assert found[0].at == [1e11]
    assert found[0].values == [98.0] and found[-1].values == [38.0]

    tier = measured.apply(machine, Found(found)).tier[1]
    assert tier.nodes == [0]
    assert tier.read_energy and tier.read_energy.value == pytest.approx(75e-12)
    assert tier.static_watts and tier.static_watts.value == pytest.approx(38)
    assert "RAPL" in tier.read_energy.source


def test_two_tiers_of_a_socket_share_its_static_power() -> None:
    def power(pattern: str, node: int, rate: float, watts: float) -> curves.Curve:
        return curves.Curve(
            what="power", pattern=pattern, cpu_node=0, memory_node=node, pages="huge",
            points=[curves.point("power", rate, (watts, watts, watts), 9, 9)],
        )  # fmt: skip

    made = measured.apply(
        model.from_table(SMALL, "small"),
        Found(
            [power("read", n, 1e11, 60) for n in (0, 1)]
            + [power("static", n, 0, 20) for n in (0, 1)]
        ),
    )
    first, second = (tier.static_watts for tier in made.tier)
    assert first and second
    assert (first.value, second.value) == (20, 0)
    assert "counted as hbm's" in second.source
    assert made.tier[0].write_energy is None
