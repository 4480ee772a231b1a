"""The MemBrain evaluation end to end, with two workloads at a size of seconds."""

import json
from pathlib import Path

import pytest
from test_loop import call

from thermocline.executors.local import Pool
from thermocline.machine import store
from thermocline.planning import model
from thermocline.planning.model import PlannedSite
from thermocline.reproduce import artefacts, membrain
from thermocline.reproduce.membrain import common, fig5, paper, table2
from thermocline.reproduce.study import Run, Size, Study, Workload
from thermocline.simulation import config, runner, scheme

WORKLOADS = (
    Workload("filters", "imagick", ("200",), timed_divisor=4096),
    Workload("hydro", "lulesh", ("8", "2"), timed_divisor=4096),
)


def ignore(*_: object) -> None:
    """No progress."""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Prepared and simulated."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        size = Size(4096, 1_000_000, rounds=2)
        made = Study(store.find("knl-7230"), WORKLOADS, size)
        made.prepare(membrain.PAPER.contexts, Pool(2), ignore)
        runs = [run for item in membrain.PAPER.items for run in item.runs(made)]
        made.simulate(runs, Pool(2), ignore)
        made.measure(membrain.PAPER.items, ignore)
        return made


def test_every_item_has_its_result(study: Study, tmp_path: Path) -> None:
    for item in membrain.PAPER.items:
        result = item.result(study)
        assert result.tables[0].rows
        if item.name != "fig5":  # whose claims are about what few hosts can do
            assert result.claims
        artefacts.write(tmp_path, item.name, result)
    artefacts.write_inputs(tmp_path, study)
    names = {path.name for path in tmp_path.iterdir()}
    assert {"table1.json", "fig4.png", "fig8.svg", "filters-4.trace", "filters-0.profile"} <= names
    assert not (tmp_path / "table1.png").exists()
    assert store.find(str(tmp_path / "knl-7230-4096th.toml")).cache[-1].bytes.value == 8192


def test_runs_on_the_clock_are_of_all_variants(study: Study) -> None:
    rows = study.measurements["table2"]
    assert [row.program for row in rows] == ["filters", "hydro"]
    for row in rows:
        assert row.allocations > 0
        assert row.ratios.keys() == table2.BASES.keys()
    for series in study.measurements["fig5"].values():
        assert {fig5.PLAIN, fig5.HEAP, "bursts"} <= series.samples.keys()
        assert all(len(taken) == 2 for taken in series.samples.values())


def test_methods_differ_in_traffic_and_in_nothing_else(study: Study) -> None:
    exact = study.profile("hydro", 4, "exact")
    for name in ("sample:512", "mbi", "pages", "bursts"):
        found = study.profile("hydro", 4, name)
        assert [site.bytes for site in found.heap] == [site.bytes for site in exact.heap]
        assert sum(site.traffic_bytes for site in found.heap) > 0, name
    mbi = study.profile("hydro", 4, "mbi")
    assert mbi.traffic_bytes == pytest.approx(exact.traffic_bytes, rel=0.5)


def test_a_run_with_one_site_on_a_tier_counts_that_site_s_bytes(study: Study) -> None:
    """What `guidance.isolated` takes from one simulation, and a run a site would count."""
    run = common.guided(WORKLOADS[1], 4, 2**30, "thermos")
    plan = study.plan(run)
    target = max(plan.sites, key=lambda site: site.traffic_bytes).key
    alone = plan.model_copy(
        update={
            "default_tier": 0,
            "sites": [PlannedSite(tier=1, key=target, reason="isolated")],
        }
    )
    prepared = study.prepared("hydro", 4)
    touched = int(prepared.survey["touched_bytes"])
    setting = config.Setting(study.machine, 1, touched)
    guided = scheme.parse("membrain")
    configured = config.configure(setting, prepared.trace, guided, alone).json
    (answer,) = runner.run_all([configured], ignore)
    slow = answer["tiers"][1]
    (site,) = (each for each in study.profile("hydro", 4, "mbi").heap if each.key == target)
    assert slow["read_bytes"] == pytest.approx(site.read_bytes, rel=0.02)
    assert slow["write_bytes"] == pytest.approx(site.write_bytes, rel=0.02)


def test_a_plan_says_which_sites_suit_a_cache(study: Study, tmp_path: Path) -> None:
    artefacts.write_inputs(tmp_path, study)
    done = call(
        *("thermocline", "plan", "hydro-4.profile", "--machine", "knl-7230-4096th.toml"),
        *("--trace", "hydro-4.trace", "-o", "hydro.plan", "--json"),
        cwd=tmp_path,
    )
    found = {each["key"]: each["suits"] for each in json.loads(done.stdout)["suits"]}
    assert set(found.values()) <= {"cache", "placement", "either"}
    assert len(set(found.values())) > 1
    plan = model.load(tmp_path / "hydro.plan")
    assert {site.suits for site in plan.sites if site.key in found} <= set(found.values())
    call("thermocline", "run", "--plan", "hydro.plan", "--", "true", cwd=tmp_path)
    other = call(
        *("thermocline", "plan", "hydro-4.profile", "--machine", "knl-7230-4096th.toml"),
        *("--trace", "filters-4.trace", "-o", "other.plan"),
        cwd=tmp_path,
        status=2,
    )
    assert "none of the plan's sites" in other.stderr


def test_context_tells_more_sites(study: Study) -> None:
    plain, context = (study.prepared("filters", n) for n in paper.CONTEXTS)
    assert plain.reached == 1  # one routine allocates all
    assert context.reached > 10
    assert context.metric == "pixels/s"


def test_the_trace_touches_every_page_and_ends_in_full(study: Study) -> None:
    for workload in WORKLOADS:
        prepared = study.prepared(workload.program, 4)
        survey = runner.survey(prepared.trace)
        recorded = prepared.recorded
        assert survey["references"] == recorded.kept_before + recorded.region
        # The profile samples residency; libraries' own buffers are in neither.
        assert survey["touched_bytes"] >= 0.8 * prepared.profile.peak_resident_bytes
    assert study.prepared("filters", 4).region_share < 1


def test_limits_cost_time_and_plans_help(study: Study) -> None:
    for workload in WORKLOADS:
        fast = study.answer(common.all_fast(workload, 4))
        slow = study.answer(Run(workload.program, 4, "all-slow"))
        near = study.near_bytes(workload.program, 4, "25%")
        touch = study.answer(common.guided(workload, 4, near, "first-touch"))
        assert fast["seconds"] < touch["seconds"] < slow["seconds"]
        assert touch["tiers"][0]["resident_bytes"] <= near
