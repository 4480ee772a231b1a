"""Samples that were taken outside: by the program itself, which knows the truth, and by perf."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from thermocline import paths

SOURCE = Path(__file__).with_name("sampled_outside.c")
LINE = 64


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("outside") / "outside"
    subprocess.run([paths.wrapper(), "-O2", "-g", SOURCE, "-o", built], check=True)
    return built


def called(folder: Path, *words: object) -> str:
    command = [str(word) for word in words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def profiled(*program: object) -> list[object]:
    front = [sys.executable, "-m", "thermocline", "profile", "--method", "owners"]
    return [*front, "--machine", "knl-7230", "-o", "run.profile", "--", *program]


def imported(folder: Path) -> dict[str, dict[str, int]]:
    called(folder, sys.executable, "-m", "thermocline", "import", "run.profile", "samples.txt")
    found = json.loads((folder / "run.perf.profile").read_text())
    return {site["key"].partition("@")[0].partition("!")[2]: site for site in found["sites"]}


def test_samples_go_to_who_owned_the_address_then(program: Path, tmp_path: Path) -> None:
    told = called(tmp_path, *profiled(program, "samples.txt"))
    assert "the same addresses" in told  # or the case that matters does not come up
    sites = imported(tmp_path)
    pages = {
        "first": (1024, 20),
        "second": (1024, 30),
        "kept": (512, 10),
        "small": (1, 7),
        "smaller": (1, 5),
    }
    for name, (count, period) in pages.items():
        assert sites[name]["samples"] == count, name
        assert sites[name]["read_bytes"] == count * period * LINE, name
        assert sites[name]["loads"] == count * period, name
        assert sites[name]["mean_latency_cycles"] == 300, name
    others = [site for name, site in sites.items() if name not in pages]
    assert all(site["samples"] == 0 for site in others)


@pytest.mark.skipif(not shutil.which("perf"), reason="no perf")
def test_page_faults_that_perf_sampled(program: Path, tmp_path: Path) -> None:
    record = ["perf", "record", "-q", "-k", "CLOCK_MONOTONIC", "-d", "-e", "page-faults:u"]
    called(tmp_path, *record, "-c", "1", "-o", "perf.data", *profiled(program))
    fields = "pid,tid,time,period,event,addr"  # a fault has neither source nor weight
    script = called(tmp_path, "perf", "script", "-i", "perf.data", "--ns", "-F", fields)
    (tmp_path / "samples.txt").write_text(script)
    sites = imported(tmp_path)
    # Each page of theirs is touched for the first time once; the second's were given back before.
    assert [sites[name]["samples"] for name in ("first", "second", "kept")] == [1024, 1024, 512]


def test_a_profile_without_owners_is_refused(tmp_path: Path) -> None:
    golden = Path(__file__).resolve().parents[1] / "golden" / "version1.profile"
    words = [sys.executable, "-m", "thermocline", "import", str(golden), "x.txt", "-o", "y.profile"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--method owners" in done.stderr
    assert len(done.stderr.splitlines()) == 1
