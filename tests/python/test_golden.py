"""Files of each format as they are written today: old files must stay readable.

A test fails when the writing changes; add a new golden file then, and keep reading the old one.
"""

from thermocline.machine import store
from thermocline.machine.detect import detect
from thermocline.planning import capacity, model, planner
from thermocline.profiles import model as profiles
from thermocline.run import report

from .conftest import GOLDEN, RECORDED


def test_profile_and_plan() -> None:
    profile = profiles.load(GOLDEN / "version1.profile")
    assert len(profile.sites) == 4
    assert profile.series is not None and profile.series.count == 3
    request = planner.Request(store.find("knl-7230"), capacity.parse("50%"), "thermos")
    made = planner.make([profile], request, ["version1.profile"])
    assert model.to_toml(made) == (GOLDEN / "version1.plan").read_text()
    read = model.load(GOLDEN / "version1.plan")
    assert [(site.key, site.tier) for site in read.sites] == [
        (site.key, site.tier) for site in made.sites
    ]


def test_run_report() -> None:
    found = report.load(GOLDEN / "version1.run.json")
    assert report.fast_share([found]) == 0.75
    assert found.sites.never_came == ["a.out!gone@x.c:3:1"]


def test_machine_file() -> None:
    machine = detect(RECORDED / "two-sockets-cxl").machine
    assert store.to_toml(machine) == (GOLDEN / "two-sockets-cxl.toml").read_text()
