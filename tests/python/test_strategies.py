"""knapsack, hotset and thermos against hand-worked examples and plain reference versions."""

from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thermocline.planning.speed import Speed
from thermocline.profiles.merge import Candidate
from thermocline.strategies import NAMES, Choice, by_density, first_touch, knapsack, registry
from thermocline.strategies.fastest import Memory
from thermocline.strategies.hotset import choose as hotset
from thermocline.strategies.knapsack import choose as best
from thermocline.strategies.thermos import choose as thermos


def sites(*rows: tuple[str, int, int]) -> list[Candidate]:
    """From (key, bytes, traffic)."""
    return [Candidate(key, size, traffic, 0.0) for key, size, traffic in rows]


def candidates(largest: int = 12, most: int = 9) -> st.SearchStrategy[list[Candidate]]:
    """Few small sites, ties and zeros among them."""
    return st.lists(st.tuples(st.integers(0, largest), st.integers(0, largest)), max_size=most).map(
        lambda rows: sites(*[(f"k{i:02}", size, moved) for i, (size, moved) in enumerate(rows)])
    )


TWO_TIERS = Memory(Speed((4.0, 1.0), (2.0, 1.0), (0, 1)), (10, 10), (0, 0), (0, 0))

# Densities: a 10, b 5, c 4, d 1.
EXAMPLE = sites(("a", 2, 20), ("b", 4, 20), ("c", 6, 24), ("d", 1, 1))


def keys(choice: Choice) -> set[str]:
    return set(choice.fast)


def test_hotset_by_hand() -> None:
    # a (2), b (6) fit in 7; c (12) is the first that passes: taken, then the end.
    assert keys(hotset(EXAMPLE, 7)) == {"a", "b", "c"}
    # Exactly full is not passed: one more is taken.
    assert keys(hotset(EXAMPLE, 6)) == {"a", "b", "c"}
    assert keys(hotset(EXAMPLE, 100)) == {"a", "b", "c", "d"}
    assert keys(hotset(EXAMPLE, 0)) == {"a"}


def test_knapsack_by_hand() -> None:
    # 7 bytes: a+b+d = 41 beats c+d = 25; nothing reaches c+a (8 bytes).
    assert keys(best(EXAMPLE, 7)) == {"a", "b", "d"}
    assert keys(best(EXAMPLE, 8)) == {"a", "c"}
    assert best(EXAMPLE, 8).gap == 0
    assert keys(best(EXAMPLE, 0)) == set()


def test_thermos_by_hand() -> None:
    # Capacity 7: a, b packed 6.  c (6 bytes, 24) overflows by 5: displaces a's 2 bytes (20) and
    # 3 of b's 4 (15) = 35 > 24, so it stays out.  d (1) fits.
    assert keys(thermos(EXAMPLE, 7)) == {"a", "b", "d"}
    # Capacity 10: overflow 2: displaces a alone = 20 < 24: c comes in; then packed 12, d
    # overflows by 3 and would displace 25: out.
    assert keys(thermos(EXAMPLE, 10)) == {"a", "b", "c"}


def test_thermos_pro_rata_is_strict() -> None:
    hot = ("hot", 4, 20)
    # 8 bytes into 6: displaces 4 + 8 - 6 = 6, but only 4 are packed: all of hot, 20.
    assert keys(thermos(sites(hot, ("big", 8, 20)), 6)) == {"hot"}
    assert keys(thermos(sites(hot, ("big", 8, 21)), 6)) == {"hot", "big"}
    # 3 bytes into 6: overflow 1 of hot's 4 bytes = 5.
    assert keys(thermos(sites(hot, ("big", 3, 5)), 6)) == {"hot"}
    assert keys(thermos(sites(hot, ("big", 3, 6)), 6)) == {"hot", "big"}


def test_thermos_takes_a_large_hot_site_that_knapsack_must_leave() -> None:
    rows = sites(("huge", 100, 1000), ("small", 10, 50))
    assert keys(best(rows, 50)) == {"small"}
    assert "huge" in keys(thermos(rows, 50))


def reference_order(rows: list[Candidate]) -> list[Candidate]:
    def order(site: Candidate) -> tuple[Fraction, str]:
        density = Fraction(site.traffic, site.bytes) if site.bytes else Fraction(10**9)
        return (-density, site.key)

    return sorted(rows, key=order)


