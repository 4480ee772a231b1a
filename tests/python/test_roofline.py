"""Models of a machine file: split traffic, roofline, power; and what prints them."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thermocline.errors import Misuse
from thermocline.machine import curves, model, store
from thermocline.machine.figures import Figure
from thermocline.models import power, roofline, splits, traffic

from .conftest import MakeProfile, profile_table, site
from .test_cli import answer, fails, ok

OPTANE = store.find("optane-8260l")
KNL = store.find("knl-7230")


@given(st.floats(0, 1))
def test_shared_channels_follow_equation_1(near: float) -> None:
    ours = traffic.bandwidth(OPTANE, (near, 1 - near))
    assert ours == pytest.approx(1 / (near / 204e9 + (1 - near) / 78e9))


@given(st.floats(0, 1), st.floats(0, 1))
def test_no_split_is_faster_than_the_best(near: float, writes: float) -> None:
    for machine in (OPTANE, KNL):
        most = traffic.bandwidth(machine, traffic.best(machine, writes), writes)
        assert traffic.bandwidth(machine, (near, 1 - near), writes) <= most * (1 + 1e-9)


def test_bandwidths_of_own_channels_add() -> None:
    rates = [tier.read_bandwidth.value for tier in KNL.tier if tier.read_bandwidth]
    assert traffic.bandwidth(KNL, traffic.best(KNL)) == pytest.approx(sum(rates))
    # On shared channels, everything in DRAM is best.
    assert traffic.best(OPTANE) == (1, 0)


@pytest.mark.parametrize("text", ["50%", "50%,60%", "50,50", "x%,y%", "150%,-50%", ""])
def test_splits_that_are_none(text: str) -> None:
    with pytest.raises(Misuse, match=r"100 %|write it like|give a share"):
        traffic.parse(OPTANE, text)


def test_a_split_reads_back() -> None:
    assert traffic.parse(OPTANE, "90%, 10%") == (0.9, 0.1)
    assert traffic.name(OPTANE, (0.9, 0.1)) == "90 % dram + 10 % optane"


@given(st.sampled_from(roofline.INTENSITIES))
def test_the_roofline_bends_at_its_ridge(intensity: float) -> None:
    for shares in traffic.shown(OPTANE):
        ridge = roofline.ridge(OPTANE, shares)
        flops = roofline.attainable(OPTANE, shares, intensity)
        if intensity >= ridge:
            assert flops == roofline.roof(OPTANE).flops
        else:
            assert flops == pytest.approx(intensity * traffic.bandwidth(OPTANE, shares))


def test_a_measured_roof_counts_before_a_described_one() -> None:
    points = [
        curves.point("intensity", at, (rate, rate, rate), 9, 9) for at, rate in ((1, 2e9), (8, 1e9))
    ]
    curve = curves.Curve(
        what="intensity", pattern="accumulate", cpu_node=0, memory_node=0, pages="huge",
        threads=2, points=points,
    )  # fmt: skip
    made = OPTANE.model_copy(update={"measured": [curve]})
    assert roofline.roof(made).flops == pytest.approx(8e9)
    assert roofline.roof(made).source == "measured"
    assert roofline.measured(made)[0][1] == [(1, 2e9), (8, 8e9)]


def test_peng_et_al_fig_16() -> None:
    """Memory power of one socket at the lowest intensity; made from 60 W, 47 % and 38 W.

    The paper reads about 95 W with everything in DRAM and 54 W in Optane, which are no input.
    """
    for shares, watts in (((1.0, 0.0), 95), ((0.0, 1.0), 54)):
        drawn = power.draw(OPTANE, shares, 2.0**-3)
        assert drawn and drawn.memory_watts / 2 == pytest.approx(watts, rel=0.03)


def test_power_falls_where_cores_limit_and_efficiency_rises() -> None:
    low, high = (power.draw(OPTANE, (1.0, 0.0), at) for at in (1.0, 1000.0))
    assert low and high
    assert high.memory_watts < low.memory_watts
    assert high.memory_watts > high.static_watts
    assert high.flops_a_joule > low.flops_a_joule


def test_energy_of_devices_where_a_tier_gives_none() -> None:
    mcdram = power.of_tier(KNL.tier[0])
    assert mcdram
    # Some 4 pJ a bit: on the package, without termination.
    assert 5e-12 < mcdram.joules_a_byte < 60e-12 and mcdram.static_watts > 0
    told = KNL.tier[0].model_copy(
        update={"read_energy": Figure(value=1e-12), "static_watts": Figure(value=3)}
    )
    assert power.of_tier(told) == power.TierPower(8e-12, 3)
    unknown = told.model_copy(update={"device": None, "read_energy": None})
    assert power.of_tier(unknown) is None
    lacking = OPTANE.model_copy(update={"tier": [unknown, OPTANE.tier[1]]})
    assert power.draw(lacking, (1.0, 0.0), 1.0) is None
    assert power.missing(lacking) == [f"energy of {unknown.name}"]


def test_sites_on_the_roofline(make_profile: MakeProfile) -> None:
    dense = site("dense", 1000, 4096) | {"loads": 1_000_000}
    sparse = site("sparse", 64_000, 4096) | {"loads": 1000}
    idle = site("idle", 0, 4096) | {"loads": 5}
    found = roofline.sites(OPTANE, make_profile([dense, sparse, idle]).sites)
    assert [each.key for each in found] == ["sparse", "dense"]
    by_key = {each.key: each for each in found}
    assert by_key["dense"].bound == ("cores", "cores")
    assert by_key["sparse"].bound == ("memory", "memory")
    assert by_key["sparse"].rates[0] == pytest.approx(1000 / 64_000 * 204e9)
    peak = 48 * 2.4e9 * 4
    assert by_key["dense"].rates == (peak, peak)


def test_static_watts_survive_the_file() -> None:
    again = model.from_table(tomllib.loads(store.to_toml(OPTANE)), "again")
    assert again.tier[0].static_watts == OPTANE.tier[0].static_watts
    assert again.cpu.flops_per_cycle == OPTANE.cpu.flops_per_cycle


def test_the_command(tmp_path: Path) -> None:
    import json

    table: dict[str, Any] = profile_table([site("a!f", 6400, 4096) | {"loads": 100}])
    (tmp_path / "p.profile").write_text(json.dumps(table))
    text = ok(
        tmp_path, "machine", "show", "--roofline", "optane-8260l", "--profile", "p.profile",
        "--png", "r.png",
    )  # fmt: skip
    assert "90 % dram + 10 % optane" in text and "a!f" in text and "modelled" in text
    assert (tmp_path / "r.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.profile", "r.png"]
    data = answer(ok(tmp_path, "machine", "show", "--roofline", "knl-7230", "--json"))
    assert data["splits"][0]["shares"] == [1, 0] and data["roof"]["flops"] > 1e12
    said = fails(tmp_path, 2, "machine", "show", "--roofline", "ryoo-hbm-ddr3")
    assert "flops_per_cycle" in said
    assert "--roofline" in fails(tmp_path, 2, "machine", "show", "knl-7230", "--split", "50%,50%")
    assert "--force" in fails(
        tmp_path, 2, "machine", "show", "--roofline", "knl-7230", "--png", "r.png"
    )


@pytest.mark.parametrize(("rates", "note"), [((60e9, 40e9), ""), ((130e9, 90e9), "side by side")])
def test_measured_splits_tell_which_model_holds(rates: tuple[float, float], note: str) -> None:
    def curve(rate: float, node: int | None, nodes: str = "") -> curves.Curve:
        return curves.Curve(
            what="intensity", pattern="accumulate", cpu_node=0, memory_node=node, nodes=nodes,
            pages="huge", threads=2,
            points=[curves.point("intensity", 0.125, (rate, rate, rate), 9, 9)],
        )  # fmt: skip

    made = OPTANE.model_copy(
        update={
            "measured": [
                curve(100e9, 0),
                curve(30e9, 1),
                curve(rates[0], None, "0:7,1:3"),
                curve(rates[1], None, "0:5,1:5"),
            ]
        }
    )
    first, second = splits.measured(made)
    assert first.serial == pytest.approx(1 / (0.7 / 100e9 + 0.3 / 30e9))
    assert second.parallel == pytest.approx(60e9)
    said = splits.contradicts(made, [first, second])
    assert (note in said) if note else not said
    again = model.from_table(tomllib.loads(store.to_toml(made)), "again")
    assert again.measured == made.measured
