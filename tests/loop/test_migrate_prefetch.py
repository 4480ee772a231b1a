"""Prefetch by stride: how many faults it saves, by their counts."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
from test_migrate import needs_rights, process_of, report_of

BYTES = 48 << 20


@pytest.fixture(scope="module")
def strided(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("prefetch") / "strided"
    source = str(Path(__file__).with_name("strided.c"))
    subprocess.run(["clang-22", "-O1", "-o", str(program), source], check=True, timeout=60)
    return program


def run(program: Path, way: str, granularity: str, *more: str) -> dict[str, Any]:
    words = ["--near", "12MiB", "--check", "--granularity", granularity, *more, "--"]
    process = process_of(report_of(*words, str(program), str(BYTES), way), "strided")
    assert process["checked_pages"] > 0
    assert process["corrupt_pages"] == process["lost_pages"] == 0
    return process


@needs_rights
@pytest.mark.parametrize(("way", "granularity"), [("up", "4K"), ("up", "64K"), ("down", "64K")])
def test_a_stride_saves_faults(strided: Path, way: str, granularity: str) -> None:
    without = run(strided, way, granularity)
    with_it = run(strided, way, granularity, "--prefetch")
    assert without["prefetches"] == 0
    assert with_it["prefetches"] > 0
    assert with_it["faults"] < without["faults"] / 2


@needs_rights
def test_chance_brings_next_to_nothing(strided: Path) -> None:
    process = run(strided, "random", "64K", "--prefetch")
    assert process["prefetches"] < process["faults"] / 4