def reference_thermos(rows: list[Candidate], capacity: int) -> set[str]:
    """Byte by byte, as SEMANTICS has it."""
    admitted: list[Fraction] = []  # each byte's traffic, hottest first
    chosen = set()
    for site in reference_order(rows):
        packed = len(admitted)
        if packed + site.bytes > capacity and site.bytes:
            displaced = sum(admitted[: min(packed, packed + site.bytes - capacity)], Fraction(0))
            if not site.traffic > displaced:
                continue
        chosen.add(site.key)
        if site.bytes:
            admitted += [Fraction(site.traffic, site.bytes)] * site.bytes
            admitted.sort(reverse=True)
    return chosen


def reference_hotset(rows: list[Candidate], capacity: int) -> set[str]:
    chosen: set[str] = set()
    packed = 0
    for site in reference_order(rows):
        if packed > capacity:
            break
        chosen.add(site.key)
        packed += site.bytes
    return chosen


def reference_best(rows: list[Candidate], capacity: int) -> int:
    """Tries every set."""
    value = 0
    for mask in range(1 << len(rows)):
        taken = [site for i, site in enumerate(rows) if mask >> i & 1]
        if sum(site.bytes for site in taken) <= capacity:
            value = max(value, sum(site.traffic for site in taken))
    return value


@given(candidates(), st.integers(0, 60))
def test_thermos_is_the_reference(rows: list[Candidate], capacity: int) -> None:
    assert keys(thermos(rows, capacity)) == reference_thermos(rows, capacity)


@given(candidates(), st.integers(0, 60))
def test_hotset_is_the_reference(rows: list[Candidate], capacity: int) -> None:
    assert keys(hotset(rows, capacity)) == reference_hotset(rows, capacity)


@given(st.one_of(candidates(), candidates(10**12)), st.integers(0, 10**13))
def test_knapsack_is_optimal(rows: list[Candidate], capacity: int) -> None:
    total = sum(site.bytes for site in rows)
    room = capacity % (total + 1)
    choice = best(rows, room)
    taken = [site for site in rows if site.key in choice.fast]
    assert sum(site.bytes for site in taken) <= room
    assert sum(site.traffic for site in taken) == reference_best(rows, room)
    assert choice.gap == 0


@settings(max_examples=400)
@given(
    st.lists(st.tuples(st.integers(1, 40), st.integers(0, 3)), min_size=4, max_size=10),
    st.integers(0, 200),
)
def test_knapsack_is_optimal_where_it_is_hard(rows: list[tuple[int, int]], room: int) -> None:
    # Traffic nearly proportional to size: many sets differ by one unit only.
    made = sites(*[(f"k{i:02}", size, 10 * size + extra) for i, (size, extra) in enumerate(rows)])
    choice = best(made, room)
    value = sum(site.traffic for site in made if site.key in choice.fast)
    assert value == reference_best(made, room)


@given(candidates(most=12), st.integers(0, 60))
def test_knapsack_proves_its_gap_when_stopped(rows: list[Candidate], capacity: int) -> None:
    kept = knapsack.WORK
    knapsack.WORK = 0
    try:
        choice = best(rows, capacity)
    finally:
        knapsack.WORK = kept
    taken = [site for site in rows if site.key in choice.fast]
    value = sum(site.traffic for site in taken)
    assert sum(site.bytes for site in taken) <= capacity
    assert choice.gap is not None
    assert reference_best(rows, capacity) <= value + choice.gap * max(1, value) + 1e-6


@given(candidates(), st.integers(0, 60), st.sampled_from(["hotset", "thermos"]), st.randoms())
def test_the_order_of_sites_does_not_matter(
    rows: list[Candidate], capacity: int, name: str, random: Random
) -> None:
    shuffled = list(rows)
    random.shuffle(shuffled)
    assert keys(registry()[name](rows, capacity)) == keys(registry()[name](shuffled, capacity))


@given(candidates())
def test_order_is_falling_density(rows: list[Candidate]) -> None:
    assert [site.key for site in by_density(rows)] == [site.key for site in reference_order(rows)]


def test_first_touch_wants_everything() -> None:
    assert keys(first_touch.choose(EXAMPLE, 1)) == {"a", "b", "c", "d"}


@pytest.mark.parametrize("name", NAMES)
def test_names_are_registered(name: str) -> None:
    assert keys(registry(TWO_TIERS)[name]([], 10)) == set()
    assert set(registry()) == set(NAMES)
