"""`thermocline reproduce ryoo` on tiny traces: each item from its simulations to its tables."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from thermocline.errors import ThermoclineError
from thermocline.executors import Piece
from thermocline.machine import store
from thermocline.measuring.paired import Command
from thermocline.measuring.real_programs import REAL_PROGRAMS
from thermocline.profiles.model import parse
from thermocline.reproduce import artefacts, papers, real, tail, workloads
from thermocline.reproduce.item import Item
from thermocline.reproduce.ryoo import (
    common,
    fig58,
    granularity,
    guided,
    migrated,
    mixes,
    paper,
    programs,
    real_moves,
    translated,
    win_map,
)
from thermocline.reproduce.ryoo.mixes import CONTEXT, Mix, MixSize, MixStudy
from thermocline.reproduce.workloads import Job, Prepared
from thermocline.simulation import runner

from .conftest import profile_table, site
from .test_cli import call, fails
from .test_organisations import hot_trace
from .test_translation import trace

RYOO = papers()["ryoo"]
REFERENCES = 6000
# Of chapter 6's programs: those that items ask for by name.
MOVED = {
    "stream-moved": "stream",
    "lookups-moved": "xsbench",
    "graph-moved": "graph500",
    "hydro-moved": "lulesh",
    "vcycle-moved": "mg",
}


def prepared(mix: Mix, path: Path, study: MixStudy) -> Prepared:
    """As if a program had been recorded."""
    survey = runner.survey(path)
    job = Job(mix.program, (), CONTEXT, study.machines[mix.chapter], REFERENCES, name=mix.name)
    half = int(survey["references"]) // 2
    first = 2000 if mix.chapter == 6 else 0  # touches of all pages
    recorded = tail.Recorded(references=2 * half, kept_before=first, region=2 * half - first)
    sites = [site("a.out!hot@a.c:1", 64 * REFERENCES, 2048 * 4096), site("(stack)", 0, 4096)]
    profile = parse(json.dumps(profile_table(sites)), path.name)
    return Prepared(job, path, profile, path, path.name, survey, recorded, 0, 0, 0)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> MixStudy:
    """A mix of each chapter, two copies."""
    folder = tmp_path_factory.mktemp("ryoo")
    all_ = [
        Mix("hot", "mcf", (), chapter=5, name="hot", region=REFERENCES),
        Mix("pages", "gups", (), chapter=7, name="pages", region=REFERENCES),
    ]
    all_ += [Mix(name, stands_for, (), chapter=6, name=name) for name, stands_for in MOVED.items()]
    # Near memory of 4 MiB, for half of what is touched.
    size = MixSize(
        divisor=32, region=0, copies=2, near_divisor=100, time_divisor=1000, seconds=0.001
    )
    machines = {5: store.find("ryoo-hbm-ddr3"), 7: store.find("ryoo-skylake")}
    made = MixStudy({**machines, 6: migrated.machine(size)}, all_, size)
    paths = {"hot": hot_trace(folder / "hot", REFERENCES), "pages": trace(folder / "pages", 2000)}
    for mix in all_:
        path = paths.get(mix.name, paths["pages"])
        made._prepared[mix.name, CONTEXT] = prepared(mix, path, made)
    return made


class Here:
    """An executor that starts no processes of its own."""

    def run(self, pieces: Sequence[Piece], done: Callable[[int], None]) -> list[Any]:
        """One after the other."""
        return [piece.call() for piece in pieces]


@pytest.fixture
def cached(study: MixStudy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulations go where the tests end, and are shared by them."""
    folder = study.mix(study.mixes["hot"]).trace.parent
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))


@pytest.mark.usefixtures("cached")
@pytest.mark.parametrize("item", RYOO.items, ids=lambda item: str(item.name))
def test_each_item_makes_its_tables(item: Item, study: MixStudy, tmp_path: Path) -> None:
    study.simulate(item.runs(study), Here(), lambda *_: None)
    result = item.result(study)
    assert item.chapter in (5, 6, 7)
    assert result.tables
    for table in result.tables:
        assert table.rows
        assert all(len(row) == len(table.columns) for row in table.rows)
    artefacts.write(tmp_path, item.name, result)
    data = json.loads((tmp_path / f"{item.name}.json").read_text())
    assert len(data["claims"]) == len(result.claims)


