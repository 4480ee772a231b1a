"""What the tests share."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from thermocline.profiles.model import Profile, parse

ROOT = Path(__file__).resolve().parents[2]
RECORDED = ROOT / "tests" / "machines"
GOLDEN = ROOT / "tests" / "golden"

# How long an example takes says nothing on a machine that others use.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

MakeProfile = Callable[..., Profile]


def profile_table(sites: list[dict[str, Any]], **extra: Any) -> dict[str, Any]:
    """A profile's JSON, from (key, traffic, bytes, ...) rows."""
    peak = sum(site.get("peak_resident_bytes", 0) for site in sites)
    return {
        "format": "thermocline-profile",
        "version": 1,
        "wall_seconds": 1.0,
        "peak_resident_bytes": peak,
        "executable": "/tmp/a.out",
        "command": ["./a.out"],
        "sites": sites,
        **extra,
    }


def site(key: str, traffic: int, size: int, touch: float = 0.0, **extra: Any) -> dict[str, Any]:
    """A site's JSON."""
    return {
        "key": key,
        "read_bytes": traffic,
        "write_bytes": 0,
        "peak_resident_bytes": size,
        "first_touch_seconds": touch,
        "allocations": 1,
        **extra,
    }


@pytest.fixture
def make_profile() -> MakeProfile:
    """Builds a checked profile."""

    def make(sites: list[dict[str, Any]], **extra: Any) -> Profile:
        return parse(json.dumps(profile_table(sites, **extra)), "test")

    return make
