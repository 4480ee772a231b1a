"""The commands as a user runs them, with a program that stands in for an annotated one."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from .conftest import ROOT

FAKE = Path(__file__).with_name("fake_program.py")
PROGRAM = [sys.executable, str(FAKE)]
KNL = ("--machine", "knl-7230")


def call(cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "thermocline", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def ok(cwd: Path, *arguments: str) -> str:
    done = call(cwd, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def fails(cwd: Path, status: int, *arguments: str) -> str:
    """One line, the right status, never a traceback."""
    done = call(cwd, *arguments)
    assert done.returncode == status, done.stdout + done.stderr
    assert done.stderr.startswith("thermocline: ")
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def profiled(cwd: Path, *keys: str, name: str = "p.profile") -> str:
    ok(cwd, "profile", *KNL, "-o", name, "--", *PROGRAM, *keys)
    return name


def answer(text: str) -> dict[str, Any]:
    parsed = json.loads(text)
    assert isinstance(parsed, dict)
    return parsed


def test_the_loop(tmp_path: Path) -> None:
    done = call(tmp_path, "profile", *KNL, "-o", "p.profile", "--", *PROGRAM, "a!f@x.c:1", "b")
    assert done.returncode == 0
    assert "a!f@x.c:1" in done.stdout
    assert "next: thermocline plan p.profile --machine knl-7230" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["p.profile"]

    done = call(tmp_path, "plan", "p.profile", *KNL, "--capacity", "50%", "-o", "p.plan")
    assert done.returncode == 0, done.stderr
    assert "first-touch" in done.stdout
    assert "next: thermocline run --plan p.plan" in done.stderr
    assert "{tier = 0, bytes = 8192, traffic_bytes = 1280" in (tmp_path / "p.plan").read_text()

    done = call(tmp_path, "run", "--plan", "p.plan", "--trace", "--", *PROGRAM, "a!f@x.c:1", "c")
    assert done.returncode == 0, done.stderr
    assert "tier 0 served 75.0 % of the memory traffic" in done.stdout
    assert "1 of 2 planned sites never came" in done.stderr
    assert "1 sites came that the plan does not name" in done.stderr


def test_json_is_only_json(tmp_path: Path) -> None:
    profiled(tmp_path, "a", "b")
    plan = answer(ok(tmp_path, "plan", "p.profile", *KNL, "--capacity", "50%", "--json"))
    assert plan["fast_sites"] == 1
    assert {row["strategy"] for row in plan["predicted"]} == {"thermos", "first-touch"}
    run = answer(ok(tmp_path, "run", "--plan", plan["plan"], "--json", "--", *PROGRAM, "a", "b"))
    assert run["status"] == 0
    assert run["processes"][0]["sites"]["reached"] == 2
    machines = json.loads(ok(tmp_path, "machine", "list", "--json"))
    assert "knl-7230" in {machine["name"] for machine in machines}
    knl = answer(ok(tmp_path, "machine", "show", "knl-7230", "--json"))
    assert knl["tier"][0]["capacity"]["value"] == 16 * 2**30
    assert answer(ok(tmp_path, "machine", "detect", "--json"))["tier"]


def test_default_names_do_not_collide(tmp_path: Path) -> None:
    for _ in range(2):
        ok(tmp_path, "profile", *KNL, "--", *PROGRAM, "a")
    names = [path.name for path in tmp_path.glob("*.profile")]
    assert len(names) == 2
    assert all(name.startswith(Path(sys.executable).name + ".") for name in names)


def test_nothing_is_overwritten_without_force(tmp_path: Path) -> None:
    profiled(tmp_path, "a")
    before = (tmp_path / "p.profile").read_text()
    message = fails(tmp_path, 2, "profile", "-o", "p.profile", "--", *PROGRAM, "b")
    assert "--force" in message
    assert (tmp_path / "p.profile").read_text() == before
    ok(tmp_path, "plan", "p.profile", *KNL, "-o", "x.plan")
    assert "--force" in fails(tmp_path, 2, "plan", "p.profile", *KNL, "-o", "x.plan")
    ok(tmp_path, "plan", "p.profile", *KNL, "-o", "x.plan", "--force")
    ok(tmp_path, "machine", "detect", "-o", "m.toml")
    assert "--force" in fails(tmp_path, 2, "machine", "detect", "-o", "m.toml")
    ok(tmp_path, "machine", "show", "./m.toml")


@pytest.mark.parametrize(
    ("arguments", "status", "complaint"),
    [
        (["plan"], 2, "profiles"),
        (["plan", "missing.profile", *KNL], 1, "missing.profile"),
        (["plan", "p.profile", *KNL, "--strategy", "best"], 2, "knapsack"),
        (["plan", "p.profile", *KNL, "--capacity", "lots"], 2, "25%"),
        (["plan", "p.profile", *KNL, "--capacity", "25"], 2, "a page"),
        (["plan", "p.profile", *KNL, "--capacity", "200%"], 2, "100%"),
        (["plan", "/dev/zero", *KNL], 1, "too large"),
        (["plan", "p.profile", *KNL, "-o", ".", "--force"], 2, "directory"),
        (["run", "--", ""], 2, "command"),
        (["run", "--", "no\nsuch"], 1, "no such program"),
        (["plan", "p.profile", "--machine", "knl"], 2, "machine list"),
        (["plan", "p.profile", *KNL, "--nonheap-tier", "x"], 2, "none"),
        (["plan", "p.profile", *KNL, "--cross-validate"], 2, "two inputs"),
        (["plan", "p.profile", *KNL, "--bogus"], 2, "--bogus"),
        (["frobnicate"], 2, "frobnicate"),
        (["run", "--"], 2, "command"),
        (["run", "--", "./no-such-program"], 1, "no such program"),
        (["run", "--", "/etc"], 1, "ermission"),
        (["run", "--plan", "missing.plan", "--", "true"], 1, "missing.plan"),
        (["run", "--capacity", "25%", "--", "true"], 2, "bytes"),
        (["profile", "--method", "magic", "--", "true"], 2, "trace"),
        (["profile", "--", "true"], 1, "thermocline-clang"),
        (["sites", "/etc/passwd"], 1, "ELF"),
        (["sites", "/bin/true"], 1, "thermocline-clang"),
        (["machine", "show", "missing.toml"], 1, "missing.toml"),
        (["machine", "detect", "--input", "missing.xml"], 1, "missing.xml"),
    ],
)
def test_mistakes_are_one_line(
    arguments: list[str], status: int, complaint: str, tmp_path: Path
) -> None:
    profiled(tmp_path, "a")
    assert complaint in fails(tmp_path, status, *arguments)


def test_a_broken_plan_stops_before_the_program_starts(tmp_path: Path) -> None:
    (tmp_path / "p.plan").write_text("format = 1\nstrategy = 'x'\nsites = [{tier = 'fast'}]\n")
    message = fails(tmp_path, 1, "run", "--plan", "p.plan", "--", "sh", "-c", "touch started")
    assert "p.plan" in message
    assert not (tmp_path / "started").exists()


def test_the_commands_status_is_passed_on(tmp_path: Path) -> None:
    for verb in (["run"], ["profile", *KNL]):
        assert call(tmp_path, *verb, "--", *PROGRAM, "--exit", "7", "a").returncode == 7
        done = call(tmp_path, *verb, "--", *PROGRAM, "--signal", str(signal.SIGKILL), "a")
        assert done.returncode == 128 + signal.SIGKILL
        assert "SIGKILL" in done.stderr


def test_a_killed_program_leaves_its_profile(tmp_path: Path) -> None:
    done = call(tmp_path, "profile", *KNL, "-o", "p.profile", "--", *PROGRAM, "--signal", "9", "a")
    assert "did not finish" in done.stderr
    assert "did not finish" in call(tmp_path, "plan", "p.profile", *KNL).stderr


def test_signals_reach_the_command(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "thermocline", "run", "--", *PROGRAM, "--sleep", "a"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    start = time.monotonic()
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 128 + signal.SIGTERM
    assert time.monotonic() - start < 15
    assert "SIGTERM" in errors


def test_scripts_and_several_processes(tmp_path: Path) -> None:
    script = tmp_path / "job.sh"
    script.write_text('"$@" a\n"$@" b\n')
    ok(tmp_path, "profile", *KNL, "-o", "many.profile", "--", "sh", str(script), *PROGRAM)
    made = sorted(tmp_path.glob("many.*.profile"))
    assert len(made) == 2
    done = call(tmp_path, "plan", *map(str, made), *KNL, "--capacity", "50%", "-o", "many.plan")
    assert done.returncode == 0, done.stderr
    run = ok(tmp_path, "run", "--plan", "many.plan", "--json", "--", "sh", str(script), *PROGRAM)
    assert len(answer(run)["processes"]) == 2
    # Each site was reached by one of the two: none is missing.
    assert answer(run)["never_came"] == []


def test_options_after_the_command_are_the_commands(tmp_path: Path) -> None:
    assert call(tmp_path, "run", *PROGRAM, "--exit", "3", "a").returncode == 3


def test_unannotated_programs_are_told(tmp_path: Path) -> None:
    done = call(tmp_path, "run", "--", "true")
    assert done.returncode == 0
    assert "thermocline-clang" in done.stderr


def test_cross_validation(tmp_path: Path) -> None:
    one, two = profiled(tmp_path, "a", "b", name="1"), profiled(tmp_path, "b", "a", name="2")
    arguments = ["plan", one, two, *KNL, "--capacity", "50%", "--cross-validate"]
    found = answer(ok(tmp_path, *arguments, "--json"))
    assert [fold["input"] for fold in found["folds"]] == ["1", "2"]
    assert found["worst_regret"] == pytest.approx(1 / 3)
    assert "regret" in ok(tmp_path, *arguments)
    assert not list(tmp_path.glob("*.plan"))


def test_capacity_of_a_run(tmp_path: Path) -> None:
    profiled(tmp_path, "a", "b")
    ok(tmp_path, "plan", "p.profile", *KNL, "--capacity", "50%", "-o", "p.plan")

    def limit(*extra: str) -> int:
        text = ok(tmp_path, "run", "--plan", "p.plan", *extra, "--json", "--", *PROGRAM, "a")
        return int(answer(text)["tiers"][0]["capacity_bytes"])

    assert limit() == 8192
    assert limit("--capacity", "25%") == 4096
    assert limit("--capacity", "1MiB") == 2**20
    assert limit("--capacity", "all") == 16 * 2**30


def test_help_shows_examples_and_is_quick(tmp_path: Path) -> None:
    verbs = ("sites", "profile", "plan", "run", "doctor", "machine detect", "machine show")
    for verb in verbs:
        assert "Example: thermocline " + verb in ok(tmp_path, *verb.split(), "--help")
    imported = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "thermocline", "--help"],
        capture_output=True,
        text=True,
        check=True,
    ).stderr
    for heavy in ("pydantic", "rich.", "numpy", "elftools"):
        assert f" {heavy}" not in imported, f"--help imports {heavy}"


def test_a_closed_pipe_is_no_error(tmp_path: Path) -> None:
    done = subprocess.run(
        f"{sys.executable} -m thermocline machine show knl-7230 --json | head -1",
        shell=True,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert done.stderr == ""


def test_another_hosts_machine_file_binds_nothing_here(tmp_path: Path) -> None:
    made = ROOT / "tests" / "machines" / "xeon-max-flat-snc4"
    ok(tmp_path, "machine", "detect", "--input", str(made), "-o", "max.toml")
    message = fails(tmp_path, 1, "run", "--machine", "max.toml", "--", "touch", "started")
    assert "node" in message
    assert not (tmp_path / "started").exists()


def test_through_make(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("all: a b\na b:\n\t@$(RUN) $@\n")
    run = ["make", "-s", f"RUN={' '.join(PROGRAM)}"]
    found = answer(ok(tmp_path, "run", "--json", "--", *run))
    assert len(found["processes"]) == 2


def next_command(done: subprocess.CompletedProcess[str]) -> list[str]:
    """What a shell makes of the last line's suggestion."""
    last = done.stderr.splitlines()[-1]
    assert last.startswith("next: thermocline ")
    return shlex.split(last.removeprefix("next: thermocline "))


