"""Numbers with units."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thermocline import units
from thermocline.errors import Misuse


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("16GiB", 16 * 2**30),
        ("16G", 16 * 2**30),
        ("16GB", 16 * 10**9),
        ("4096", 4096),
        ("35.75MiB", 37486592),
        ("1k", 1024),
        ("0.5 KiB", 512),
    ],
)
def test_sizes(text: str, expected: int) -> None:
    assert units.parse_bytes(text) == expected


def test_rates_and_times() -> None:
    assert units.parse_bandwidth("115.2GB/s") == 115_200_000_000
    assert units.parse_bandwidth("1GiB/s") == 2**30
    assert units.parse_seconds("130.4ns") == 130.4e-9
    assert units.parse_seconds("1.5us") == 1.5e-6
    assert units.parse_frequency("1.3GHz") == 1_300_000_000
    assert units.parse_joules_per_bit("3.9pJ/bit") == 3.9e-12


@pytest.mark.parametrize(
    "parse",
    [
        units.parse_bytes,
        units.parse_bandwidth,
        units.parse_seconds,
        units.parse_frequency,
        units.parse_joules_per_bit,
    ],
)
@given(text=st.one_of(st.text(max_size=20), st.from_regex(r"[0-9.]{1,5}[a-zA-Z/]{0,6}")))
def test_rubbish_is_one_line(parse: Callable[[str], float], text: str) -> None:
    try:
        parse(text)
    except Misuse as error:
        assert "\n" not in str(error)


@given(st.integers(min_value=0, max_value=2**50))
def test_file_form_loses_nothing(count: int) -> None:
    assert units.parse_bytes(units.exact_bytes(count)) == count
