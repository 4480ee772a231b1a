"""Parts of a trace, from the options that pick them."""

import pytest

from thermocline.errors import Misuse
from thermocline.simulation import regions


def test_what_is_left_out_is_everything() -> None:
    assert regions.parse(None, None, None) == {}


def test_bounds() -> None:
    assert regions.parse("solve", "0.5s:2s", "2:5") == {
        "function": "solve",
        "from_ns": 500_000_000,
        "to_ns": 2_000_000_000,
        "first_window": 2,
        "last_window": 5,
    }
    assert regions.parse(None, ":3", None) == {"from_ns": 0, "to_ns": 3_000_000_000}
    assert regions.parse(None, None, "4:") == {"first_window": 4}
    assert regions.seconds("2s:") == (2_000_000_000, None)


@pytest.mark.parametrize("text", ["2", "", ":", "a:b", "2:1", "1:1", "-1:2", "nan:2", "0:1e12"])
def test_times_that_make_no_sense(text: str) -> None:
    with pytest.raises(Misuse, match="--time"):
        regions.seconds(text)


@pytest.mark.parametrize("text", ["3", ":", "x:2", "-1:2", "1:99999999999"])
def test_windows_that_make_no_sense(text: str) -> None:
    with pytest.raises(Misuse, match="--windows"):
        regions.parse(None, None, text)
