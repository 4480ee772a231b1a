"""The Python API beside the command line: traces, simulations, reports, the papers' items."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import thermocline as tc
from thermocline.cli import app
from thermocline.machine import calibration
from thermocline.reproduce.item import Claim, Result, Table
from thermocline.translation_counters import EVENTS, Measured, parse

from .conftest import profile_table, site
from .test_api import KNL, agree, cli, kinds
from .test_calibrate import calibrated
from .test_simulate import RANDOM, STREAM, plan, trace
from .test_traces import collected, references
from .test_translation_counters import SKYLAKE


@pytest.fixture(autouse=True)
def uncalibrated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever this host's calibration is."""
    monkeypatch.setenv(calibration.VARIABLE, str(tmp_path / "calibration.json"))
    monkeypatch.chdir(tmp_path)


def test_what_a_trace_says(tmp_path: Path) -> None:
    found = tc.load_trace(collected(tmp_path, references(2000), references(600)))
    shown = cli("trace", "info", "a.trace", "--count", "--json")
    assert found.references == shown["references"] == 2600
    agree(found.frame(), shown["threads"])
    agree(found.owners(), shown["owners"])
    assert kinds(found.owners())["loads"] == "int64"
    assert kinds(found.frame())["end_seconds"] == "float64"


def test_other_simulators_traces(tmp_path: Path) -> None:
    made = tc.load_trace(collected(tmp_path, references(2000)))
    form = "ramulator2-loadstore"
    done = CliRunner().invoke(
        app, ["trace", "export", "--format", form, "-o", "cli.txt", str(made.path)]
    )
    assert done.exit_code == 0
    assert tc.export_trace(made, "api.txt", form=form).read_text() == Path("cli.txt").read_text()
    assert tc.import_trace("api.txt", "again.trace", form=form).references == 2000
    with pytest.raises(tc.ThermoclineError, match="force"):
        tc.export_trace(made, "api.txt", form=form)


def timeless(answers: Any) -> Any:
    """Without the time that the simulator itself took."""
    for row in answers["rows"]:
        row["result"] = {**row["result"], "host_seconds": 0}
    return answers


def test_schemes_side_by_side() -> None:
    path = trace(Path("t"))
    plan(Path("p.plan"), RANDOM)
    schemes = ("first-touch", "membrain", "all-fast")
    words = ["simulate", path, "--machine", KNL, "--plan", "p.plan", "--capacity", "40%,60%"]
    shown = cli(*words, "--scheme", ",".join(schemes), "--json")
    ours = tc.simulate(path, machine=KNL, plan="p.plan", capacity=["40%", "60%"], schemes=schemes)
    assert timeless(ours.to_json()) == timeless(shown)
    frame = ours.frame()
    agree(frame, shown["rows"])
    assert frame["seconds"].tolist() == [row["result"]["seconds"] for row in shown["rows"]]
    assert frame["scheme"].tolist() == [*schemes, *schemes]
    assert frame["seconds_low"].isna().all()
    assert kinds(frame)["near_bytes"] == "Int64"
    assert kinds(frame)["joules"] == "float64"
    tiers = ours.tiers()
    agree(tiers, [tier for row in shown["rows"] for tier in row["result"]["tiers"]], ("tier", "-"))
    assert tiers["tier"].tolist() == [0, 1] * 6
    ours.save("ours.json")
    assert timeless(json.loads(Path("ours.json").read_text())) == timeless(shown)


def test_a_plan_in_memory_and_error_bars() -> None:
    calibration.store(calibrated(0.8, 1.0, 1.5, 0.9))
    path, made = trace(Path("t")), plan(Path("p.plan"), STREAM)
    ours = tc.simulate(
        str(path), machine=tc.machine(KNL), plan=tc.load_plan(made), schemes="first-touch,membrain"
    )
    frame = ours.frame()
    assert (frame["seconds_low"] < frame["seconds"]).all()
    assert (frame["seconds_high"] > frame["seconds"]).all()
    [(_, said)] = ours.advise()
    assert "thermocline run --plan PLAN" in said.setting or "nothing" in said.setting
    known = calibrated(1, 2, 3)
    programs = [each.model_dump() for each in known.programs]
    agree(known.frame(), programs, ("arguments", "-"))


def test_ways_to_translate() -> None:
    path = trace(Path("t"))
    ours = tc.simulate(
        path, machine=KNL, translation="native", tlb=["baseline", "pom"], capacity=1 << 30
    )
    assert ours.frame()["scheme"].tolist() == ["baseline", "pom"]
    assert not ours.advise()


def test_a_report_of_objects_and_files() -> None:
    rows = [site(RANDOM, 900 << 20, 10 << 20), site(STREAM, 50 << 20, 80 << 20)]
    Path("a.profile").write_text(json.dumps(profile_table(rows)))
    profile = tc.load_profile("a.profile")
    made = tc.plan(profile, machine=KNL, capacity="25%")
    answers = tc.simulate(
        trace(Path("t")), machine=KNL, plan=made, schemes=["first-touch", "membrain"]
    )
    written = tc.report(["a.profile", made, answers], "out.html")
    assert written == [Path("out.html")]
    page = Path("out.html").read_text()
    assert "Simulated schemes" in page and "thermos" in page
    with pytest.raises(tc.Misuse, match="--force"):
        tc.report([profile, made], "out.html")
    tc.report([profile, made], "out.html", force=True)


def test_a_reproduced_items_numbers() -> None:
    rows = (("stream", "1.50x", "12.5 %", "3.00 MiB"), ("is", "-", "7 %", "900 KiB"))
    table = Table("t", ("program", "faster", "share", "memory"), rows)
    claim = Claim("5.1", "is faster", "1.5 times", True)
    result = Result((table,), (claim,), (), {})
    frame = result.frame()
    assert kinds(frame) == {
        "program": "string", "faster [x]": "float64", "share [%]": "float64", "memory": "string",
    }  # fmt: skip
    assert frame["faster [x]"][0] == 1.5 and frame["faster [x]"].isna()[1]
    assert frame["share [%]"].tolist() == [12.5, 7]
    assert result.claims_frame()["holds"].tolist() == [True]


def test_samples_want_a_profile_that_knows_owners() -> None:
    Path("a.profile").write_text(json.dumps(profile_table([site(RANDOM, 64, 4096)])))
    Path("samples.txt").write_text("")
    with pytest.raises(tc.ThermoclineError, match="owners"):
        tc.import_samples("a.profile", "samples.txt", "b.profile")
    with pytest.raises(tc.Misuse, match="--force"):
        tc.import_samples("a.profile", "samples.txt", "a.profile")


def test_what_translation_cost() -> None:
    measured = Measured(EVENTS[0], False, parse(EVENTS[0], SKYLAKE), 0)
    frame = measured.frame(penalty=10)
    agree(frame, [measured.to_json(10)])
    assert frame["share_of_time"][0] == 0.02
    assert kinds(frame)["misses"] == "float64"


def test_measuring_this_host() -> None:
    found = tc.measure(what=["latency"], quick=True, goes=6, largest="64KiB", memory_nodes=[0])
    frame = found.curves()
    assert set(frame["what"]) == {"latency"}
    assert set(frame["at_unit"]) == {"bytes"} and set(frame["value_unit"]) == {"seconds"}
    assert (frame["value"] > 0).all() and (frame["value"] < 1e-3).all()
    found.save("measured.toml")
    shown: Any = cli("machine", "show", "./measured.toml", "--json")
    assert len(frame) == sum(len(curve["points"]) for curve in shown["measured"])
