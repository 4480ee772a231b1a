"""Sites in huge pages: which are chosen, what the plan file says, and what a run is told."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from thermocline import traces
from thermocline.errors import BadFile
from thermocline.machine import store
from thermocline.planning import huge, model
from thermocline.planning.model import Plan, PlannedSite
from thermocline.run import classes, config, report

from .conftest import profile_table, site
from .raw_trace import Ref, write
from .test_cli import answer, fails, ok

MIB = 2**20
PLAN = Plan(
    strategy="by hand",
    sites=[
        PlannedSite(tier=0, key="a", huge=True, bytes=4 * MIB),
        PlannedSite(tier=1, key="b", huge=True, bytes=4 * MIB),
        PlannedSite(tier=0, key="c", bytes=4 * MIB),
        PlannedSite(tier=0, key="d", huge=True, spread=True, bytes=MIB),
        PlannedSite(tier=0, key="e", shares=[0.75, 0.25], bytes=4 * MIB),
    ],
)


def test_huge_sites_have_classes_of_their_own() -> None:
    setting = config.tiers_for(PLAN, store.find("xeon-max-9480"), None, None)
    lines = config.for_run(Path("/x"), PLAN, setting, trace=False).splitlines()
    # A node a tier: nothing to spread over.
    assert lines[-8:] == [
        "class 2 shares 1,0 huge", "class 3 shares 0,1 huge", "class 4 shares 768,256",
        "site 2 a", "site 3 b", "site 0 c", "site 2 d", "site 4 e",
    ]  # fmt: skip
    found = classes.of(PLAN, 2)
    assert found.huge == {2, 3, 4}
    assert found.spread == {4}
    assert found.numbers == {"a": 2, "b": 3, "c": 0, "d": 4, "e": 5}


def test_the_plan_file_keeps_huge() -> None:
    again = model.parse(model.to_toml(PLAN), "p")
    assert [each.huge for each in again.sites] == [True, True, False, True, False]
    assert model.to_toml(PLAN).count("huge = true") == 3
    text = model.to_toml(PLAN).replace("shares =", "huge = true, shares =")
    with pytest.raises(BadFile, match="it can't be huge and in several tiers"):
        model.parse(text, "p")


def said(seconds: float, **sites: tuple[int, float]) -> dict[str, Any]:
    rows = [
        {"key": key, "second_misses": misses, "penalty_seconds": penalty}
        for key, (misses, penalty) in sites.items()
    ]
    return {"seconds": seconds, "translation": {"sites": rows}}


def test_a_site_has_to_save_a_hundredth_of_the_time_and_fill_a_page() -> None:
    small = said(2.0, a=(1000, 0.5), b=(100, 0.0401), c=(90, 0.0399), d=(1000, 0.5), e=(9, 0.5))
    large = said(1.9, a=(10, 0.1), c=(0, 0.0), x=(5, 0.1))
    sites = huge.judge(small, large, PLAN, threads=2)  # four seconds of threads: 40 ms
    assert {key: each.huge for key, each in sites.items()} == {
        "a": True, "b": True, "c": False,
        "d": False,  # it has 1 MiB
        "e": False,  # in two tiers
    }  # fmt: skip
    assert sites["a"].saved_share == pytest.approx(0.1)
    assert (sites["a"].small_misses, sites["a"].large_misses) == (1000, 10)
    marked = huge.marked(PLAN, sites)
    assert [each.huge for each in marked.sites] == [True, True, False, False, False]


@pytest.mark.skipif(not traces.tool().exists(), reason="the simulator is not built")
def test_plan_marks_the_site_whose_pages_are_many(tmp_path: Path) -> None:
    keys = ["a.out!table@a.c:1", "a.out!buffer@a.c:2"]
    rng = random.Random(3)
    refs = []
    for _ in range(20_000):
        refs.append(Ref((1 << 32) + 4096 * rng.randrange(16384), owner=0))
        refs.append(Ref((2 << 32) + 8 * rng.randrange(4096), owner=1))
    write(tmp_path / "t", [refs], keys)
    table = profile_table([site(keys[0], 1 << 22, 64 * MIB), site(keys[1], 1 << 16, 3 * MIB)])
    (tmp_path / "p").write_text(json.dumps(table))
    words = ("plan", "p", "--machine", "xeon-max-9480", "--capacity", "50%", "--huge")
    assert "give --trace" in fails(tmp_path, 2, *words)
    found = answer(ok(tmp_path, *words, "--trace", "t", "-o", "x.plan", "--json"))
    by_key = {row["key"]: row for row in found["huge"]}
    assert by_key[keys[0]]["small_misses"] > 10_000
    assert by_key[keys[0]]["large_misses"] < 100
    plan = model.load(tmp_path / "x.plan")
    assert {each.key: each.huge for each in plan.sites} == {keys[0]: True, keys[1]: False}
    shown = ok(tmp_path, *words, "--trace", "t", "-o", "y.plan")
    assert "1 sites are marked huge" in shown


def test_a_report_tells_huge_pages_or_that_none_were_asked_for(tmp_path: Path) -> None:
    text: dict[str, Any] = {
        "format": "thermocline-run", "version": 1, "pid": 1, "peak_resident_bytes": 1, "tiers": [],
    }  # fmt: skip
    (tmp_path / "report.1.json").write_text(json.dumps(text))
    text["huge"] = {"resident_bytes": 4096, "huge_page_bytes": 0}
    (tmp_path / "report.2.json").write_text(json.dumps({**text, "pid": 2}))
    reports, complaints = report.gather(tmp_path)
    assert complaints == []
    assert [each.huge and each.huge.resident_bytes for each in reports] == [None, 4096]
