"""What a new user is told who mixes up programs and machines, or installs elsewhere."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from thermocline import paths

from .conftest import ROOT
from .test_cli import KNL, PROGRAM, call, next_command, profiled

OTHER_CACHES = "what missed other caches than knl-7230's"
NO_ROOM = "leaves none to sites"
FITS_NOTHING = "the plan fits nothing in this program"


def changed(path: Path, **keys: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | keys))


@pytest.mark.parametrize("arguments", [(), ("machine",), ("trace",)])
def test_no_arguments_print_the_help(arguments: tuple[str, ...], tmp_path: Path) -> None:
    done = call(tmp_path, *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("Usage: thermocline")
    assert "…" not in done.stderr
    assert "\n  --help" in done.stderr


@pytest.mark.parametrize(
    ("sizes", "method", "said"),
    [
        ((32768, 1048576), "trace", False),
        ((49152, 1048576, 33554432), "trace", True),
        ((49152, 1048576, 33554432), "bursts", True),
        ((49152, 1048576, 33554432), "sample", False),  # the processor's caches, as they are
    ],
)
def test_a_profile_of_other_caches(
    sizes: tuple[int, ...], method: str, said: bool, tmp_path: Path
) -> None:
    profiled(tmp_path, "a")
    levels = [{"bytes": size, "ways": 8, "shared": False} for size in sizes]
    cache = {"line_bytes": 64, "levels": levels}
    changed(tmp_path / "p.profile", method=method, cache=cache)
    done = call(tmp_path, "plan", "p.profile", *KNL, "-o", "p.plan")
    assert done.returncode == 0, done.stderr
    assert (OTHER_CACHES in done.stderr) == said


def test_the_next_step_where_there_is_one_kind_of_memory(tmp_path: Path) -> None:
    recorded = str(ROOT / "tests" / "machines" / "two-sockets" / "topology.xml")
    done = call(tmp_path, "machine", "detect", "--input", recorded, "-o", "one.toml")
    assert done.returncode == 0, done.stderr
    done = call(tmp_path, "profile", "--machine", "./one.toml", "--", *PROGRAM, "a")
    again = next_command(done)
    assert again == ["profile", *KNL, "--method", "trace", "--", *PROGRAM, "a"]
    done = call(tmp_path, *again)
    assert next_command(done)[0] == "plan"


def test_a_capacity_that_data_not_on_the_heap_takes(tmp_path: Path) -> None:
    path = tmp_path / profiled(tmp_path, "a")
    site = {"read_bytes": 0, "write_bytes": 0, "peak_resident_bytes": 65536}
    sites = json.loads(path.read_text())["sites"]
    changed(path, sites=[*sites, {"key": "(globals)", "kind": "nonheap", **site}])
    asked = (("64KiB", "0", True), ("64KiB", "1", False), ("72KiB", "0", False))
    for capacity, tier, said in asked:
        options = ("--capacity", capacity, "--nonheap-tier", tier, "--force")
        done = call(tmp_path, "plan", "p.profile", *KNL, *options)
        assert done.returncode == 0, done.stderr
        assert (NO_ROOM in done.stderr) == said, done.stderr


def test_a_plan_of_another_program(tmp_path: Path) -> None:
    profiled(tmp_path, "a!f@x.c:1", "libc.so.6!unannotated")
    assert call(tmp_path, "plan", "p.profile", *KNL, "-o", "p.plan").returncode == 0
    run = ("run", "--plan", "p.plan", "--", *PROGRAM, "libc.so.6!unannotated")
    assert FITS_NOTHING in call(tmp_path, *run, "b!g@y.c:1").stderr
    assert FITS_NOTHING not in call(tmp_path, *run, "a!f@x.c:1").stderr


def test_python_of_an_installation(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    environment = tmp_path / "lib" / "thermocline" / "python"
    monkeypatch.delenv("THERMOCLINE_PREFIX", raising=False)
    monkeypatch.setattr(paths, "CHECKOUT", environment / "lib" / "python3.11" / "site-packages")
    monkeypatch.setattr(sys, "prefix", str(environment))
    assert paths.native_prefix() == environment
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "thermocline-clang").touch()
    assert paths.native_prefix() == tmp_path
