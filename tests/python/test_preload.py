"""Programs that were not annotated: raw call paths, their names, and what can't be preloaded."""

import json
from pathlib import Path

import pytest

from thermocline.errors import BadFile, Misuse
from thermocline.machine import store
from thermocline.planning import planner
from thermocline.planning.capacity import parse as capacity
from thermocline.planning.model import Plan, PlannedSite, to_toml
from thermocline.planning.model import parse as parse_plan
from thermocline.profiles import preload as naming
from thermocline.profiles.model import load
from thermocline.run import config, report
from thermocline.sites import callpath, paths, symbolizer
from thermocline.sites.symbolizer import Position

from .conftest import MakeProfile, profile_table, site

KNL = store.find("knl-7230")
RAW = "@libc.so.6#00000001+0x105<prog#0000000a+0x205<prog#0000000a+0x305<libc.so.6#00000001+0x405"
OTHER = "@libc.so.6#00000001+0x505<prog#0000000a+0x205<prog#0000000a+0x305"
MODULES = {"libc.so.6#00000001": "/lib/libc.so.6", "prog#0000000a": "/tmp/prog"}
KNOWN: dict[str, dict[int, list[Position]]] = {
    "/lib/libc.so.6": {
        0x104: [Position("strdup", start=0x100)],
        0x404: [Position("__libc_start_call_main", start=0x400)],
        0x504: [Position("strndup", start=0x500)],
    },
    "/tmp/prog": {
        0x204: [
            Position("_ZN1b4growEi", "/home/x/src/../src/b.cc", 7, 3),
            Position("_ZNSt6vectorE", "/usr/include/c++/12/bits/v.h", 9, 1),
            Position("_Z3fooi", "/home/x/src/a.cc", 5, 12),
        ],
        0x304: [Position("main", "a.cc", 20)],
        0x604: [Position("stripped", start=0x600)],
    },
}


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Debug information as above."""
    monkeypatch.setattr(symbolizer, "positions", lambda path, _: KNOWN.get(path, {}))
    names = {"_ZN1b4growEi": "b::grow", "_ZNSt6vectorE": "std::vector", "_Z3fooi": "foo"}
    monkeypatch.setattr(symbolizer, "readable", lambda _: names)
    monkeypatch.setattr(symbolizer, "find", lambda *_: "/usr/bin/llvm-symbolizer")


def name(raw: str, context: int = 16) -> callpath.Named:
    return callpath.name_all([raw], MODULES, context)[raw]


def test_raw_paths() -> None:
    assert paths.parse("@a#01234567+0x1f<lib+x.so_#89abcdef+0x20") == [
        paths.Address("a", "a#01234567", 0x1F),
        paths.Address("lib+x.so_", "lib+x.so_#89abcdef", 0x20),
    ]
    for wrong in (
        "",
        "@",
        "a!f",
        "@a+0x1",
        "@a#01234567+1",
        "@a#01234567+0x1<",
        "@a b#01234567+0x1",
    ):
        assert paths.parse(wrong) == []
        assert callpath.name_all([wrong], {}) == {}


def test_a_path_reads_as_an_annotated_builds_site() -> None:
    found = name(RAW)
    assert found.key == "prog!b::grow@src/b.cc:7:3 < foo@src/a.cc:5:12 < main@a.cc:20"
    assert found.routine == "strdup"
    assert name(RAW, 1).key == "prog!b::grow@src/b.cc:7:3 < foo@src/a.cc:5:12"
    assert name(RAW, 0).key == "prog!b::grow@src/b.cc:7:3"


def test_without_debug_information_there_are_offsets() -> None:
    raw = "@prog#0000000a+0x605<prog#0000000a+0x705<lib.so#0000000b+0x9"
    assert name(raw).key == "prog!stripped+0x5 < +0x705 < lib.so!+0x9"
    assert name("@libc.so.6#00000001+0x405").key == "libc.so.6!__libc_start_call_main+0x5"


def test_a_file_is_named_and_what_reads_the_same_is_added(tmp_path: Path) -> None:
    path = tmp_path / "p.profile"
    sites = [
        site(RAW, 0, 4096, 0.5, routine="malloc", allocated_bytes=10, mean_lifetime_seconds=1.0),
        site("(stack)", 0, 8192, kind="nonheap"),
        site(OTHER, 0, 8192, 0.25, routine="malloc", allocated_bytes=5, mean_lifetime_seconds=2.0),
    ]
    sites[2]["allocations"] = 3
    for entry in sites:
        entry["series"] = {row: [1, 2] for row in ("read_bytes", "write_bytes", "resident_bytes")}
    table = profile_table(
        sites,
        series={"interval_seconds": 1.0, "count": 2},
        preload_context=4,
        modules=[{"name": key, "path": value} for key, value in MODULES.items()],
    )
    path.write_text(json.dumps(table))
    naming.name_paths(path, 4)
    profile = load(path)
    assert profile.preload_context == 4
    one, stack = profile.sites
    assert stack.key == "(stack)" and stack.paths == []
    assert one.key.startswith("prog!b::grow@") and one.paths == [RAW, OTHER]
    assert (one.allocations, one.allocated_bytes, one.peak_resident_bytes) == (4, 15, 12288)
    assert one.first_touch_seconds == 0.25
    assert one.mean_lifetime_seconds == pytest.approx(1.75)
    assert one.series.resident_bytes == [2, 4]


def test_a_damaged_profile_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "p.profile"
    for text in (
        "",
        "[]",
        "{}",
        '{"sites": 1}',
        '{"sites": [{}]}',
        '{"sites": [], "modules": [1]}',
    ):
        path.write_text(text)
        with pytest.raises(BadFile) as caught:
            naming.name_paths(path, 4)
        assert "\n" not in str(caught.value)


def test_plan_and_run_carry_the_paths(make_profile: MakeProfile) -> None:
    profiles = [
        make_profile([site("prog!f", 100, 4096, paths=[raw])], preload_context=4)
        for raw in (RAW, OTHER)
    ]
    request = planner.Request(KNL, capacity("50%"), "thermos")
    plan = parse_plan(to_toml(planner.make(profiles, request)), "plan")
    assert plan.preload_context == 4
    assert plan.sites[0].paths == [RAW, OTHER]
    setting = config.tiers_for(plan, KNL, None, None)
    text = config.for_run(Path("/r"), plan, setting, trace=False, context=4)
    assert "\npreload 4\n" in text
    tier = plan.sites[0].tier
    assert text.endswith(f"site {tier} prog!f\nsite {tier} {RAW}\nsite {tier} {OTHER}\n")
    assert "preload" not in config.for_run(Path("/r"), plan, setting, trace=False)
    mixed = [profiles[0], profiles[1].model_copy(update={"preload_context": 3})]
    with pytest.raises(Misuse, match="--context 3, 4"):
        planner.make(mixed, request)


def test_reports_are_read_in_the_plans_words() -> None:
    plan = Plan(
        strategy="thermos",
        sites=[
            PlannedSite(tier=0, key="prog!seen", paths=["@a#00000001+0x1", "@a#00000001+0x2"]),
            PlannedSite(tier=0, key="prog!gone", paths=["@a#00000001+0x3"]),
        ],
    )
    sites = {
        "planned": 5,
        "reached": 1,
        "never_came": ["prog!seen", "prog!gone", "@a#00000001+0x2", "@a#00000001+0x3"],
        "unplanned": [RAW, "lib.so!unannotated"],
    }
    raw = report.RunReport.model_validate(
        {
            "format": "thermocline-run",
            "version": 1,
            "pid": 1,
            "peak_resident_bytes": 1,
            "tiers": [],
            "sites": sites,
            "modules": [{"name": key, "path": value} for key, value in MODULES.items()],
        }
    )
    [readable] = report.with_readable_sites([raw], plan, 0)
    assert readable.sites.never_came == ["prog!gone"]
    assert (readable.sites.planned, readable.sites.reached) == (2, 1)
    assert readable.sites.unplanned == ["lib.so!unannotated", "prog!b::grow@src/b.cc:7:3"]
