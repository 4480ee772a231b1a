"""`thermocline simulate`, with the native simulator and traces written here."""

import json
import random
import resource
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from thermocline import paths
from thermocline.errors import Misuse
from thermocline.machine import store
from thermocline.planning.model import Plan
from thermocline.simulation import config, runner, scale, scheme

from .raw_trace import Ref, write
from .test_cli import KNL, answer, call, fails, ok

STREAM, RANDOM = "a.out!stream@a.c:1", "a.out!random@a.c:2"


def trace(path: Path, threads: int = 1, count: int = 6000) -> Path:
    """A stream of one site, random places of another, in equal parts."""
    streams = []
    for thread in range(threads):
        rng = random.Random(thread)
        base = thread << 32
        refs = []
        for i in range(count):
            if i % 2:
                refs.append(Ref(base + (1 << 28) + 64 * i, 0, gap=2))
            else:
                refs.append(Ref(base + (1 << 30) + 64 * rng.randrange(1 << 14), 1, i % 4 == 0))
        streams.append(refs)
    return write(path, streams, [STREAM, RANDOM, "(stack)"])


def plan(path: Path, fast: str, strategy: str = "thermos") -> Path:
    path.write_text(
        f'format = 1\nstrategy = "{strategy}"\nmachine = "knl-7230"\ndefault_tier = 1\n'
        f'sites = [{{tier = 0, key = "{fast}"}}]\n'
    )
    return path


def rows(text: str) -> dict[str, dict[str, Any]]:
    return {row["scheme"]: row for row in answer(text)["rows"]}


def traffic(row: dict[str, Any]) -> int:
    return sum(t["read_bytes"] + t["write_bytes"] for t in row["result"]["tiers"])


