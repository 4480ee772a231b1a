"""Intervals of sampled figures."""

import random

import pytest

from thermocline.profiles.model import Site
from thermocline.profiles.uncertainty import format_interval, interval


def site(samples: int, period: int, effective: int | None = None) -> Site:
    return Site(
        key="k", read_bytes=samples * period * 64, write_bytes=0, peak_resident_bytes=0,
        samples=samples, events=samples * period,
        effective_samples=samples if effective is None else effective,
    )  # fmt: skip


def test_the_exact_interval_of_tables() -> None:
    """Garwood's for 10 events: 4.795 to 18.39."""
    low, high = interval(site(10, 100), 1000) or (0, 0)
    assert low == pytest.approx(479.5, rel=1e-3)
    assert high == pytest.approx(1839, rel=1e-3)
    assert format_interval(site(10, 100)) == "-52% +84%"


def test_no_sample_no_interval_and_every_event_no_doubt() -> None:
    assert interval(site(0, 100), 0) is None
    assert interval(site(500, 1), 500) == (500, 500)
    assert format_interval(site(500, 1)) == "exact"
    assert format_interval(site(500, 1), complete=False) == "-9% +9%"


def test_19_of_20_intervals_hold_the_truth() -> None:
    """Thinning a known number of events one in a period, as the processor does."""
    draw = random.Random(4)
    truth, period, held = 40_000, 512, 0
    for _ in range(1000):
        samples = sum(draw.random() < 1 / 32 for _ in range(truth * 32 // period))
        low, high = interval(site(samples, period), samples * period) or (0, 0)
        held += low <= truth <= high
    assert 0.93 <= held / 1000 <= 0.99


def test_uneven_periods_are_as_uncertain_as_fewer_samples() -> None:
    wide = interval(site(100, 10, effective=25), 1000)
    narrow = interval(site(100, 10), 1000)
    assert wide and narrow and wide[1] > narrow[1] and wide[0] < narrow[0]
