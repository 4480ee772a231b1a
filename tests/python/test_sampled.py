"""What is printed of a profile from samples that this host can't take."""

from pathlib import Path
from typing import Any

import pytest

from thermocline.cli import profile_table, sampled
from thermocline.profiles.model import Profile

from .conftest import profile_table as table


def made(misses: int, lost: int = 0, written: int = 0) -> Profile:
    site: dict[str, Any] = {
        "key": "a!hot@a.c:1", "read_bytes": misses * 512 * 64, "write_bytes": written,
        "peak_resident_bytes": 4096, "samples": misses, "events": misses * 512,
        "effective_samples": misses,
    }  # fmt: skip
    sampling = {
        "events": [
            {"name": "MISS", "counts": "loads that memory served", "period": 512},
        ],
        "samples": misses, "lost": lost, "throttled": 0, "rings": 3, "processors": 4,
    }  # fmt: skip
    return Profile.model_validate(table([site], method="sample", sampling=sampling))


def test_traffic_carries_its_interval_and_says_what_it_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    profile_table.print_profile(Path("x.profile"), made(100, lost=7))
    printed = capsys.readouterr().out
    assert "3.12 MiB" in printed and "-19% +22%" in printed
    assert "100 samples of MISS (one in 512; loads that memory served), 7 lost" in printed
    assert "1 of 4 processors could not be sampled" in printed
    assert "of loads only" in printed


def test_stores_that_reached_memory_are_not_loads_only() -> None:
    assert "loads only" not in sampled.describe(made(100, written=64))


def test_no_samples_at_all_is_no_traffic() -> None:
    found = made(0)
    assert sampled.counts_traffic(found)
    assert sampled.interval_json(found, found.sites[0])["traffic_bytes_interval"] is None