@pytest.mark.usefixtures("cached")
def test_a_mix_is_copies_on_a_part_of_the_machine(study: MixStudy) -> None:
    mix = study.mixes["hot"]
    made = study.configuration(common.run(mix, "silc-fm"))
    touched = 2 * int(study.mix(mix).survey["touched_bytes"])
    assert len(made["traces"]) == 2 and made["threads"] == [1, 1]
    assert made["cpu"]["cores"] == 2
    # An eighth of the last cache's 8 MiB / 32.
    assert made["caches"][-1]["bytes"] == 2**23 // 32 // 8
    assert not made["prefetcher"]["on"]
    near = made["tiers"][0]["nodes"][0]["bytes"]
    assert 0.19 * touched < near <= 0.2 * touched
    half = mixes.MixRun("hot", CONTEXT, "all-slow", first_half=True)
    assert study.configuration(half)["budget"] == REFERENCES // 2


@pytest.mark.usefixtures("cached")
def test_a_moved_program_has_the_whole_machine_and_little_near_memory(study: MixStudy) -> None:
    mix = study.mixes["stream-moved"]
    made = study.configuration(migrated.run(study, mix, "sampling:ratio=4"))
    assert made["placement"]["policy"] == "sampling" and made["placement"]["ratio"] == 4
    assert made["placement"]["sample_ps"] == 10_000_000
    assert made["tiers"][0]["nodes"][0]["bytes"] == 2**22
    assert made["cpu"]["cores"] == 4 and made["limit_ps"] == 1_000_000_000
    added = made["placement"]["far_ps"]
    slow = study.configuration(migrated.run(study, mix, "4K", far=8.0))
    assert slow["placement"]["far_ps"] == 7 * added // 2
    near = study.configuration(migrated.all_near(mix))
    assert near["placement"] == {"name": "one-tier", "tier": 0} and "limit_ps" not in near


@pytest.mark.usefixtures("cached")
def test_a_slowdown_is_over_the_same_references(study: MixStudy) -> None:
    mix = study.mixes["stream-moved"]
    runs = migrated.runs(study, [mix], ("4K", "2M"))
    study.simulate(runs, Here(), lambda *_: None)
    found = migrated.slowdowns(study, [mix], ("4K", "2M"))[mix.name]
    assert found["4K"].faults > 50
    # Pages in any order: what comes with them is of no use.
    assert 1 < found["4K"].slowdown < found["2M"].slowdown
    assert found["2M"].covered < found["4K"].covered <= 1
    answer = {"timeline": [[100, 1.0], [300, 2.0]], "references": 400, "seconds": 4.0}
    assert migrated._at(answer, 0) == 0
    assert migrated._at(answer, 200) == pytest.approx(1.5)
    assert migrated._at(answer, 350) == pytest.approx(3.0)
    assert migrated._at(answer, 500) == 4.0


def test_a_preference_is_none_where_all_are_alike() -> None:
    def found(*times: float) -> dict[str, migrated.Measured]:
        return {
            policy: migrated.Measured(time, 1.0, 1, 0, {}, 0)
            for policy, time in zip(migrated.FIXED, times, strict=True)
        }

    assert migrated.preference(found(1.0, 1.01, 1.04)) == "none"
    assert migrated.preference(found(1.2, 1.1, 1.4)) == "64K"
    several = {"a": found(1, 2, 3), "b": found(2, 1, 3), "c": found(9, 1, 3)}
    assert granularity.fixed_by_others(several, "c") == "4K"
    assert granularity.fixed_by_others(several, "a") == "64K"


def test_thresholds_are_fitted_to_the_other_programs() -> None:
    def found(**behind: float) -> dict[str, migrated.Measured]:
        times = dict.fromkeys((*migrated.FIXED, *granularity.THRESHOLDS), 1.5)
        times |= {f"adaptive:{name.replace('_', '=').replace('=gone', ':gone')}": time
                  for name, time in behind.items()}  # fmt: skip
        times["4K"] = 1.0
        return {p: migrated.Measured(time, 1.0, 1, 0, {}, 0) for p, time in times.items()}

    several = {
        "a": found(run_3_gone_4=1.0, run_6_gone_8=1.1),
        "b": found(run_3_gone_4=1.2, run_6_gone_8=1.0),
        # Far ahead of the best fixed one, which counts as not behind it.
        "c": found(run_3_gone_4=0.1, run_6_gone_8=1.0),
    }
    assert granularity.fitted(several) == "adaptive:run=6:gone=8"
    assert granularity.fitted(several, "b") == "adaptive:run=3:gone=4"
    assert granularity.fitted(several, "a") == "adaptive:run=6:gone=8"
    assert migrated.OURS in granularity.THRESHOLDS  # what ships is one of them
    assert len(set(granularity.THRESHOLDS)) == 6


