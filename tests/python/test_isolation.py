"""Which sites are isolated together, and what each is charged."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from thermocline.methods import isolation
from thermocline.methods.isolation import Traffic

Sizes = dict[str, int]


def measuring(traffic: dict[str, int], asked: list[tuple[str, ...]]) -> isolation.Measure:
    """A group moves what its members move."""

    def measure(groups: Sequence[tuple[str, ...]]) -> list[Traffic]:
        asked.extend(groups)
        return [
            Traffic(sum(traffic[key] for key in group), sum(traffic[key] // 2 for key in group))
            for group in groups
        ]

    return measure


def test_few_sites_have_a_run_each() -> None:
    asked: list[tuple[str, ...]] = []
    traffic = {"a": 100, "b": 0, "c": 7}
    groups, runs = isolation.isolate({"a": 5, "b": 9, "c": 1}, measuring(traffic, asked), None)
    assert runs == 3
    assert {group.keys: group.traffic.read_bytes for group in groups} == {
        ("a",): 100,
        ("b",): 0,
        ("c",): 7,
    }


def test_the_heavy_ones_of_many_are_found_in_fewer_runs() -> None:
    asked: list[tuple[str, ...]] = []
    sizes = {f"s{number:03}": 4096 for number in range(500)}
    traffic = dict.fromkeys(sizes, 1) | {"s123": 10**6, "s400": 10**5}
    groups, runs = isolation.isolate(sizes, measuring(traffic, asked), None)
    alone = {group.keys[0]: group.traffic.read_bytes for group in groups if len(group.keys) == 1}
    assert alone["s123"] == 10**6
    assert alone["s400"] == 10**5
    assert runs == len(asked) <= 64


@given(
    st.dictionaries(
        st.text("abcdef", min_size=1, max_size=6),
        st.tuples(st.integers(0, 2**40), st.integers(0, 2**40)),
        min_size=1,
        max_size=120,
    ),
    st.none() | st.integers(2, 100),
)
def test_every_site_is_measured_and_no_byte_is_lost(
    sites: dict[str, tuple[int, int]], most_runs: int | None
) -> None:
    sizes = {key: size for key, (size, _) in sites.items()}
    traffic = {key: moved for key, (_, moved) in sites.items()}
    asked: list[tuple[str, ...]] = []
    groups, runs = isolation.isolate(sizes, measuring(traffic, asked), most_runs)
    assert sorted(key for group in groups for key in group.keys) == sorted(sizes)
    assert runs == len(asked) <= (most_runs or 64)
    shared = isolation.shared_out(groups, sizes)
    assert sum(each.read_bytes for each in shared.values()) == sum(traffic.values())
    for group in groups:
        if len(group.keys) == 1:
            assert shared[group.keys[0]] == group.traffic
