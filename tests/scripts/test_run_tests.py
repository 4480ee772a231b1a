"""The test runner's reading of closing lines: a suite that ran nothing must not pass."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("run_tests", ROOT / "scripts/run_tests.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "run_tests", module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "LOGS", tmp_path)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    return module


PYTEST = "....F [100%]\n1 failed, 4 passed, 2 skipped in 0.12s\n"
PYTEST_ERRORS = "2 passed, 3 errors in 61.20s (0:01:01)\n"
CTEST = "75% tests passed, 1 tests failed out of 4\n\nLabel Time Summary:\nunit = 1 sec\n"
LIT = "\nTotal Discovered Tests: 7\n  Unsupported: 1\n  Passed: 4 (57.14%)\n  Failed: 2 (28.57%)\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (PYTEST, (4, 1, 2)),
        (PYTEST_ERRORS, (2, 3, 0)),
        (CTEST, (3, 1, 0)),
        (LIT, (4, 2, 0)),
        ("no tests ran in 0.01s\n", (0, 0, 0)),
        ("", (0, 0, 0)),
    ],
)
def test_counts(runner: ModuleType, text: str, expected: tuple[int, int, int]) -> None:
    counts = runner.count(text)
    assert (counts.passed, counts.failed, counts.skipped) == expected


def test_what_passed_at_the_second_try_is_named(runner: ModuleType) -> None:
    counts = runner.count(
        "RERUN t.py::a\nPASSED t.py::a\nRERUN t.py::b[x y]\nFAILED t.py::b[x y] - assert 0\n"
        "RERUN t.py::c\nERROR t.py::c\n1 failed, 1 passed, 1 error, 3 rerun in 0.48s\n"
    )
    assert counts.again == ["t.py::a"]
    assert (counts.passed, counts.failed) == (1, 2)


@pytest.mark.parametrize(
    ("script", "status"),
    [
        ("print('3 passed in 0.10s')", 0),
        ("print('3 passed in 0.10s'); raise SystemExit(1)", 1),
        ("print('no tests ran in 0.01s')", 1),
        ("print('1 failed, 2 passed in 0.10s'); raise SystemExit(1)", 1),
    ],
)
def test_a_suite_fails_when_it_fails_or_runs_nothing(
    runner: ModuleType,
    script: str,
    status: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(runner, "SUITES", {"one": [sys.executable, "-c", script]})
    monkeypatch.setattr(sys, "argv", ["run_tests.py", "one"])
    assert runner.main() == status
    assert capsys.readouterr().out.splitlines()[-1].endswith("skipped")


def test_a_suite_that_hangs_is_ended(
    runner: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = "import time; print('3 passed in 0.10s', flush=True); time.sleep(100)"
    monkeypatch.setattr(runner, "SUITES", {"one": [sys.executable, "-c", script]})
    monkeypatch.setattr(runner, "SUITE_SECONDS", 2)
    monkeypatch.setattr(sys, "argv", ["run_tests.py", "one"])
    assert runner.main() == 1
    assert "run_tests: one ended after 2 s" in capsys.readouterr().out


def test_an_unknown_suite_is_misuse() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/run_tests.py", "nothing"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("run_tests: no suite nothing")
