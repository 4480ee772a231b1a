"""The strategy fastest: predicted memory time, and the least of it."""

import os
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st

from thermocline.errors import Misuse
from thermocline.machine import store
from thermocline.planning import capacity, model, planner, speed
from thermocline.planning.predict import predict
from thermocline.planning.speed import Speed
from thermocline.profiles import merge
from thermocline.profiles.merge import Candidate
from thermocline.strategies import Choice, fastest
from thermocline.strategies.fastest import Memory
from thermocline.strategies.solver import Floats

from .conftest import GOLDEN, MakeProfile, site
from .test_cli import ok

# Two tiers side by side, the first four times as fast at reading, twice at writing.
SPEED = Speed(read=(4.0, 1.0), write=(2.0, 1.0), channel=(0, 1))


def seconds(sites: list[Candidate], memory: Memory, shares: list[tuple[float, ...]]) -> float:
    """The time of a placement, the plain way."""
    reads, writes = list(map(float, memory.base_reads)), list(map(float, memory.base_writes))
    for s, row in zip(sites, shares, strict=True):
        for tier, part in enumerate(row):
            reads[tier] += part * s.reads
            writes[tier] += part * (s.traffic - s.reads)
    return memory.speed.seconds(reads, writes)


def rows_of(choice: Choice, sites: list[Candidate], tiers: int) -> list[tuple[float, ...]]:
    whole = np.eye(tiers)
    return [
        choice.shares.get(s.key, tuple(whole[choice.tiers.get(s.key, tiers - 1)])) for s in sites
    ]


def fits(sites: list[Candidate], memory: Memory, rows: list[tuple[float, ...]]) -> bool:
    """At every moment."""
    held = [memory.held.get(s.key, np.array([s.bytes])) for s in sites]
    return all(
        sum(there[moment] * row[tier] for there, row in zip(held, rows, strict=True)) <= room + 1
        for tier, room in enumerate(memory.rooms[:-1])
        for moment in range(len(held[0]))
    )


def best_whole(sites: list[Candidate], memory: Memory) -> float:
    """By trying everything."""
    tiers = len(memory.rooms)
    whole = [tuple(row) for row in np.eye(tiers)]
    return min(
        seconds(sites, memory, list(rows))
        for rows in product(whole, repeat=len(sites))
        if fits(sites, memory, list(rows))
    )


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[Candidate], Memory]:
    tiers = draw(st.integers(2, 3))
    sites = []
    for index in range(draw(st.integers(1, 6))):
        traffic = draw(st.integers(0, 50))
        reads = draw(st.integers(0, traffic))
        sites.append(Candidate(f"k{index}", 1000 * draw(st.integers(0, 12)), traffic, 0.0, reads))
    rate = st.integers(1, 8).map(float)
    channels = draw(st.sampled_from([(0, 1, 2), (0, 0, 1), (0, 1, 0)]))[:tiers]
    used = sorted(set(channels))
    memory = Memory(
        Speed(
            tuple(draw(rate) for _ in range(tiers)),
            tuple(draw(rate) for _ in range(tiers)),
            tuple(used.index(channel) for channel in channels),
        ),
        tuple(1000 * draw(st.integers(0, 30)) for _ in range(tiers)),
        tuple(draw(st.integers(0, 20)) for _ in range(tiers)),
        tuple(draw(st.integers(0, 20)) for _ in range(tiers)),
        held=draw(st.sampled_from([{}, moments(draw, sites)])),
    )
    return sites, memory


def moments(draw: st.DrawFn, sites: list[Candidate]) -> dict[str, Floats]:
    """Some of each site's bytes at several times, all of them at one."""
    count = draw(st.integers(1, 4))
    held = {}
    for s in sites:
        parts = [draw(st.integers(0, 4)) / 4 for _ in range(count)]
        parts[draw(st.integers(0, count - 1))] = 1.0
        held[s.key] = s.bytes * np.array(parts)
    return held