def test_schemes_side_by_side(tmp_path: Path) -> None:
    trace(tmp_path / "t")
    plan(tmp_path / "p.plan", RANDOM)
    done = call(
        tmp_path, "simulate", "t", *KNL, "--plan", "p.plan", "--capacity", "40%",
        "--scheme", "first-touch,membrain,all-fast,all-slow,knl-cache,alloy,random",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "vs first-touch" in lines[0]
    assert [line.split()[1] for line in lines[2:9]] == [
        "first-touch", "membrain", "all-fast", "all-slow", "knl-cache", "alloy", "random",
    ]  # fmt: skip
    assert "1 of knl-7230's 64 cores" in done.stderr
    assert "next: thermocline run --plan p.plan -- ./a.out" in done.stderr


def test_a_split_site_is_in_both_tiers(tmp_path: Path) -> None:
    trace(tmp_path / "t")
    (tmp_path / "p.plan").write_text(
        'format = 1\nstrategy = "fastest"\nmachine = "knl-7230"\ndefault_tier = 1\n'
        f'sites = [{{tier = 1, shares = [0.25, 0.75], key = "{RANDOM}"}}]\n'
    )
    found = rows(
        ok(
            tmp_path, "simulate", "t", *KNL, "--plan", "p.plan", "--no-prefetcher", "--json",
            "--scheme", "first-touch,membrain",
        )
    )["membrain"]  # fmt: skip
    sites = {site["key"]: site for site in found["result"]["sites"]}
    near, far = (tier["read_bytes"] for tier in sites[RANDOM]["tiers"])
    # 256 pages, by lot: dealt evenly, traffic follows the share.
    assert 0.2 < near / (near + far) < 0.3
    assert sites[STREAM]["tiers"][0]["read_bytes"] == 0


def test_traffic_goes_where_the_scheme_says(tmp_path: Path) -> None:
    trace(tmp_path / "t")
    plan(tmp_path / "p.plan", RANDOM)
    found = rows(
        ok(
            tmp_path, "simulate", "t", *KNL, "--plan", "p.plan", "--no-prefetcher", "--json",
            "--scheme", "first-touch,membrain,all-fast,all-slow,knl-cache",
        )
    )  # fmt: skip
    assert found["all-fast"]["near_share"] == 1
    assert found["all-slow"]["near_share"] == 0
    # Flat organisations move the same bytes; a cache moves more.
    flat = {traffic(found[name]) for name in ("first-touch", "membrain", "all-fast", "all-slow")}
    assert len(flat) == 1
    assert traffic(found["knl-cache"]) > flat.pop()
    sites = {site["key"]: site for site in found["membrain"]["result"]["sites"]}
    assert sites[RANDOM]["tiers"][1]["read_bytes"] == 0
    assert sites[STREAM]["tiers"][0]["read_bytes"] == 0
    assert sites[STREAM]["tiers"][1]["read_bytes"] == 3000 * 64
    # Stalls and energy are of this run and no other.
    result = found["membrain"]["result"]
    stalled = sum(site["stall_seconds"] for site in result["sites"])
    assert 0 < stalled < result["seconds"]
    energy = result["energy"]
    assert energy["joules"] == pytest.approx(energy["memory_joules"] + energy["core_joules"])
    assert energy["energy_delay"] == pytest.approx(energy["joules"] * result["seconds"])
    assert energy["memory_joules"] == pytest.approx(
        sum(tier["energy_joules"] for tier in result["tiers"])
    )


def test_runs_repeat_exactly_and_seeds_differ(tmp_path: Path) -> None:
    trace(tmp_path / "t", threads=2)

    def once(seed: str, jobs: str) -> dict[str, Any]:
        text = ok(
            tmp_path, "simulate", "t", *KNL, "--capacity", "50%", "--json",
            "--scheme", "random,first-touch", "--seed", seed, "--jobs", jobs,
        )  # fmt: skip
        found: dict[str, Any] = rows(text)["random"]["result"]
        del found["host_seconds"]
        return found

    first = once("1", "1")
    assert first == once("1", "2")
    assert first != once("2", "2")


def test_capacities_and_plans_multiply(tmp_path: Path) -> None:
    trace(tmp_path / "t")
    plan(tmp_path / "a.plan", RANDOM, "thermos")
    plan(tmp_path / "b.plan", STREAM, "hotset")
    text = ok(
        tmp_path, "simulate", "t", *KNL, "--plan", "a.plan", "--plan", "b.plan", "--json",
        "--capacity", "20%,60%", "--scheme", "first-touch,membrain", "--baseline", "first-touch",
    )  # fmt: skip
    found = answer(text)["rows"]
    assert [(row["capacity"], row["scheme"]) for row in found] == [
        (capacity, name)
        for capacity in ("20%", "60%")
        for name in ("first-touch", "membrain[thermos]", "membrain[hotset]")
    ]
    assert [row["speedup"] for row in found if row["scheme"] == "first-touch"] == [1, 1]
    resident = [row["result"]["tiers"][0]["resident_bytes"] for row in found]
    assert resident[0] < resident[3]


def test_screening_says_so(tmp_path: Path) -> None:
    trace(tmp_path / "t")
    schemes = ("--scheme", "first-touch,all-slow")
    done = call(tmp_path, "simulate", "t", *KNL, *schemes, "--fidelity", "screening")
    assert done.returncode == 0, done.stderr
    assert "screening fidelity" in done.stderr
    assert done.stderr.count("off faithful timing, on 3 windows") == 2
    text = ok(tmp_path, "simulate", "t", *KNL, *schemes, "--fidelity", "screening", "--json")
    errors = [row["screening_error"] for row in rows(text).values()]
    assert all(-0.5 < error < 0.5 and error != 0 for error in errors)
    faithful = ok(tmp_path, "simulate", "t", *KNL, *schemes, "--json")
    assert [row["screening_error"] for row in rows(faithful).values()] == [None, None]


def test_a_budget_stops_early(tmp_path: Path) -> None:
    trace(tmp_path / "t")
    found = rows(ok(tmp_path, "simulate", "t", *KNL, "--budget", "1000", "--json"))
    assert found["first-touch"]["result"]["references"] == 1000
    assert any("budget" in note for note in found["first-touch"]["result"]["notes"])


def test_complaints_are_one_line(tmp_path: Path) -> None:
    trace(tmp_path / "t")
    plan(tmp_path / "p.plan", RANDOM)
    plan(tmp_path / "other.plan", "b.out!main@b.c:9")
    assert "did you mean first-touch" in fails(
        tmp_path, 2, "simulate", "t", *KNL, "--scheme", "frist-touch"
    )
    assert "no option" in fails(
        tmp_path, 2, "simulate", "t", *KNL, "--scheme", "first-touch*flat:share=1"
    )
    assert "needs a plan" in fails(tmp_path, 2, "simulate", "t", *KNL, "--scheme", "membrain")
    assert "another program" in fails(
        tmp_path, 2, "simulate", "t", *KNL, "--scheme", "membrain", "--plan", "other.plan"
    )
    assert "no scheme is guided" in fails(tmp_path, 2, "simulate", "t", *KNL, "--plan", "p.plan")
    assert "--baseline" in fails(tmp_path, 2, "simulate", "t", *KNL, "--baseline", "alloy")
    assert "organisation.share" in fails(
        tmp_path, 1, "simulate", "t", *KNL, "--scheme", "first-touch*memory-cache:share=2"
    )
    (tmp_path / "foreign").write_bytes(b"\x7fELF" + bytes(5000))
    assert "foreign" in fails(tmp_path, 1, "simulate", "foreign", *KNL)
    assert "no-such" in fails(tmp_path, 1, "simulate", "no-such", *KNL)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("thermocline")]


