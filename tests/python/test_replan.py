"""When data moves while a program runs: enough, in time, and not to and fro."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from thermocline.machine import store
from thermocline.planning.replan import Interval, Replanner

KNL = store.find("knl-7230")
MIB = 2**20
GB = 10**9


def sites(**rates: float) -> dict[str, Interval]:
    """16 MiB each; the rate is of GB read in the interval."""
    return {key: Interval(round(rate * GB), 0, 16 * MIB) for key, rate in rates.items()}


def test_the_hot_site_moves_and_stays() -> None:
    planner = Replanner(KNL, 20 * MIB, {}, 1)
    moves = [planner.observe(1.0, sites(hot=40, cold=1)) for _ in range(10)]
    made = [move for move in moves if move]
    assert len(made) == 1
    assert planner.tier_of("hot") == 0
    assert planner.tier_of("cold") == 1
    assert made[0].moved_bytes == 16 * MIB
    assert made[0].gain_share > 0.4


def test_a_phase_changes_places() -> None:
    planner = Replanner(KNL, 20 * MIB, {"a": 0}, 1)
    for _ in range(5):
        assert planner.observe(1.0, sites(a=40, b=1)) is None
    moves = [planner.observe(1.0, sites(a=1, b=40)) for _ in range(8)]
    assert sum(move is not None for move in moves) == 1
    assert (planner.tier_of("a"), planner.tier_of("b")) == (1, 0)


def test_equals_do_not_change_places() -> None:
    dice = random.Random(5)
    planner = Replanner(KNL, 20 * MIB, {"a": 0}, 1)
    for _ in range(200):
        noise = sites(a=40 * dice.uniform(0.99, 1.01), b=40 * dice.uniform(0.99, 1.01))
        assert planner.observe(1.0, noise) is None


def test_what_costs_more_than_it_saves_waits() -> None:
    # 16 MiB read once in 1,000 s: moving them would cost as much as many such intervals.
    planner = Replanner(KNL, 20 * MIB, {}, 1)
    assert planner.observe(1000.0, sites(hot=0.0001)) is None
    moves = [planner.observe(1000.0, sites(hot=0.0001)) for _ in range(1000)]
    assert sum(move is not None for move in moves) == 1


def test_a_tier_that_is_too_full_is_left() -> None:
    planner = Replanner(KNL, 20 * MIB, {"a": 0, "b": 0}, 1)
    move = planner.observe(1.0, sites(a=1, b=2))
    assert move is not None
    assert (planner.tier_of("a"), planner.tier_of("b")) == (1, 0)


def test_a_machine_whose_speed_is_unknown() -> None:
    tiers = [
        tier.model_copy(update={"read_bandwidth": None, "write_bandwidth": None})
        for tier in KNL.tier
    ]
    planner = Replanner(KNL.model_copy(update={"tier": tiers}), 20 * MIB, {}, 1)
    for _ in range(3):
        planner.observe(1.0, sites(hot=40, cold=1))
    assert planner.tier_of("hot") == 0


def test_one_kind_of_memory_leaves_nothing_to_move() -> None:
    planner = Replanner(KNL.model_copy(update={"tier": KNL.tier[:1]}), 20 * MIB, {}, 0)
    assert [planner.observe(1.0, sites(hot=40, cold=1)) for _ in range(3)] == [None] * 3


@settings(max_examples=60)
@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 50), st.integers(0, 40)), min_size=4, max_size=4),
        min_size=1,
        max_size=30,
    )
)
def test_staying_and_moving_cost_little_more_than_the_best_that_stays(
    intervals: list[list[tuple[int, int]]],
) -> None:
    """Ski rental: what was paid is at most about twice what staying would have been."""
    planner = Replanner(KNL, 20 * MIB, {}, 1)
    fast, slow = (tier.read_bandwidth.value for tier in KNL.tier if tier.read_bandwidth)
    paid = stayed = 0.0
    for each in intervals:
        seen = {
            f"s{n}": Interval(rate * GB, 0, (1 + size) * MIB) for n, (rate, size) in enumerate(each)
        }
        served = [0.0, 0.0]
        for key, site in seen.items():
            served[planner.tier_of(key)] += site.read_bytes
        paid += max(served[0] / fast, served[1] / slow)
        stayed += sum(served) / slow
        move = planner.observe(1.0, seen)
        if move:
            paid += move.cost_seconds
        held = sum(site.resident_bytes for key, site in seen.items() if planner.tier_of(key) == 0)
        assert not move or held <= 20 * MIB
    # Rates are smoothed, so an interval's surprise is paid before it is seen.
    worst = max(sum(rate for rate, _ in each) for each in intervals) * GB
    assert paid <= 2 * stayed + 2 * worst / slow
