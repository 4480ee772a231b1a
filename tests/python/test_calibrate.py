"""`thermocline machine calibrate`: its arithmetic, its file, and the error bars made of it."""

import json
import math
import os
import random
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import t as student

from thermocline import paths
from thermocline.errors import BadFile, ThermoclineError
from thermocline.machine import calibration, probe, store
from thermocline.machine.calibration import Calibration, Program
from thermocline.machine.model import Machine

from .test_cli import KNL, answer, call, fails, ok
from .test_simulate import RANDOM, plan, trace

KIB, MIB = 2**10, 2**20


def program(ratio: float, name: str = "p") -> Program:
    """A program whose clock shows `ratio` of the predicted time."""
    return Program(
        name=name,
        arguments=["1"],
        references=10,
        instructions=20,
        touched_bytes=4096,
        predicted_seconds=0.5,
        clock_seconds=0.5 * ratio,
        clock_spread=0.01,
    )


def calibrated(*ratios: float) -> Calibration:
    return Calibration(
        host="h", cpu="c", quick=False, machine="", assumed=[], programs=list(map(program, ratios))
    )


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "state" / "h.json"
    monkeypatch.setenv(calibration.VARIABLE, str(path))
    return path


def test_a_times_bar_holds_bias_and_spread() -> None:
    made = calibrated(0.8, 1.0, 1.5, 0.9)
    errors = [math.log(ratio) for ratio in (0.8, 1.0, 1.5, 0.9)]
    assert made.bias == pytest.approx((0.8 * 1.0 * 1.5 * 0.9) ** 0.25)
    root = math.sqrt(sum(e * e for e in errors) / 4)
    assert math.log(made.time_factor) == pytest.approx(student.ppf(0.95, 4) * root)
    spread = statistics.stdev(errors)
    assert math.log(made.ratio_factor) == pytest.approx(student.ppf(0.95, 3) * spread)


def test_what_programs_have_in_common_cancels_in_ratios_only() -> None:
    made = calibrated(0.5, 0.5, 0.5)
    assert made.ratio_factor == pytest.approx(1)
    # Half the time for every program: the bar reaches that far, and farther for there are few.
    assert made.time_factor > 2
    more = calibrated(*[0.5] * 30)
    assert 2 < more.time_factor < made.time_factor


def test_each_program_is_held_against_the_others() -> None:
    even = [math.log(ratio) for ratio in (0.9, 1.1, 0.95, 1.05, 1.02)]
    assert calibration.left_out(even) == [True] * 5
    # A program unlike all others widens the bar of those, and is not held by theirs.
    assert calibration.left_out([*even, math.log(5)]) == [True] * 5 + [False]
    assert calibrated(0.9, 1.1, 0.95, 1.05, 1.02, 5).held == 5


def test_ninety_percent_of_normal_errors_lie_within() -> None:
    """The formula itself, on programs of a known error: 6 make a bar, a seventh is compared."""
    draw = random.Random(5)
    inside = 0
    for _ in range(2000):
        errors = [draw.gauss(0, 0.3) for _ in range(7)]
        inside += abs(errors[6]) <= math.log(calibration.time_factor(errors[:6]))
    assert 0.88 < inside / 2000 < 0.92


def test_the_file_survives_and_replaces(place: Path) -> None:
    assert calibration.load() is None
    first, second = calibrated(1, 2, 3), calibrated(1, 1, 2)
    assert calibration.store(first) == place
    assert calibration.load() == first
    calibration.store(second)
    assert calibration.load() == second
    assert [path.name for path in place.parent.iterdir()] == [place.name]


