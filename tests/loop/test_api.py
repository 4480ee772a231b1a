"""The Python API on a built program, beside the command line; its page and its notebook run."""

import importlib.util
import json
import os
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import pytest
from test_auto import SOURCE
from test_loop import BIN, ROOT, call

import thermocline as tc

KNL = "knl-7230"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("api")
    (made / "two.c").write_text(SOURCE)
    call("thermocline-clang", "-O1", "-g", "two.c", "-o", "two", cwd=made)
    return made


@pytest.fixture
def folder(built: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(built)
    monkeypatch.setenv("PATH", f"{BIN}:{os.environ['PATH']}")
    return built


def cli(folder: Path, *words: str | Path) -> Any:
    return json.loads(call("thermocline", *words, "--json", cwd=folder).stdout)


def test_sites(folder: Path) -> None:
    found = tc.sites("two")
    shown = cli(folder, "sites", "two")
    assert found.rows() == shown["sites_list"]
    assert found.counts() == {name: shown[name] for name in found.counts()}
    frame = found.frame()
    assert set(frame["routine"]) == {"malloc"}
    assert frame["function"].tolist() == ["main", "main"]
    assert frame["calls"].dtype == "int64"


def test_the_loop_in_memory(folder: Path) -> None:
    profile = tc.profile(["./two"], machine=KNL, output="two.profile", force=True)
    assert profile.complete
    assert tc.sites("two").frame(profile)["reached"].tolist() == [True, True]
    plan = tc.plan(profile, machine=KNL, capacity="60%")
    placed = plan.frame()[plan.frame()["key"].str.contains("two.c")]
    by_place = dict(zip(placed["key"].str[-3:], placed["tier"], strict=True))
    words = ["plan", "two.profile", "--machine", KNL, "--capacity", "60%", "-o", "two.plan"]
    shown = cli(folder, *words, "--force")
    assert tc.load_plan("two.plan").frame()["tier"].tolist() == plan.frame()["tier"].tolist()
    assert shown["fast_sites"] == (plan.frame()["tier"] == 0).sum()
    assert by_place == {":42": 0, ":20": 1}

    run = tc.run(["./two"], plan=plan, machine=KNL, trace=True)
    assert run.fast_traffic_share is not None and run.fast_traffic_share > 0.6
    assert run.frame()["traffic_bytes"].sum() > 0

    trace = tc.trace(["./two"], budget="2M", output="two.trace", force=True)
    described = cli(folder, "trace", "info", "two.trace")
    assert trace.described == described
    assert trace.frame()["references"].sum() == trace.references > 10**6
    schemes = ["first-touch", "membrain"]
    answers = tc.simulate(trace, machine=KNL, plan=plan, schemes=schemes, budget=10**6)
    words = ["simulate", "two.trace", "--machine", KNL, "--plan", "two.plan", "--budget", "1000000"]
    rows = cli(folder, *words, "--scheme", ",".join(schemes))["rows"]
    assert answers.frame()["seconds"].tolist() == [row["result"]["seconds"] for row in rows]

    tc.report([profile, plan, answers, run], "two.html", force=True)
    assert "Predicted and measured" in Path("two.html").read_text()


def test_a_live_simulation(folder: Path) -> None:
    answers = tc.simulate(command=["./two"], machine=KNL, schemes="all-fast", budget=10**5)
    assert answers.frame()["seconds"].item() > 0


def test_online(folder: Path) -> None:
    done = tc.run_online(["./two"], machine=KNL, capacity="2MiB", method="trace")
    assert done.status == 0
    assert [each["program"] for each in done.to_json()["processes"]] == ["two"]
    assert done.frame()["bytes"].dtype == "int64"


def test_top(folder: Path) -> None:
    looks = list(tc.top(["./two"], machine=KNL, method="trace", interval=0.2))
    last = looks[-1]
    assert set(last["program"]) == {"two"}
    traffic = last.set_index("key")["traffic_bytes"]
    hot, cold = (traffic[traffic.index.str.contains(place)].item() for place in (":42", ":20"))
    assert hot > 3 * cold > 0
    assert looks[0].dtypes.equals(last.dtypes)
    following = tc.top(["sleep", "100"], machine=KNL, method="trace", interval=0.1)
    assert next(following).empty
    following.close()  # and so ends the command


def test_migration(folder: Path) -> None:
    try:
        done = tc.migrate(["./two"], "8MiB", granularity="64K")
    except tc.ThermoclineError as error:
        assert "userfaultfd" in str(error)  # nobody may watch others' memory here
        return
    assert done.status == 0
    frame = done.frame()
    assert (frame["bytes_in"] == frame["moves_in"] * (64 << 10)).all()
    assert [each["pid"] for each in done.processes] == [done.to_json()["processes"][0]["pid"]]


def test_auto(folder: Path) -> None:
    made = tc.auto(["./two"], machine=KNL, capacity="60%", output="auto", force=True)
    assert set(made.files) == {"profile", "plan", "trace", "schemes.json", "run.json", "html"}
    assert made.plan.strategy == "fastest"
    assert made.profile.program == "two"
    assert made.run.status == 0
    with pytest.raises(tc.ThermoclineError, match="no such program"):
        tc.auto(["./absent"], machine=KNL, output="none", force=True)


def test_the_pages_code_runs(folder: Path) -> None:
    """Every Python block of docs/python.md, in order, as one program."""
    text = (ROOT / "docs" / "python.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) > 3
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block.replace("./a.out", "./two"), "docs/python.md", "exec"), names)


@pytest.fixture
def notebook() -> ModuleType:
    spec = importlib.util.spec_from_file_location("notebook", ROOT / "scripts/notebook.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def kinds(cell: Any) -> set[str]:
    """What a cell shows; below pytest, IPython does not see what programs print."""
    return {kind for output in cell.get("outputs", []) for kind in output.get("data", ())}


def test_the_notebook_runs_and_shows_what_is_kept(folder: Path, notebook: ModuleType) -> None:
    (folder / "notebook").mkdir(exist_ok=True)
    ran = notebook.execute(folder / "notebook")
    kept = nbformat.read(notebook.NOTEBOOK, as_version=4)
    assert [kinds(cell) for cell in ran.cells] == [kinds(cell) for cell in kept.cells]
    assert sum("image/png" in kinds(cell) for cell in kept.cells) == 2
    assert notebook.NOTEBOOK.stat().st_size < 200_000