def test_real_runs_that_take_too_long_are_bounds() -> None:
    mix = Mix("stream", "stream", (), chapter=6, name="stream-moved")
    one = {"seconds": 3.0, "ended": False}
    found = {mix.name: {"plain": 2.0, **dict.fromkeys(migrated.POLICIES, one)}}
    found[mix.name]["2M"] = {"seconds": 4.0, "ended": True}
    table = real_moves.table([mix], {"found": found})
    assert table.rows[0][1] == "1.5" and table.rows[0][3] == "> 2.0"
    assert real_moves.table([mix], {"found": {}}).rows[0][1:] == ("-",) * len(migrated.POLICIES)


@pytest.mark.usefixtures("cached")
def test_a_copy_is_planned_for_its_part_of_near_memory(study: MixStudy) -> None:
    mix = study.mixes["hot"]
    run = guided._run(mix, "guided*silc-fm")
    made = study.configuration(run)
    assert made["placement"]["name"] == "guided"
    assert made["organisation"]["name"] == "silc-fm"
    assert "a.out!hot@a.c:1" in made["placement"]["sites"]
    plain = study.configuration(guided._run(mix, "silc-fm"))
    assert plain["placement"]["name"] == "random"
    assert plain["tiers"] == made["tiers"]


@pytest.mark.usefixtures("cached")
def test_near_bandwidth_is_of_near_memory_alone(study: MixStudy) -> None:
    mix = study.mixes["hot"]
    plain, half, double = (
        study.configuration(win_map._run(mix, "silc-fm", ("1/4", factor))) for factor in (1, 0.5, 2)
    )
    assert plain == study.configuration(common.run(mix, "silc-fm"))
    channels = [made["memories"][0]["channels"] for made in (half, plain, double)]
    bursts = [made["memories"][0]["dram"]["burst_cycles"] for made in (half, plain, double)]
    rates = [each / cycles for each, cycles in zip(channels, bursts, strict=True)]
    assert rates[1] == 2 * rates[0] and rates[2] == 2 * rates[1]
    assert half["memories"][1] == plain["memories"][1] == double["memories"][1]
    splits = [made["organisation"]["split"] for made in (half, plain, double)]
    assert splits == pytest.approx([2 / 3, 4 / 5, 8 / 9])


def test_the_map_names_who_is_as_fast() -> None:
    assert win_map.winners({"nothing": 1.0, "random": 1.2, "hma": 1.195, "pom": 1.1}) == (
        "random",
        "hma",
    )
    assert win_map.winners({"nothing": 1.0, "random": 0.9, "hma": 0.8}) == ("nothing",)
    blocks = [{"bytes": 64, "misses": 32}, {"bytes": 2048, "misses": 8}]
    assert win_map.locality([*blocks, {"bytes": 4096, "misses": 5}]) == 4


def test_shares_are_of_near_and_far_together() -> None:
    for ratio, share in common.SHARES.items():
        near, far = map(int, ratio.split("/"))
        assert float(share.removesuffix("%")) / 100 == pytest.approx(near / (near + far), 1e-5)


def test_groups_go_by_the_thesis_limits(study: MixStudy) -> None:
    def answer(misses: int) -> dict[str, Any]:
        return {"lines_found": [0, misses], "instructions": 1000}

    mix = study.mixes["hot"]
    for misses, group in ((5, "low"), (20, "medium"), (40, "high")):
        study._answers[common.baseline(mix)] = answer(misses)
        assert common.group(study, mix) == group
        assert list(common.grouped(study, [mix])) == [group, "all"]
    del study._answers[common.baseline(mix)]


