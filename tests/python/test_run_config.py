"""The configuration that the runtime reads, which tiers a run uses, and reports."""

import json
from pathlib import Path

import pytest

from thermocline.errors import Misuse, ThermoclineError
from thermocline.machine import store
from thermocline.machine.detect import detect
from thermocline.planning.model import Plan, PlannedSite
from thermocline.run import classes, config, report
from thermocline.run.config import RunTier

from .conftest import GOLDEN, RECORDED

KNL = store.find("knl-7230")
SINGLE = detect(RECORDED / "two-sockets").machine
HBM = detect(RECORDED / "xeon-max-flat-snc4").machine
PLAN = Plan(
    strategy="thermos",
    capacity_bytes=8192,
    nonheap_bytes=100,
    sites=[PlannedSite(tier=0, key="a!f@x.c:1 < main@x.c:9"), PlannedSite(tier=1, key="b # c")],
)


def test_configurations_are_the_contracts() -> None:
    """Golden: a change here is a change of the contract with runtime/config_reader.cpp."""
    setting = config.tiers_for(PLAN, HBM, None, 2**30)
    guided = config.for_run(Path("/tmp/report"), PLAN, setting, trace=True)
    assert guided == (GOLDEN / "guided.config").read_text()
    assert (
        config.for_profile(Path("/tmp/p"), KNL, ["sampler trace"])
        == (GOLDEN / "profile.config").read_text()
    )


def test_a_real_host_is_bound() -> None:
    setting = config.tiers_for(PLAN, HBM, KNL, None)
    assert not setting.modelled
    assert setting.tiers == [
        RunTier("hbm", (4, 5, 6, 7), None),
        RunTier("dram", (0, 1, 2, 3), None),
    ]


def test_a_host_with_one_kind_models_the_plans_machine() -> None:
    setting = config.tiers_for(PLAN, SINGLE, KNL, 2**30)
    assert setting.modelled
    assert setting.machine is KNL
    assert setting.tiers == [RunTier("mcdram", (), 2**30), RunTier("ddr4", (), None)]
    unlimited = config.tiers_for(PLAN, SINGLE, KNL, None)
    assert unlimited.tiers[0].limit == 16 * 2**30


def test_without_any_machine_two_tiers_are_modelled() -> None:
    setting = config.tiers_for(PLAN, SINGLE, None, 5)
    assert [tier.nodes for tier in setting.tiers] == [(), ()]


def test_a_plan_for_more_tiers_than_there_are() -> None:
    three = Plan(strategy="x", default_tier=2)
    with pytest.raises(ThermoclineError, match="3 tiers"):
        config.tiers_for(three, SINGLE, None, None)
    with pytest.raises(ThermoclineError, match="3 tiers"):
        config.tiers_for(three, SINGLE, KNL, None)


def test_nonheap_shares_the_limit() -> None:
    setting = config.tiers_for(PLAN, SINGLE, KNL, 8192)
    assert "capacity 8092" in config.for_run(Path("/x"), PLAN, setting, trace=False)
    greedy = PLAN.model_copy(update={"nonheap_bytes": 10**6})
    # Never 0: that would mean no limit.
    assert "tier 0 nodes - capacity 4096" in config.for_run(
        Path("/x"), greedy, setting, trace=False
    )
    elsewhere = PLAN.model_copy(update={"nonheap_tier": "none"})
    text = config.for_run(Path("/x"), elsewhere, setting, trace=False)
    assert "tier 0 nodes - capacity 8192" in text
    assert "nonheap-tier -\n" in text


def test_sites_of_equal_shares_have_a_class_together() -> None:
    def site(key: str, *shares: float) -> PlannedSite:
        return PlannedSite(tier=shares.index(max(shares)), key=key, shares=list(shares))

    sites = [
        site("a", 0.5, 0.5), PlannedSite(tier=0, key="whole"), site("b", 0.25, 0.75),
        site("c", 0.5001, 0.4999), site("nearly", 0.0001, 0.9999),
    ]  # fmt: skip
    plan = Plan(strategy="fastest", sites=sites)
    setting = config.tiers_for(plan, SINGLE, KNL, None)
    text = config.for_run(Path("/x"), plan, setting, trace=False)
    assert text.splitlines()[-7:] == [
        "class 2 shares 512,512", "class 3 shares 256,768",
        "site 2 a", "site 0 whole", "site 3 b", "site 2 c", "site 1 nearly",
    ]  # fmt: skip


def test_shares_are_as_fine_as_the_number_of_classes_allows() -> None:
    sites = [
        PlannedSite(tier=int(i < 500), key=f"k{i}", shares=[i / 1000, 1 - i / 1000])
        for i in range(40, 961)
    ]
    found = classes.of(Plan(strategy="x", sites=sites), 2)
    assert found.splits == [(i, 8 - i) for i in range(1, 8)]
    assert found.numbers["k250"] == 3
    assert (found.numbers["k40"], found.numbers["k960"]) == (1, 0)  # an eighth is too much


def test_more_classes_than_a_run_can_hold() -> None:
    sites = [
        PlannedSite(tier=third, key=f"{first} {third}", shares=shares)
        for first in range(1, 8)
        for third in range(first)
        if (shares := [0.5 * (tier in (first, third)) for tier in range(8)])
    ]
    with pytest.raises(Misuse, match="more ways than the 8 that a run can hold"):
        classes.of(Plan(strategy="x", sites=sites), 8)


def test_paths_with_line_breaks_are_refused() -> None:
    with pytest.raises(Misuse, match="control"):
        config.for_profile(Path("/tmp/a\nheap plain"), KNL, [])


def test_reports_add_up(tmp_path: Path) -> None:
    def written(pid: int, fast: int, slow: int, gone: list[str]) -> None:
        tiers = [
            {"tier": t, "peak_resident_bytes": 1, "read_bytes": moved, "write_bytes": 0}
            for t, moved in ((0, fast), (1, slow))
        ]
        table = {
            "format": "thermocline-run", "version": 1, "pid": pid, "peak_resident_bytes": 1,
            "tiers": tiers, "sites": {"never_came": gone, "unplanned": [f"new{pid}"]},
        }  # fmt: skip
        (tmp_path / f"report.{pid}.json").write_text(json.dumps(table))

    written(2, 30, 70, ["a", "b"])
    written(1, 0, 100, ["b", "c"])
    reports, complaints = report.gather(tmp_path)
    assert complaints == []
    assert [entry.pid for entry in reports] == [1, 2]
    assert report.fast_share(reports) == 0.15
    assert report.never_came(reports) == {"b"}
    assert report.unplanned(reports) == {"new1", "new2"}
    (tmp_path / "report.3.json").write_text('{"format": "thermocline-run"')
    again, [complaint] = report.gather(tmp_path)
    assert len(again) == 2
    assert "report.3.json" in complaint
