"""Capacities, plans, predictions, plans across inputs."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thermocline.errors import BadFile, Misuse
from thermocline.machine import store
from thermocline.planning import capacity, model, planner
from thermocline.planning.model import Plan, PlannedSite
from thermocline.planning.predict import predict
from thermocline.profiles.model import Profile, parse

from .conftest import MakeProfile, profile_table, site

KNL = store.find("knl-7230")


def request(text: str, strategy: str = "thermos") -> planner.Request:
    return planner.Request(KNL, capacity.parse(text), strategy)


def plan(fast: list[str], slow: list[str] | None = None, default: int = 1) -> Plan:
    return Plan(
        strategy="test",
        default_tier=default,
        sites=[PlannedSite(tier=0, key=key) for key in fast]
        + [PlannedSite(tier=1, key=key) for key in slow or []],
    )


def test_capacity_forms() -> None:
    assert capacity.parse("25%").of(1000) == 250
    assert capacity.parse("12.5%").of(1000) == 125
    assert capacity.parse("4GiB").of(1000) == 2**32
    for wrong in ("0%", "101%", "-1%", "x", "", "0", "25 percent", "1e9"):
        with pytest.raises(Misuse, match="capacity"):
            capacity.parse(wrong)


def test_percent_is_of_the_peak_with_nonheap(make_profile: MakeProfile) -> None:
    profile = make_profile(
        [site("a", 100, 400), site("(globals)", 0, 600, kind="nonheap")], peak_resident_bytes=1000
    )
    made = planner.make([profile], request("70%", "knapsack"))
    assert made.capacity_bytes == 700
    # Globals prefer tier 0 as well and take 600 of the 700: a's 400 do not fit.
    assert [s.tier for s in made.sites] == [1]
    without = planner.Request(KNL, capacity.parse("70%"), "knapsack", nonheap_tier="none")
    assert [s.tier for s in planner.make([profile], without).sites] == [0]


def test_capacity_never_passes_the_machine(make_profile: MakeProfile) -> None:
    made = planner.make([make_profile([site("a", 1, 1)])], request("1TiB"))
    assert made.capacity_bytes == 16 * 2**30


def test_plan_file_survives_and_is_one_line_a_site(make_profile: MakeProfile) -> None:
    profile = make_profile([site('q"uo\\te < ü', 5, 10), site("b", 1, 10)])
    made = planner.make([profile], request("50%"), ["x.profile"])
    text = model.to_toml(made)
    again = model.parse(text, "p")
    assert again.sites == made.sites
    assert again.capacity_bytes == made.capacity_bytes
    assert sum(line.startswith("  {tier") for line in text.splitlines()) == 2
    assert all(entry.reason for entry in again.sites)


@given(st.text(alphabet=st.characters(codec="utf-8"), min_size=1, max_size=30))
def test_any_printable_key_survives(key: str) -> None:
    if not key.isprintable():
        return
    made = plan([key])
    assert model.parse(model.to_toml(made), "p").sites == made.sites


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "format"),
        ("format = 2", "format"),
        ("format = 1", "strategy"),
        ("format = [", "TOML"),
        ('format = 1\nstrategy = "x"\nsites = [{tier = 9, key = "a"}]', "tier"),
        ('format = 1\nstrategy = "x"\nsites = [{tier = -1, key = "a"}]', "tier"),
        ('format = 1\nstrategy = "x"\nsites = [{tier = 0}]', "key"),
        ('format = 1\nstrategy = "x"\nsites = [{tier = 0, key = "a\\nb"}]', "control"),
        ('format = 1\nstrategy = "x"\nsites = [{tier=0,key="a"},{tier=1,key="a"}]', "twice"),
        ('format = 1\nstrategy = "x"\nsite = []', "site"),
    ],
)
def test_broken_plans_say_what_is_wrong(text: str, complaint: str) -> None:
    with pytest.raises(BadFile) as caught:
        model.parse(text, "p.plan")
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_first_touch_order_decides_who_spills(make_profile: MakeProfile) -> None:
    profile = make_profile([site("late", 90, 100, touch=2.0), site("early", 10, 100, touch=1.0)])
    both = predict(profile, plan(["late", "early"]), [150, None])
    # early has all of its 100, late half of its 100.
    assert both.traffic == [10 + 45, 45]
    assert both.peak == [150, 50]
    assert both.spilled == [50, 0]
    assert both.fast_share == 0.55
    guided = predict(profile, plan(["late"]), [150, None])
    assert guided.fast_share == 0.9
    assert guided.spilled == [0, 0]


def test_spilling_goes_to_the_next_of_three_tiers(make_profile: MakeProfile) -> None:
    profile = make_profile([site("a", 100, 100)])
    found = predict(profile, plan(["a"]), [10, 30, None])
    assert found.peak == [10, 30, 60]
    assert found.traffic == [10, 30, 60]


def test_freed_pages_give_their_room_back(make_profile: MakeProfile) -> None:
    def series(resident: list[int], moved: list[int]) -> dict[str, object]:
        return {"resident_bytes": resident, "read_bytes": moved, "write_bytes": [0] * len(moved)}

    profile = make_profile(
        [
            site("a", 10, 100, touch=0.0, series=series([100, 0, 0], [10, 0, 0])),
            site("b", 30, 100, touch=0.1, series=series([0, 100, 100], [0, 10, 20])),
            site("c", 40, 100, touch=0.2, series=series([0, 0, 100], [0, 0, 40])),
        ],
        series={"interval_seconds": 0.1, "count": 3},
        peak_resident_bytes=200,
    )
    found = predict(profile, plan(["a", "b", "c"]), [100, None])
    # b takes a's room; c comes while b is still there.
    assert found.traffic == [40, 40]
    assert found.peak == [100, 100]


def test_nonheap_is_charged_to_its_tier(make_profile: MakeProfile) -> None:
    page = 4096
    stack = site("(stack)", 5, 60 * page, touch=0.0, kind="nonheap")
    profile = make_profile([stack, site("a", 10, 100 * page, touch=1.0)])
    reserved = plan(["a"]).model_copy(update={"nonheap_bytes": profile.nonheap_bytes})
    found = predict(profile, reserved, [100 * page, None])
    assert found.traffic == [5 + 4, 6]
    assert found.peak == [100 * page, 60 * page]


SITES = st.lists(
    st.tuples(st.integers(0, 1000), st.integers(0, 1000), st.floats(0, 9), st.booleans()),
    min_size=1,
    max_size=12,
)


@given(SITES, st.integers(0, 3000), st.integers(0, 3000))
def test_predictions_keep_the_books(
    rows: list[tuple[int, int, float, bool]], first: int, second: int
) -> None:
    import json

    table = [site(f"k{i}", moved, size, touch) for i, (moved, size, touch, _) in enumerate(rows)]
    profile = parse(json.dumps(profile_table(table)), "p")
    fast = [f"k{i}" for i, row in enumerate(rows) if row[3]]
    found = predict(profile, plan(fast), [first, second, None])
    assert sum(found.traffic) == pytest.approx(profile.traffic_bytes)
    assert found.peak[0] <= first
    assert found.peak[1] <= second
    assert sum(found.peak) == sum(s.bytes for s in profile.sites)


def across(make_profile: MakeProfile) -> list[Profile]:
    """Two inputs that agree on a, and disagree on b and c."""
    return [
        make_profile([site("a", 60, 50), site("b", 40, 50, 0.1), site("c", 0, 50, 0.2)]),
        make_profile([site("a", 60, 50), site("b", 0, 50, 0.1), site("c", 40, 50, 0.2)]),
    ]


def test_cross_validation_prints_the_regret(make_profile: MakeProfile) -> None:
    folds = planner.cross_validate(
        across(make_profile), ["one", "two"], request("100B", "knapsack")
    )
    # Planned from the other, the 40 % of the site that matters here stay slow.
    assert [(f.from_others, f.from_itself) for f in folds] == [(0.6, 1.0), (0.6, 1.0)]
    assert [f.regret for f in folds] == [0.4, 0.4]
    with pytest.raises(Misuse, match="two inputs"):
        planner.cross_validate(across(make_profile)[:1], ["one"], request("10%"))


def test_a_plan_across_inputs_names_the_sites_of_all(make_profile: MakeProfile) -> None:
    made = planner.make(across(make_profile), request("100B", "knapsack"), ["one", "two"])
    assert {s.key for s in made.sites} == {"a", "b", "c"}
    assert {s.key for s in made.sites if s.tier == 0} >= {"a"}
    assert made.profiles == ["one", "two"]


def test_a_machine_with_one_tier_is_refused(make_profile: MakeProfile) -> None:
    from thermocline.machine.detect import detect

    from .conftest import RECORDED

    single = detect(RECORDED / "two-sockets").machine
    ask = planner.Request(single, capacity.parse("25%"), "thermos")
    with pytest.raises(Misuse, match="one kind of memory"):
        planner.make([make_profile([site("a", 1, 1)])], ask)


def test_a_profile_without_traffic_has_no_share(make_profile: MakeProfile) -> None:
    made = planner.make([make_profile([site("a", 0, 10)])], request("50%"))
    assert made.predicted_fast_share is None
    assert "predicted" not in model.to_toml(made)


def test_the_file_is_read_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / "x.plan"
    path.write_text("format = 1\n")
    with pytest.raises(BadFile, match=r"x\.plan"):
        model.load(path)


@given(st.one_of(st.text(), st.text().map(lambda text: "format = 1\n" + text)))
def test_any_text_is_a_plan_or_one_line(text: str) -> None:
    try:
        model.parse(text, "p")
    except BadFile as error:
        assert "\n" not in str(error)


def test_the_heap_is_predicted_within_what_a_run_gives_it(make_profile: MakeProfile) -> None:
    # Non-heap data peaks early and is small ever after; a run keeps room for its peak all along.
    page = 4096
    series = {"read_bytes": [0, 100], "write_bytes": [0, 0], "resident_bytes": [0, 6 * page]}
    other = {"read_bytes": [0, 0], "write_bytes": [0, 0], "resident_bytes": [5 * page, page]}
    profile = make_profile(
        [
            site("hot", 100, 6 * page, 0.1, series=series),
            site("(other)", 0, 5 * page, 0.0, kind="nonheap", series=other),
        ],
        series={"interval_seconds": 0.1, "count": 2},
    )
    plan = Plan(strategy="first-touch", default_tier=0, nonheap_tier=0, nonheap_bytes=5 * page)
    found = predict(profile, plan, [8 * page, None])
    assert found.fast_share == pytest.approx(0.5)  # 3 of 6 pages, not the 6 that lie free
    assert found.spilled[0] == 3 * page
    unreserved = plan.model_copy(update={"nonheap_bytes": 0})
    assert predict(profile, unreserved, [8 * page, None]).fast_share == pytest.approx(1.0)


def test_ranks_of_a_host_share_its_memory(make_profile: MakeProfile) -> None:
    sites = [site("hot", 900, 4 * 2**20), site("cold", 10, 4 * 2**20)]
    places = [(0, "n1"), (1, "n1"), (2, "n1"), (3, "n2")]
    ranks = [make_profile(sites, rank=rank, host=host) for rank, host in places]
    assert planner.ranks_of_a_host(ranks) == 3

    def made(text: str) -> Plan:
        request = planner.Request(KNL, capacity.parse(text), "thermos", "none", sharing=3)
        return planner.make(ranks, request)

    assert made("12MiB").capacity_bytes == 4 * 2**20  # each rank's
    assert [s.key for s in made("12MiB").sites if s.tier == 0] == ["hot"]
    assert made("50%").capacity_bytes == 4 * 2**20  # of the rank's own peak
    assert made("64GiB").capacity_bytes == KNL.tier[0].capacity_bytes // 3
    with pytest.raises(Misuse, match="comes twice"):
        planner.ranks_of_a_host([ranks[0], ranks[0]])
    with pytest.raises(Misuse, match="no MPI rank's"):
        planner.ranks_of_a_host([make_profile(sites)])
