"""Profiles come from outside: whatever is in them, one line or a profile."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thermocline.errors import BadFile
from thermocline.profiles import merge
from thermocline.profiles.model import Profile, load, parse

from .conftest import MakeProfile, profile_table, site


def refused(text: str) -> str:
    with pytest.raises(BadFile) as caught:
        parse(text, "p.profile")
    message = str(caught.value)
    assert message.startswith("p.profile: ")
    assert "\n" not in message
    return message


GOOD = profile_table([site("a", 10, 4096), site("(stack)", 1, 4096, kind="nonheap")])


def test_reads_what_the_contract_says() -> None:
    profile = parse(json.dumps(GOOD), "p")
    assert profile.traffic_bytes == 11
    assert profile.nonheap_bytes == 4096
    assert [s.key for s in profile.heap] == ["a"]
    assert profile.program == "a.out"


def test_short_lived_sites_are_charged_what_was_live(make_profile: MakeProfile) -> None:
    profile = make_profile([site("a", 1, 0, peak_live_bytes=5000)])
    assert profile.sites[0].bytes == 5000


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"version": 2}, "version"),
        ({"format": "x"}, "format"),
        ({"sites": [site("a", 1, 1), site("a", 1, 1)]}, "twice"),
        ({"sites": [site("a\nb", 1, 1)]}, "control"),
        ({"sites": [site("a", -1, 1)]}, "read_bytes"),
        ({"sites": [site("a", 2**59, 1), site("b", 2**60 - 1, 1), site("c", 2**60 - 1, 1)]}, "sum"),
        ({"sites": [site("a", 1, 1, series={"read_bytes": [1]})]}, "length"),
        ({"wall_seconds": "x"}, "wall_seconds"),
        ({"sites": None}, "sites"),
    ],
)
def test_wrong_profiles_say_what_is_wrong(change: dict[str, Any], complaint: str) -> None:
    assert complaint in refused(json.dumps({**GOOD, **change}))


def test_truncated_and_foreign_files() -> None:
    text = json.dumps(GOOD)
    assert "JSON" in refused(text[: len(text) // 2])
    refused("[" * 100_000)
    refused("")
    refused("[]")
    refused("null")


JSON_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from([*GOOD, *site("a", 1, 1)]), inner, max_size=4),
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*GOOD, "series", "notes"]), JSON_VALUES, max_size=4))
def test_any_json_is_a_profile_or_one_line(change: dict[str, Any]) -> None:
    try:
        assert isinstance(parse(json.dumps({**GOOD, **change}), "p"), Profile)
    except BadFile as error:
        assert "\n" not in str(error)


@given(st.text())
def test_any_text_is_one_line(text: str) -> None:
    try:
        parse(text, "p")
    except BadFile as error:
        assert "\n" not in str(error)


def test_one_input_keeps_its_units(make_profile: MakeProfile) -> None:
    profile = make_profile([site("a", 10, 100), site("(stack)", 1, 7, kind="nonheap")])
    demand = merge.of_many([profile], [50])
    assert (demand.capacity, demand.nonheap) == (50, 7)
    assert [(c.key, c.bytes, c.traffic) for c in demand.candidates] == [("a", 100, 10)]


def test_inputs_weigh_alike_and_sizes_are_the_largest(make_profile: MakeProfile) -> None:
    # The second input moves a hundred times as much; each counts one half all the same.
    first = make_profile([site("a", 30, 100), site("b", 10, 100)])
    second = make_profile([site("b", 4000, 400)])
    demand = merge.of_many([first, second], [50, 50])
    found = {c.key: (c.bytes, c.traffic) for c in demand.candidates}
    half = merge.SHARE_UNITS // 2
    assert found == {"a": (100, half * 3 // 4), "b": (400, half // 4 + half)}


def test_sizes_are_measured_against_each_inputs_capacity(make_profile: MakeProfile) -> None:
    small = make_profile([site("a", 1, 10)])
    large = make_profile([site("a", 1, 1000)])
    demand = merge.of_many([small, large], [10, 2000])
    # a fills all of the small input's capacity, half of the large one's.
    assert demand.capacity == 2000
    assert demand.candidates[0].bytes == 2000


def test_a_name_in_another_encoding_costs_one_site(tmp_path: Path) -> None:
    table = profile_table([site("caf\u00e9", 1, 1), site("b", 1, 1)])
    path = tmp_path / "p.profile"
    path.write_bytes(json.dumps(table, ensure_ascii=False).encode("latin-1"))
    assert [s.key for s in load(path).sites] == ["caf\ufffd", "b"]