@settings(max_examples=60)
@given(problems())
def test_small_problems_are_solved_exactly(problem: tuple[list[Candidate], Memory]) -> None:
    sites, memory = problem
    choice = fastest.choose(sites, memory)
    rows = rows_of(choice, sites, len(memory.rooms))
    assert fits(sites, memory, rows)
    assert not choice.shares
    assert seconds(sites, memory, rows) == pytest.approx(best_whole(sites, memory), rel=1e-6)


def test_a_problem_that_highs_presolve_gets_wrong() -> None:
    figures = [
        (9000, 15, 2),
        (4000, 8, 7),
        (12000, 26, 3),
        (7000, 9, 7),
        (3000, 43, 42),
        (2000, 40, 4),
    ]
    sites = [
        Candidate(f"k{i}", size, reads, 0.0, writes)
        for i, (size, reads, writes) in enumerate(figures)
    ]
    memory = Memory(
        speed=Speed(read=(3.0, 1.0, 2.0), write=(6.0, 6.0, 2.0), channel=(0, 1, 2)),
        rooms=(14000, 15000, 0),
        base_reads=(9, 8, 0),
        base_writes=(4, 0, 3),
    )
    rows = rows_of(fastest.choose(sites, memory), sites, 3)
    assert seconds(sites, memory, rows) == pytest.approx(best_whole(sites, memory), rel=1e-6)


@settings(max_examples=60)
@given(problems())
def test_sites_in_parts_are_never_slower(problem: tuple[list[Candidate], Memory]) -> None:
    sites, memory = problem
    split = replace(memory, split=True)
    choice = fastest.choose(sites, split)
    rows = rows_of(choice, sites, len(memory.rooms))
    assert fits(sites, memory, rows)
    assert choice.gap == pytest.approx(0.0, abs=1e-6)
    assert seconds(sites, split, rows) <= best_whole(sites, memory) * (1 + 1e-6)


@settings(max_examples=30)
@given(problems())
def test_the_gap_of_rounding_is_proven(problem: tuple[list[Candidate], Memory]) -> None:
    sites, memory = problem
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fastest, "EXACT_SITES", 0)
        choice = fastest.choose(sites, memory)
    rows = rows_of(choice, sites, len(memory.rooms))
    assert fits(sites, memory, rows)
    found, best = seconds(sites, memory, rows), best_whole(sites, memory)
    assert choice.gap is not None
    assert best >= found * (1 - choice.gap) * (1 - 1e-6)


@pytest.mark.parametrize("split", [False, True])
def test_sites_that_are_never_there_together_share_room(
    make_profile: MakeProfile, split: bool
) -> None:
    def series(resident: list[int], moved: list[int]) -> dict[str, object]:
        return {"read_bytes": moved, "write_bytes": [0] * 4, "resident_bytes": resident}

    early = series([8192, 8192, 0, 0], [80, 80, 0, 0])
    late = series([0, 0, 8192, 8192], [0, 0, 80, 80])
    profile = make_profile(
        [site("early", 160, 8192, series=early), site("late", 160, 8192, 0.2, series=late)],
        series={"interval_seconds": 0.1, "count": 4},
    )
    request = planner.Request(
        store.find("knl-7230"), capacity.parse("8192"), "fastest", split=split
    )
    made, [predicted] = planner.make_and_predict([profile], request)
    assert [s.tier for s in made.sites] == [0, 0] or split
    assert predicted.spilled == [0, 0]
    # With --split, so much is left in the slow tier as keeps both busy, for want of bandwidth.
    assert predicted.traffic[0] >= (0.7 if split else 1) * 320


def test_moments_of_several_inputs_are_all_kept(make_profile: MakeProfile) -> None:
    resident = {"resident_bytes": [0, 50, 100], "read_bytes": [0, 1, 1], "write_bytes": [0, 0, 0]}
    one = make_profile(
        [site("a", 2, 100, series=resident), site("(stack)", 5, 60, kind="nonheap")],
        series={"interval_seconds": 0.1, "count": 3},
    )
    other = make_profile([site("b", 2, 100), site("a", 2, 40, 0.1)])
    held = merge.moments([one, other], [1000, 500])
    # The other's bytes count twice: its capacity is half of the greatest.
    assert {key: list(row) for key, row in held.items()} == {
        "a": [0, 50, 100, 80],
        "b": [0, 0, 0, 200],
    }