def test_a_cut_off_trace_is_read_to_its_last_chunk(tmp_path: Path) -> None:
    whole = trace(tmp_path / "t", count=20_000).read_bytes()
    (tmp_path / "cut").write_bytes(whole[: len(whole) // 2])
    done = call(tmp_path, "simulate", "cut", *KNL)
    assert done.returncode == 0, done.stderr
    assert "cut off" in done.stderr


def test_a_live_stream_gives_what_its_file_gives(tmp_path: Path) -> None:
    path = trace(tmp_path / "t", threads=2)
    setting = config.Setting(store.find("knl-7230"), 2, 1 << 20)
    live = config.configure(setting, Path("-"), scheme.parse("membrain"), Plan(strategy="x")).json
    (tmp_path / "config").write_text(json.dumps(live))
    program = paths.library("thermocline-simulator")
    with path.open("rb") as stream:
        done = subprocess.run(
            [program, tmp_path / "config"], stdin=stream, capture_output=True, check=True
        )
    filed = runner.run_all([{**live, "trace": str(path)}], lambda number, references: None)[0]
    streamed = json.loads(done.stdout)
    del filed["host_seconds"], streamed["host_seconds"]
    assert streamed == filed


def test_bad_configurations_name_the_field(tmp_path: Path) -> None:
    path = trace(tmp_path / "t")
    setting = config.Setting(store.find("knl-7230"), 1, 1 << 20)
    good = config.configure(setting, path, scheme.parse("first-touch"), None).json
    for field, value, said in (
        ("cpu", {**good["cpu"], "width": 0}, "cpu.width"),
        ("caches", [], "caches"),
        ("seed", "one", "seed"),
        ("unheard", 1, "unheard is not known"),
        ("placement", {"name": "guided", "default_tier": 5}, "tier 5"),
        ("organisation", {"name": "round"}, "no organisation 'round'"),
        ("organisation", {"name": "pom", "ways": 1}, "organisation.ways is not known: pom takes"),
        ("organisation", {"name": "flat", "ways": 1}, "flat takes no options"),
        ("placement", {"name": "hma", "epochs": 1}, "placement.epochs is not known: hma takes ep"),
        ("placement", {"name": "first-touch", "tire": 1}, "placement.tire is not known"),
        ("memories", [{"name": "x"}], "x"),
    ):
        with pytest.raises(Exception, match=said):
            runner.run_all([{**good, field: value}], lambda number, references: None)


def _leaves(json_value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(json_value, dict):
        return [leaf for key in json_value for leaf in _leaves(json_value[key], (*path, key))]
    if isinstance(json_value, list):
        return [leaf for i, each in enumerate(json_value) for leaf in _leaves(each, (*path, i))]
    return [path]


def test_a_damaged_configuration_is_one_line_or_runs(tmp_path: Path) -> None:
    path = trace(tmp_path / "t", count=500)
    setting = config.Setting(store.find("optane-8260l"), 1, 1 << 20, near_bytes=1 << 18)
    good = config.configure(setting, path, scheme.parse("knl-cache"), None).json
    leaves = _leaves(good)
    rng = random.Random(11)
    refused = 0
    for _ in range(120):
        bad = json.loads(json.dumps(good))
        *way, last = rng.choice(leaves)
        place = bad
        for key in way:
            place = place[key]
        place[last] = rng.choice([0, 1, -1, 3, 1e30, 0.5, "x", None, [], {}, 2**63, 2**40, True])
        (tmp_path / "config").write_text(json.dumps(bad))
        done = subprocess.run(
            [paths.library("thermocline-simulator"), tmp_path / "config"],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (2**32, 2**32)),
        )
        assert done.returncode in (0, 1), (way, last, place[last], done.stderr)
        if done.returncode:
            refused += 1
            assert done.stderr.startswith("thermocline: "), done.stderr
            assert done.stderr.count("\n") == 1, done.stderr
            assert done.stdout == ""
    assert 40 < refused < 120


def test_a_machine_shrinks_to_the_threads() -> None:
    knl = store.find("knl-7230")
    half = scale.fit(knl, 32, False)
    assert (half.cores, half.factor) == (32, Fraction(1, 2))
    json = config.configure(
        config.Setting(knl, 32, 1 << 30), Path("t"), scheme.parse("first-touch"), None
    ).json
    full = config.configure(
        config.Setting(knl, 64, 1 << 30), Path("t"), scheme.parse("first-touch"), None
    ).json
    for ours, whole in zip(json["memories"], full["memories"], strict=True):
        rate = [m["channels"] / m["dram"]["burst_cycles"] for m in (ours, whole)]
        assert rate[0] / rate[1] == pytest.approx(0.5, rel=0.01)
    with pytest.raises(Misuse, match="65 threads"):
        scale.fit(knl, 65, False)


def test_a_program_that_sleeps_in_near_memory_is_faster_where_bandwidth_counts(
    tmp_path: Path,
) -> None:
    # 32 threads that stream: MCDRAM has almost five times DDR4's bandwidth.
    streams = [[Ref((t << 32) + 64 * i, 0, gap=0) for i in range(3000)] for t in range(32)]
    write(tmp_path / "t", streams, [STREAM])
    found = rows(ok(tmp_path, "simulate", "t", *KNL, "--scheme", "all-slow,all-fast", "--json"))
    assert found["all-fast"]["speedup"] > 2
    assert json.dumps(found["all-fast"]["result"]["notes"]) == "[]"


def test_hma_moves_hot_pages_and_counts_what_it_moves(tmp_path: Path) -> None:
    rng = random.Random(5)
    # A cold sweep fills near memory; then a quarter of the pages is used, in far memory.
    refs = [Ref((1 << 30) + 4096 * page, 0) for page in range(2000)]
    refs += [
        Ref((1 << 30) + 4096 * (1400 + rng.randrange(500)) + 64 * rng.randrange(64), 1)
        for _ in range(60_000)
    ]
    write(tmp_path / "t", [refs], [STREAM, RANDOM])
    eager = "hma:epoch=200us:threshold=4:operation=100ns:shootdown=0s*flat"
    found = rows(
        ok(
            tmp_path, "simulate", "t", *KNL, "--capacity", "30%", "--json",
            "--scheme", f"first-touch,{eager},hma:start=random*flat",
        )
    )  # fmt: skip
    result = found[eager]["result"]
    migration = result["placement"]["migration"]
    assert migration["epochs"] == int(result["seconds"] / 2e-4)
    assert 400 * 2 * 4096 <= migration["moved_bytes"] <= 1000 * 2 * 4096
    tiers = [tier["by_purpose"]["migration"] for tier in result["tiers"]]
    assert sum(tier["read_bytes"] for tier in tiers) == migration["moved_bytes"]
    assert sum(tier["write_bytes"] for tier in tiers) == migration["moved_bytes"]
    demand = [tier["by_purpose"]["demand"]["read_bytes"] for tier in result["tiers"]]
    assert demand[0] > demand[1]
    assert "migration" not in found["first-touch"]["result"]["placement"]
    # 100 million cycles of 1.3 GHz against 10^9 instructions, for 4 * 62,000 of them.
    scaled = found["hma:start=random*flat"]["result"]["placement"]["migration"]
    assert scaled["epoch_seconds"] == pytest.approx(0.1 / 1.3 * 248_000 / 1e9, rel=1e-3)
    said = fails(tmp_path, 2, "simulate", "t", *KNL, "--scheme", "hma:epochs=1ms*flat")
    assert "hma has no option" in said
    said = fails(tmp_path, 1, "simulate", "t", *KNL, "--scheme", "hma:bytes=5000*flat")
    assert "power of two" in said


def test_programs_together(tmp_path: Path) -> None:
    one = trace(tmp_path / "one", count=8000)
    trace(tmp_path / "two", threads=2, count=4000)
    found = rows(
        ok(
            tmp_path, "simulate", "one+two", *KNL, "--no-prefetcher", "--alone", "--json",
            "--scheme", "first-touch,knl-cache",
        )
    )  # fmt: skip
    lone = json.loads(
        ok(tmp_path, "simulate", "one", "two", *KNL, "--no-prefetcher", "--json")
    )["rows"]  # fmt: skip
    for row in found.values():
        result = row["result"]
        programs = result["programs"]
        assert [program["threads"] for program in programs] == [[0], [1, 2]]
        assert result["seconds"] == max(program["seconds"] for program in programs)
        for number, program in enumerate(programs):
            assert program["references"] == lone[number]["result"]["references"]
            assert program["seconds"] > 0.98 * row["alone_seconds"][number]
        for tier, whole in enumerate(result["tiers"]):
            for what in ("read_bytes", "write_bytes"):
                assert sum(program["tiers"][tier][what] for program in programs) == whole[what]
        sites = [(site["program"], site["key"]) for site in result["sites"]]
        assert sites == [(0, STREAM), (0, RANDOM), (1, STREAM), (1, RANDOM)]
    # Equal addresses are different memory; the machine is as small as three threads.
    resident = sum(tier["resident_bytes"] for tier in found["first-touch"]["result"]["tiers"])
    alone = sum(t["resident_bytes"] for each in lone for t in each["result"]["tiers"])
    assert resident == alone
    assert found["first-touch"]["scale"] == 3 / 64
    shown = call(tmp_path, "simulate", "one+one", *KNL, "--alone")
    assert shown.returncode == 0, shown.stderr
    assert "slowdown" in shown.stdout
    assert "0: one" in shown.stdout and "1: one" in shown.stdout
    one.rename(tmp_path / "a+b")  # a file's own name
    named = rows(ok(tmp_path, "simulate", "a+b", *KNL, "--json"))
    assert len(named["first-touch"]["result"]["programs"]) == 1
    assert "missing" in fails(tmp_path, 1, "simulate", "two+missing", *KNL)