def test_the_next_commands_work_as_they_are_printed(tmp_path: Path) -> None:
    place = tmp_path / "my dir"
    place.mkdir()
    command = [*PROGRAM, "a b", "it's", "$HOME"]
    done = call(tmp_path, "profile", *KNL, "-o", str(place / "p q.profile"), "--", *command)
    done = call(tmp_path, *next_command(done))
    assert done.returncode == 0, done.stderr
    words = next_command(done)
    # The fake program's own command line: what a profile says was run, word for word.
    assert words[-4:] == [str(FAKE), "a b", "it's", "$HOME"]
    plan = words[words.index("--plan") + 1]
    done = call(tmp_path, "run", "--plan", plan, "--capacity", "1MiB", "--", *command)
    words = next_command(done)
    assert words == ["run", "--trace", "--plan", plan, "--capacity", "1MiB", "--", *command]
    done = call(tmp_path, *words)
    assert "tier 0 served 75.0 %" in done.stdout


def test_json_stays_json_whatever_the_command_prints(tmp_path: Path) -> None:
    shell = ["sh", "-c", 'echo noise; "$@"', "sh", *PROGRAM, "a"]
    for verb in (["run"], ["profile", *KNL]):
        done = call(tmp_path, *verb, "--json", "--", *shell)
        assert json.loads(done.stdout)
        assert "noise" in done.stderr


