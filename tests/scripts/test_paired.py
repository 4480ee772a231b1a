"""Paired measurements: ratios, intervals and verdicts; and that a difference is found."""

import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def paired(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("paired", ROOT / "bench/paired.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "paired", module)
    spec.loader.exec_module(module)
    return module


def test_the_interval_holds_the_median_and_outliers_hardly_move_it(paired: ModuleType) -> None:
    ratio = paired.Ratio([1.0, 1.01, 0.99, 1.02, 0.98, 1.0, 9.0])
    assert ratio.median == 1.0
    assert 0.98 <= ratio.low <= ratio.median <= ratio.high <= 1.02


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ([1.001, 1.002, 1.003], "pass"),
        ([1.01, 1.01], "pass"),
        ([1.02, 1.03, 1.04], "fail"),
        ([0.98, 1.0, 1.04, 1.05], "inconclusive"),
    ],
)
def test_verdicts(paired: ModuleType, values: list[float], verdict: str) -> None:
    assert paired.Ratio(values).verdict(1.01) == verdict


def test_geometric_mean(paired: ModuleType) -> None:
    mean = paired.GeometricMean([paired.Ratio([2.0] * 5), paired.Ratio([0.5] * 5)])
    assert mean.median == pytest.approx(1.0)
    assert (mean.low, mean.high) == (pytest.approx(1.0), pytest.approx(1.0))


def loop(paired: ModuleType, steps: int, says: str = "done") -> object:
    script = f"i=0; while [ $i -lt {steps} ]; do i=$((i+1)); done; echo {says}"
    return paired.Command(("sh", "-c", script))


def test_twice_the_work_is_seen(paired: ModuleType) -> None:
    variants = {"once": loop(paired, 10000), "twice": loop(paired, 20000)}
    series = paired.run_paired(variants, rounds=5, count_rounds=1)
    if series.counter == "none":
        pytest.skip("neither an instruction counter nor valgrind here")
    ratio = series.ratio("twice", "once", "instructions")
    assert ratio.median == pytest.approx(2, rel=0.1)
    assert ratio.verdict(1.5) == "fail"
    assert series.ratio("twice", "once", "seconds").median > 1.2
    assert series.as_json("once")["variants"]["twice"]["instructions"]["median"] > 0


def test_variants_that_do_different_work_are_refused(paired: ModuleType) -> None:
    variants = {"a": loop(paired, 1), "b": loop(paired, 1, "otherwise")}
    with pytest.raises(paired.BenchError, match="print different things"):
        paired.run_paired(variants, rounds=1, count_rounds=0)


def test_a_failing_command_is_an_error(paired: ModuleType) -> None:
    with pytest.raises(paired.BenchError, match="ended with status 3"):
        paired.run_paired({"a": paired.Command(("sh", "-c", "exit 3"))}, rounds=1)


def test_peak_resident_is_the_programs_own(paired: ModuleType, tmp_path: Path) -> None:
    # Not that of the Python which started it, which the kernel would count before exec.
    sample = paired.measure(paired.Command((shutil.which("true") or "/bin/true",)), tmp_path)
    assert 0 < sample.peak_resident_bytes < 8 << 20