def test_where_it_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(calibration.VARIABLE, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert calibration.place().parent == tmp_path / "thermocline"
    assert calibration.place().name.endswith(".calibration.json")


@pytest.mark.parametrize(
    "damage",
    [
        {"version": 2},
        {"format": "thermocline-profile"},
        {"programs": []},
        {"programs": [{"name": "x"}] * 3},
        {"unheard": 1},
    ],
)
def test_a_damaged_file_is_refused(place: Path, damage: dict[str, Any]) -> None:
    calibration.store(calibrated(1, 2, 3))
    place.write_text(json.dumps(json.loads(place.read_text()) | damage))
    with pytest.raises(BadFile, match="not a calibration"):
        calibration.load()


@pytest.mark.parametrize("number", ["0", "-1", "1e999", '"x"', "null"])
def test_impossible_times_are_refused(place: Path, number: str) -> None:
    calibration.store(calibrated(1, 2, 3))
    place.write_text(place.read_text().replace('"clock_seconds":0.5', f'"clock_seconds":{number}'))
    text = place.read_text().replace('"clock_seconds": 0.5', f'"clock_seconds": {number}')
    place.write_text(text)
    with pytest.raises(BadFile, match="not a calibration"):
        calibration.load()


def test_a_cut_off_file_is_one_line(place: Path, tmp_path: Path) -> None:
    calibration.store(calibrated(1, 2, 3))
    trace(tmp_path / "t", count=200)
    place.write_text(place.read_text()[:100])
    said = fails(tmp_path, 1, "simulate", "t", *KNL)
    assert str(place) in said
    assert "run thermocline machine calibrate" in said


def test_simulate_shows_the_bars(place: Path, tmp_path: Path) -> None:
    made = calibrated(0.8, 1.0, 1.5, 0.9)
    calibration.store(made)
    trace(tmp_path / "t")
    plan(tmp_path / "p.plan", RANDOM)
    command = (
        "simulate", "t", *KNL, "--plan", "p.plan", "--capacity", "40%",
        "--scheme", "first-touch,membrain,knl-cache,all-fast",
    )  # fmt: skip
    done = call(tmp_path, *command)
    assert done.returncode == 0, done.stderr
    bar = calibration.plus_minus(made.time_factor)
    assert done.stdout.count(bar) >= 4
    ratio_bar = calibration.plus_minus(made.ratio_factor)
    assert f"({ratio_bar}) over first-touch" in done.stdout
    assert "4 programs" in done.stderr
    assert "not calibrated" not in done.stderr
    found = answer(ok(tmp_path, *command, "--json"))
    assert found["calibration"]["time_factor"] == made.time_factor
    for row in found["rows"]:
        low, high = row["seconds_range"]
        assert low * high == pytest.approx(row["result"]["seconds"] ** 2)
        assert high / low == pytest.approx(made.time_factor**2)
        assert row["speedup_range"][1] / row["speedup"] == pytest.approx(made.ratio_factor)


def test_without_a_calibration_it_says_so(place: Path, tmp_path: Path) -> None:
    trace(tmp_path / "t", count=200)
    done = call(tmp_path, "simulate", "t", *KNL, "--scheme", "all-slow,all-fast")
    assert "not calibrated: run thermocline machine calibrate" in done.stderr
    assert "±" not in done.stdout
    assert "(not calibrated) over all-slow" in done.stdout
    found = answer(ok(tmp_path, "simulate", "t", *KNL, "--json"))
    assert found["calibration"] is None
    assert found["rows"][0]["seconds_range"] is None
    assert not place.exists()


# --- The probe, and the machine made of what it measured. ---


def measured(ladder: dict[int, float], **changed: Any) -> probe.Measured:
    numbers = {"cycle": 0.5e-9, "gather": 10e-9, "read_bandwidth": 10e9, "threads": 2}
    return probe.Measured(chase=sorted(ladder.items()), **(numbers | changed))


def detected(last: str = "64MiB") -> Machine:
    caches = [("32KiB", 8), ("1MiB", 16), (last, 16)]
    return Machine.model_validate(
        {
            "format": 1,
            "name": "h",
            "cpu": {"model": "x", "sockets": 1, "cores": 2},
            "cache": [
                {"level": i, "bytes": size, "ways": ways}
                for i, (size, ways) in enumerate(caches, 1)
            ],
            "tier": [
                {"name": "hbm", "kind": "HBM", "capacity": "1GiB", "nodes": [1]},
                {"name": "dram", "kind": "DRAM", "capacity": "4GiB", "nodes": [0]},
            ],
        }
    )


LADDER = {
    16 * KIB: 2e-9, 64 * KIB: 6e-9, 256 * KIB: 7e-9, 512 * KIB: 7e-9, 2 * MIB: 20e-9,
    8 * MIB: 25e-9, 16 * MIB: 60e-9, 32 * MIB: 95e-9, 256 * MIB: 100e-9,
}  # fmt: skip


def test_a_host_is_what_was_measured() -> None:
    found = detected()
    made = probe.machine(found, found.tier[1], measured(LADDER))
    # 16 MiB take 60 ns, more than halfway (53.5 ns) from 7 to 100: 8 MiB are ours, of 64.
    assert [int(cache.bytes.value) for cache in made.cache] == [32 * KIB, MIB, 8 * MIB]
    # At 2 GHz: 2, 6 and 20 ns.
    assert [cache.cycles.value for cache in made.cache if cache.cycles] == [4, 12, 40]
    assert made.cpu.frequency and made.cpu.frequency.value == pytest.approx(2e9)
    assert made.cpu.outstanding and made.cpu.outstanding.value == 10
    [tier] = made.tier
    assert tier.name == "dram"
    assert tier.latency and tier.latency.value == 100e-9
    # 10 GB/s are half of two channels' 19.2.
    assert tier.device and tier.device.channels == 2
    assert probe.was_measured(made)
    assert not probe.was_measured(store.find("knl-7230"))


def test_a_last_level_that_others_use_is_not_there() -> None:
    found = detected()
    crowded = {size: 100e-9 if size > MIB else took for size, took in LADDER.items()}
    made = probe.machine(found, found.tier[0], measured(crowded))
    assert [cache.level for cache in made.cache] == [1, 2]


@pytest.mark.parametrize("text", ["", "{}", '{"cycle": 0}', "nan"])
def test_a_probe_that_prints_nonsense_is_one_line(text: str) -> None:
    with pytest.raises(ThermoclineError, match="nonsense"):
        probe.parse(text)


def test_calibrating_here(place: Path, tmp_path: Path) -> None:
    """Compiles, measures, times, records and simulates for good; bounded to some ten seconds."""
    if not paths.wrapper().exists():
        pytest.skip("no compiler wrapper in this build")
    before = set(os.listdir(tmp_path))
    done = subprocess.run(
        [sys.executable, "-m", "thermocline", "machine", "calibrate", "--quick", "--json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    found = answer(done.stdout)
    made = calibration.load()
    assert made is not None and made.quick
    assert found["stored"] == str(place)
    assert found["summary"]["time_factor"] == made.time_factor >= 1
    for each in made.programs:
        # Predicted from the machine's measured figures alone: far off would be another unit.
        assert 1 / 20 < each.clock_seconds / each.predicted_seconds < 20, each
        assert each.references > 10**6
        assert each.touched_bytes > 4 * MIB
    assert set(os.listdir(tmp_path)) - before == {"state"}


# --- The sentence. ---


def advice(cwd: Path, *options: str) -> dict[str, str]:
    trace(cwd / "t")
    [said] = answer(ok(cwd, "simulate", "t", *KNL, "--json", *options))["advice"]
    assert isinstance(said, dict)
    return said


def test_more_memory_is_nothing_to_set(place: Path, tmp_path: Path) -> None:
    said = advice(tmp_path, "--scheme", "all-slow,all-fast")
    assert said["sentence"].startswith("all data in mcdram would give ")
    assert said["set"] == "nothing: all-slow is the best of these"


def test_the_best_that_the_machine_can_do_is_what_to_set(place: Path, tmp_path: Path) -> None:
    plan(tmp_path / "p.plan", RANDOM)
    said = advice(
        tmp_path, "--scheme", "all-slow,membrain,knl-cache,all-fast", "--plan", "p.plan",
        "--capacity", "40%", "--baseline", "all-slow",
    )  # fmt: skip
    parts = said["sentence"].split("; ")
    assert parts[0].startswith("mcdram for 40 % of the data, placed by thermos, would give ")
    assert parts[1].startswith("mcdram for 40 % of the data, managed by the hardware (knl-cache), ")
    assert parts[2].startswith("all data in mcdram ")
    ways = {"p.plan": "thermocline run --plan p.plan --", "cache": "memory mode cache"}
    gains = [
        float(part.split("x")[0].split()[-1]) for part in [parts[0].split(" (not")[0], parts[1]]
    ]
    assert max(gains) > 1
    assert said["set"].startswith(ways["p.plan" if gains[0] > gains[1] else "cache"])


def test_a_baseline_alone_has_no_sentence(place: Path, tmp_path: Path) -> None:
    trace(tmp_path / "t", count=200)
    assert answer(ok(tmp_path, "simulate", "t", *KNL, "--json"))["advice"] == []


def test_this_host_is_simulated_as_it_was_calibrated(tmp_path: Path, place: Path) -> None:
    trace(tmp_path / "t", count=500)
    said = fails(tmp_path, 2, "simulate", "t")
    assert "machine calibrate" in said and "machine list" in said
    knl = store.to_toml(store.find("knl-7230")).replace("knl-7230", "this-host")
    made = calibrated(0.9, 1.0, 1.1).model_copy(update={"machine": knl})
    calibration.store(made)
    done = call(tmp_path, "simulate", "t")
    assert done.returncode == 0, done.stderr
    assert "of this-host's 64 cores" in done.stderr