def test_both_tiers_work_where_they_are_side_by_side() -> None:
    # All would fit in tier 0, but a fifth of the reads is better served by tier 1.
    sites = [Candidate(f"s{i}", 1, 10, 0.0, 10) for i in range(5)]
    choice = fastest.choose(sites, Memory(SPEED, (100, 100), (0, 0), (0, 0)))
    assert len(choice.fast) == 4
    # On one channel they take turns, and nothing is gained.
    shared = Speed(SPEED.read, SPEED.write, (0, 0))
    choice = fastest.choose(sites, Memory(shared, (100, 100), (0, 0), (0, 0)))
    assert len(choice.fast) == 5


def test_reads_and_writes_count_apart() -> None:
    # Only reading is slow on tier 1: the reader deserves tier 0, though it moves less.
    rates = Speed(read=(8.0, 1.0), write=(1.0, 1.0), channel=(0, 0))
    sites = [Candidate("reader", 10, 80, 0.0, 80), Candidate("writer", 10, 100, 0.0, 0)]
    choice = fastest.choose(sites, Memory(rates, (10, 100), (0, 0), (0, 0)))
    assert set(choice.fast) == {"reader"}


def test_a_large_problem_has_a_small_gap() -> None:
    sites = [
        Candidate(f"s{i}", 1000 + 37 * (i * 7919 % 1009), 1 + i * 104729 % 99991, 0.0, i % 7)
        for i in range(2000)
    ]
    room = sum(s.bytes for s in sites) // 4
    choice = fastest.choose(sites, Memory(SPEED, (room, 1), (0, 0), (0, 0)))
    assert choice.gap is not None
    assert choice.gap < 0.01


def test_the_plan_says_parts_and_the_prediction_follows(make_profile: MakeProfile) -> None:
    profile = make_profile([site("a", 1000, 1000)])
    request = planner.Request(store.find("knl-7230"), capacity.parse("40%"), "fastest", split=True)
    made, predictions = planner.make_and_predict([profile], request)
    assert made.sites[0].shares == pytest.approx([0.4, 0.6])
    assert made.sites[0].tier == 1
    again = model.parse(model.to_toml(made), "plan")
    assert again.sites == made.sites
    assert predictions[0].traffic == pytest.approx([400, 600])
    assert predict(profile, again, [400, None]).spilled == [0, 0]


def test_the_command_takes_split_and_still_compares_with_first_touch(tmp_path: Path) -> None:
    said = ok(
        tmp_path, "plan", str(GOLDEN / "version1.profile"), "--machine", "knl-7230",
        "--capacity", "50%", "--strategy", "fastest", "--split", "-o", "p.plan",
    )  # fmt: skip
    made = model.load(tmp_path / "p.plan")
    in_part = sum(1 for s in made.sites if s.shares)
    assert in_part
    assert f"{in_part} of them in part" in said.splitlines()[0]


def test_a_machine_without_bandwidths_is_refused() -> None:
    machine = store.find("knl-7230")
    tier = machine.tier[0].model_copy(update={"read_bandwidth": None})
    unknown = machine.model_copy(update={"tier": [tier, *machine.tier[1:]]})
    assert not speed.known(unknown)
    with pytest.raises(Misuse, match="bandwidth"):
        planner.check(planner.Request(unknown, capacity.parse("25%"), "fastest"))
    with pytest.raises(Misuse, match="--split"):
        planner.check(planner.Request(machine, capacity.parse("25%"), "thermos", split=True))


def test_the_solver_s_own_output_goes_nowhere(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """HiGHS prints now and then: standard output is for JSON."""
    solve = scipy.optimize.milp

    def noisy(*arguments: Any, **options: Any) -> Any:
        os.write(1, b"noise\n")
        return solve(*arguments, **options)

    monkeypatch.setattr(scipy.optimize, "milp", noisy)
    memory = Memory(SPEED, (100, 100), (0, 0), (0, 0))
    print("before")
    fastest.choose([Candidate("a", 100, 10, 0.0, 5)], memory)
    print("after")
    assert capfd.readouterr().out == "before\nafter\n"