@pytest.mark.usefixtures("cached")
def test_a_real_program_that_cannot_be_had_is_left_out_and_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hot = Mix("hot", "mcf", (), chapter=5, name="hot", region=REFERENCES)
    there = Mix("gawk", "", ("1",), chapter=5, name="gawk", region=REFERENCES, real=True)
    gone = replace(there, program="lua", name="lua")
    idle = replace(there, program="ninja", name="ninja", extra=True)
    lost = replace(there, program="mujs", name="mujs")
    machine = store.find("ryoo-hbm-ddr3")
    study = MixStudy({5: machine}, [hot, there, gone, lost, idle], MixSize(32, 0))
    why = {"lua": "no network", "mujs": "no network"}
    monkeypatch.setattr(real, "trouble", lambda name: why.get(name, ""))
    assert study.of_chapter(5) == [hot, there] and study.extras(5) == [idle]
    assert common.without(study)[0].endswith("installs): lua, mujs: no network")
    path = hot_trace(tmp_path / "t", REFERENCES)
    for mix in (hot, there, idle):
        study._prepared[mix.name, CONTEXT] = prepared(mix, path, study)
    item = RYOO.item("table5.3")
    assert item is not None
    study.simulate(item.runs(study), Here(), lambda *_: None)
    result = item.result(study)
    assert [row[0] for row in result.tables[0].rows] == ["hot", "gawk", "ninja"]
    assert [row[1] == "left out" for row in result.tables[0].rows] == [False, False, True]
    assert sum("ninja is in no other item" in note for note in result.notes) == 1
    assert common.without(study)[0] in result.notes


def test_a_real_program_s_job_is_of_the_size_asked_for() -> None:
    for program in REAL_PROGRAMS.values():
        job = [part.format(*program.size, jobs="J", inputs="I") for part in program.job]
        other = [part.format("7", "8", jobs="J", inputs="I") for part in program.job]
        assert job != other or "I" in job
    for mix in programs.mixes(full=False):
        if mix.real:
            assert len(mix.arguments) == len(REAL_PROGRAMS[mix.program].size)


def test_a_recorded_program_gets_its_input(tmp_path: Path) -> None:
    (tmp_path / "input").write_text("rows and rows")
    machine = store.find("ryoo-hbm-ddr3")
    command = Command(("sh", "-c", "cat >&2; exit 3"), stdin=tmp_path / "input")
    with pytest.raises(ThermoclineError, match="profiling sh failed: rows and rows"):
        workloads.profile(command, machine, ["sampler trace"], tmp_path)
    copy = ["sh", "-c", f"cat >{tmp_path}/copy"]
    with pytest.raises(ThermoclineError, match="without a recording"):
        tail.record(copy, machine, 0, tmp_path / "trace", stdin=tmp_path / "input")
    assert (tmp_path / "copy").read_text() == "rows and rows"


def test_fig58_compares_with_the_best_rival() -> None:
    means = dict.fromkeys(fig58.BARS, 1.0) | {"cameo-p": 1.67, common.SILC: 2.04, "cameo": 1.5}
    found = fig58.claims(means)
    assert found[0].holds and "+22.2 % against CAMEO-P" in found[0].ours
    assert not found[1].holds  # HMA is as fast as Random
    assert found[2].holds
    assert not fig58.claims(means | {common.SILC: 1.7})[0].holds


def test_the_second_half_is_the_difference() -> None:
    whole = {"a": [5, 7, 3], "b": {"c": 2.5}, "name": "x"}
    half = {"a": [1, 2], "b": {"c": 1.0}, "name": "x"}
    assert translated._less(whole, half) == {"a": [4, 5, 3], "b": {"c": 1.5}, "name": "x"}


def test_the_thesis_tables_are_whole() -> None:
    assert len(paper.TABLE53) == 14
    assert {row.group for row in paper.TABLE53.values()} == set(paper.GROUPS)
    for row in paper.TABLE53.values():
        low, high = row.mpki < paper.LOW_BELOW, row.mpki > paper.HIGH_ABOVE
        assert row.group == ("low" if low else "high" if high else "medium")


def test_chapters_by_name(tmp_path: Path) -> None:
    done = call(tmp_path, "reproduce", "ryoo", "table5.2", "--json")
    assert "table5.2" in json.loads(done.stdout)["ryoo"]
    said = fails(tmp_path, 2, "reproduce", "ryoo", "--chapter", "3")
    assert "no chapter 3: there are 5, 6, 7" in said
    assert "name the paper" in fails(tmp_path, 2, "reproduce", "--chapter", "5")
