"""The Python API beside the command line: the same artefacts, the same numbers, typed frames."""

import json
import logging
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pandas import DataFrame
from pandas.testing import assert_frame_equal
from typer.testing import CliRunner

import thermocline as tc
from thermocline.cli import app
from thermocline.planning import model as plans
from thermocline.run import binding

from .conftest import ROOT, profile_table, site
from .test_cli import PROGRAM

KNL = "knl-7230"
MIB = 2**20
SITES = [
    site("a!hot@a.c:3 < main@a.c:9", 900 * MIB, 10 * MIB, 0.5, loads=10**9, routine="malloc"),
    site("a!cold@a.c:5 < main@a.c:8", 50 * MIB, 80 * MIB, 0.1, loads=10**8),
    site("(stack)", 5 * MIB, 2 * MIB, kind="nonheap"),
]


def cli(*words: object) -> Any:
    """What a command prints as JSON."""
    done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def kinds(frame: DataFrame) -> dict[str, str]:
    return {str(name): str(kind) for name, kind in frame.dtypes.items()}


def agree(frame: DataFrame, rows: list[dict[str, Any]], *renamed: tuple[str, str]) -> None:
    """Every column of the frame that the rows have (or by another name) says the same."""
    names = {column: column for column in frame.columns} | dict(renamed)
    assert len(frame) == len(rows)
    compared = [column for column in frame.columns if rows and names[column] in rows[0]]
    assert compared
    for column in compared:
        for ours, row in zip(frame[column].tolist(), rows, strict=True):
            theirs = row[names[column]]
            missing = ours is None or str(ours) in ("nan", "<NA>")
            assert (theirs is None) if missing else (ours == theirs), (column, ours, theirs)


@pytest.fixture
def profiles(tmp_path: Path) -> list[Path]:
    """Of two inputs of one program."""
    made = []
    for number in (1, 2):
        table = profile_table([{**each, "stores": number} for each in SITES], pid=number)
        made.append(tmp_path / f"{number}.profile")
        made[-1].write_text(json.dumps(table))
    return made