def test_a_killed_guided_program_is_not_called_unannotated(tmp_path: Path) -> None:
    done = call(tmp_path, "run", "--", "sh", "-c", "kill -9 $$")
    assert done.returncode == 128 + signal.SIGKILL
    assert "SIGKILL" in done.stderr
    assert "thermocline-clang" not in done.stderr


def test_ctrl_c_ends_the_command_and_keeps_the_status(tmp_path: Path) -> None:
    # A shell's background jobs, which these tests may be one of, ignore the signal.
    heard = ("env", "--default-signal=INT")
    process = subprocess.Popen(
        [*heard, sys.executable, "-m", "thermocline", "run", "--", *PROGRAM, "--sleep", "a"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of the foreground
    _, errors = process.communicate(timeout=120)
    # Python, the fake program, answers with a traceback of its own; ours says one line.
    assert process.returncode == 128 + signal.SIGINT
    ours = [line for line in errors.splitlines() if line.startswith("thermocline: ")]
    assert any("SIGINT" in line for line in ours)


def test_a_profile_may_come_through_a_pipe(tmp_path: Path) -> None:
    profiled(tmp_path, "a", "b")
    done = subprocess.run(
        f"{sys.executable} -m thermocline plan /dev/stdin {' '.join(KNL)} -o x.plan <p.profile",
        shell=True,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    plan = f"{sys.executable} -m thermocline plan /dev/stdin {' '.join(KNL)}"
    done = subprocess.run(
        f"cat p.profile | {plan} -o y.plan",
        shell=True,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "x.plan").read_text() == (tmp_path / "y.plan").read_text()