def test_importing_it_is_quick_and_its_names_are_functions() -> None:
    code = (
        "import sys, thermocline as tc\n"
        "heavy = {'numpy', 'pandas', 'pydantic', 'typer', 'rich'} & sys.modules.keys()\n"
        "assert not heavy, heavy\n"
        "import thermocline.cli.run\n"
        "from thermocline.machine import store\n"
        "from thermocline.run import guided\n"
        "from thermocline.sites import table\n"
        "assert all(callable(getattr(tc, name)) for name in ('machine', 'run', 'sites'))\n"
        "assert tc.machine('knl-7230').name == 'knl-7230'\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert all(hasattr(tc, name) for name in tc.__all__)


def test_help_does_not_load_pandas() -> None:
    code = (
        "import sys\n"
        "from thermocline import cli\n"
        "sys.argv = ['thermocline', '--help']\n"
        "try: cli.main()\n"
        "except SystemExit: pass\n"
        "assert not {'pandas', 'numpy', 'pydantic'} & sys.modules.keys()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_every_command_has_its_function() -> None:
    names = {command.name for command in app.registered_commands}
    names |= {group.name for group in app.registered_groups}
    ours = {
        "doctor": tc.doctor, "machine": tc.machine, "sites": tc.sites, "profile": tc.profile,
        "plan": tc.plan, "export": tc.export, "run": tc.run, "trace": tc.trace,
        "simulate": tc.simulate, "migrate": tc.migrate, "translation": tc.translation,
        "report": tc.report, "reproduce": tc.reproduce, "auto": tc.auto, "top": tc.top,
        "import": tc.import_samples,
    }  # fmt: skip
    assert names == ours.keys()
    page = (ROOT / "docs" / "python.md").read_text()
    told = {"__version__", *re.findall(r"\w+", page)}
    assert set(tc.__all__) <= told


def test_machines() -> None:
    shown = cli("machine", "show", KNL, "--json")
    frame = tc.machine(KNL).frame()
    agree(frame, shown["tier"], ("nodes", "no"))
    assert frame["capacity_bytes"].tolist() == [t["capacity"]["value"] for t in shown["tier"]]
    read = frame["read_bytes_per_second"].tolist()
    assert read == [t["read_bandwidth"]["value"] for t in shown["tier"]]
    assert kinds(frame)["latency_seconds"] == "float64"
    assert kinds(frame)["capacity_bytes"] == "int64"
    assert [m.name for m in tc.machines()] == [m["name"] for m in cli("machine", "list", "--json")]
    assert tc.machine(KNL).curves().empty
    detected = cli("machine", "detect", "--json")
    assert tc.machine().frame()["name"].tolist() == [t["name"] for t in detected["tier"]]


def test_a_recorded_host_and_its_file(tmp_path: Path) -> None:
    recorded = Path(__file__).parents[1] / "machines" / "two-sockets-cxl"
    found = tc.detect(recorded)
    shown = cli("machine", "detect", "--input", recorded, "--json")
    agree(found.frame(), shown["tier"], ("nodes", "no"))
    found.save(tmp_path / "host.toml")
    assert_frame_equal(tc.machine(str(tmp_path / "host.toml")).frame(), found.frame())
    with pytest.raises(tc.Misuse, match="--force"):
        found.save(tmp_path / "host.toml")


def test_a_profiles_frame(profiles: list[Path]) -> None:
    frame = tc.load_profile(profiles[0]).frame()
    assert frame["key"].tolist() == [
        "a!hot@a.c:3 < main@a.c:9", "a!cold@a.c:5 < main@a.c:8", "(stack)",
    ]  # fmt: skip
    hot = frame.iloc[0]
    assert (hot["function"], hot["position"], hot["routine"]) == ("hot", "a.c:3", "malloc")
    assert hot["traffic_bytes"] == 900 * MIB
    assert hot["traffic_share"] == 900 / 955
    found = kinds(frame)
    assert {found[name] for name in found if name.endswith("_seconds")} == {"float64"}
    exact = ("traffic_bytes", "read_bytes", "peak_resident_bytes", "loads", "allocations")
    assert {found[name] for name in exact} == {"int64"}
    assert frame["samples"].isna().all()
    assert frame["max_lifetime_seconds"].isna().all()


def test_a_sampled_profiles_intervals() -> None:
    from thermocline.profiles.model import Profile

    sampled = site("a!f@a.c:1", 640, 4096, samples=100, effective_samples=100, events=51200)
    frame = Profile.model_validate(profile_table([sampled], method="sample")).frame()
    assert frame["samples"].tolist() == [100]
    assert kinds(frame)["samples"] == "Int64"
    assert frame["traffic_bytes_low"][0] == pytest.approx(640 * 0.8136, rel=1e-3)
    assert frame["traffic_bytes_high"][0] == pytest.approx(640 * 1.2163, rel=1e-3)


def test_frames_of_nothing_have_their_columns() -> None:
    from thermocline.profiles.model import Profile

    empty = Profile.model_validate(profile_table([])).frame()
    full = Profile.model_validate(profile_table(SITES)).frame()
    assert kinds(empty) == kinds(full)
    assert kinds(plans.unguided().frame())["bytes"] == "int64"


def test_profiling_leaves_what_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = [*PROGRAM, "a!f@x.c:1", "b"]
    shown = cli("profile", "--machine", KNL, "-o", "p.profile", "--json", "--", *command)
    agree(tc.load_profile("p.profile").frame(), shown[0]["sites"])
    ours = tc.profile(command, machine=KNL)
    assert os.listdir(tmp_path) == ["p.profile"]
    agree(ours.frame(), shown[0]["sites"])
    kept = tc.profile(command, machine=tc.machine(KNL), output="kept.profile")
    assert tc.load_profile(Path("kept.profile")) == kept
    with pytest.raises(tc.Misuse, match="--force"):
        tc.profile(command, output="kept.profile")
    kept.save("again.profile")
    assert tc.load_profile("again.profile") == kept
    assert len(tc.profile_processes(["sh", "-c", '"$@"; "$@" c', "x", *command])) == 2


def test_a_plan_and_what_it_would_do(profiles: list[Path], tmp_path: Path) -> None:
    path = tmp_path / "p.plan"
    words = ["plan", profiles[0], "--machine", KNL, "--capacity", "25%", "-o", path, "--json"]
    shown = cli(*words)
    ours = tc.plan(profiles[0], machine=KNL, capacity="25%")
    assert tc.load_plan(path).sites[0].key == ours.sites[0].key
    ours.save(tmp_path / "ours.plan")
    assert (tmp_path / "ours.plan").read_text() == path.read_text()
    first = tc.plan(profiles[0], machine=KNL, capacity="25%", strategy="first-touch")
    for plan, strategy in ((ours, "thermos"), (first, "first-touch")):
        frame = tc.predict(plan, profiles[0])
        agree(frame, [row for row in shown["predicted"] if row["strategy"] == strategy])
        assert kinds(frame)["memory_seconds"] == "float64"
    frame = ours.frame()
    assert frame["tier"].tolist() == [0, 1]
    assert frame["share_in_tier_0"].tolist() == [1.0, 0.0]
    assert frame["hotness"].tolist() == [90.0, 50 / 80]
    assert ours.capacity_bytes == shown["capacity_bytes"]
    in_bytes = tc.plan(tc.load_profile(profiles[0]), machine=KNL, capacity=ours.capacity_bytes)
    assert in_bytes.capacity_bytes == ours.capacity_bytes


def test_planning_across_inputs(profiles: list[Path]) -> None:
    words = ["plan", *profiles, "--machine", KNL, "--cross-validate", "--json"]
    frame = tc.cross_validate(profiles, machine=KNL)
    agree(frame, cli(*words)["folds"])
    assert kinds(frame)["regret"] == "float64"
    assert tc.plan([tc.load_profile(path) for path in profiles], machine=KNL).profiles == [
        "a.out.1", "a.out.2",
    ]  # fmt: skip


def test_a_plan_for_another_tool(profiles: list[Path]) -> None:
    made = tc.export(tc.plan(profiles[0], machine=KNL), "memkind")
    assert made.files and made.use
    with pytest.raises(tc.Misuse, match="numactl"):
        tc.export(tc.plan(profiles[0], machine=KNL), "magic")


def test_a_guided_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    plan = tc.plan(tc.profile([*PROGRAM, "a", "b"], machine=KNL), machine=KNL, capacity="50%")
    plan.save("p.plan")
    words = ["run", "--plan", "p.plan", "--machine", KNL, "--trace", "-o", "run.json", "--json"]
    command = [*PROGRAM, "a", "c"]
    shown = cli(*words, "--", *command)
    assert tc.load_run("run.json").model_dump(mode="json") == shown
    ours = tc.run(command, plan=plan, machine=KNL, trace=True)
    assert ours.fast_traffic_share == shown["fast_traffic_share"] == 0.75
    assert (ours.never_came, ours.unplanned, ours.status) == (["b"], ["c"], 0)
    frame = ours.frame()
    agree(frame.drop(columns="pid"), shown["processes"][0]["tiers"], ("name", "no"))
    assert frame["name"].tolist() == ["mcdram", "ddr4"]
    assert kinds(frame)["traffic_bytes"] == "Int64"
    assert tc.run(command, plan="p.plan", machine=KNL).frame()["traffic_bytes"].isna().all()
    ours.save("ours.json")
    assert tc.load_run("ours.json") == ours


def test_a_command_that_fails_is_a_note(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "thermocline"):
        ours = tc.run([*PROGRAM, "--exit", "3", "a"], machine=KNL)
    assert ours.status == 3
    assert "the command failed with status 3" in caplog.messages


def test_it_works_in_any_thread() -> None:
    with ThreadPoolExecutor(2) as pool:
        made = list(pool.map(lambda key: tc.profile([*PROGRAM, key], machine=KNL), ["a", "b"]))
    assert [each.sites[0].key for each in made] == ["a", "b"]


def test_binding_ends_with_the_run() -> None:
    before = os.sched_getaffinity(0)
    one = min(before)
    try:
        with binding.applied(binding.Binding((one,), (0,), interleave=False)):
            told = subprocess.run(
                ["sh", "-c", "grep -m1 -o 'bind:0' /proc/self/numa_maps; nproc"],
                capture_output=True, text=True, check=False,
            )  # fmt: skip
    except tc.ThermoclineError as error:
        assert "SYS_NICE" in str(error)  # a container that forbids it
    else:
        assert told.stdout.split() == ["bind:0", "1"]
        assert "bind:" not in Path("/proc/self/numa_maps").read_text().splitlines()[0]
    assert os.sched_getaffinity(0) == before


def test_rooflines(profiles: list[Path]) -> None:
    shown = cli("machine", "show", "--roofline", KNL, "--profile", profiles[0], "--json")
    frame = tc.roofline(KNL)
    points = [
        {**point, "bandwidth": split["bandwidth"], "ridge": split["ridge"]}
        for split in shown["splits"]
        for point in split["points"]
    ]
    agree(
        frame, points, ("flops_per_second", "flops"), ("bytes_per_second", "bandwidth"),
        ("ridge_flops_per_byte", "ridge"),
    )  # fmt: skip
    assert set(kinds(frame.drop(columns="split")).values()) == {"float64"}
    one = tc.roofline(KNL, split="90%,10%")
    assert one["split"].nunique() == 1
    sites = tc.roofline_sites(profiles[0], KNL)
    agree(sites, shown["sites"], ("references_per_byte", "per_byte"))
    rates = sites[["references_per_second_in_mcdram", "references_per_second_in_ddr4"]]
    assert rates.values.tolist() == [site["rates"] for site in shown["sites"]]


def test_doctor_and_the_index_of_the_papers(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["doctor", "--json"])
    frame = tc.doctor()
    agree(frame, json.loads(done.stdout))
    assert kinds(frame)["ok"] == "bool"
    agree(tc.reproductions(tmp_path), cli("reproduce", "--out", tmp_path, "--json"))


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: tc.profile("./a.out"), "list of words"),
        (lambda: tc.run([]), "list of words"),
        (lambda: tc.machine("knl"), "machine list"),
        (lambda: tc.plan([], machine=KNL), "needs a profile"),
        (lambda: tc.simulate(machine=KNL), "give traces"),
        (lambda: tc.report([]), "name the page"),
        (lambda: tc.reproduce("ryoo", "fig99.9"), "there are"),
        (lambda: next(tc.top()), "a command or a pid"),
        (lambda: tc.measure(isa="mmx"), "avx2"),
        (lambda: tc.migrate(["true"], 4096), "less than 4 chunks"),
    ],
)
def test_misuse_is_one_line(call: Any, complaint: str) -> None:
    with pytest.raises(tc.Misuse, match=complaint) as caught:
        call()
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, tc.ThermoclineError)
