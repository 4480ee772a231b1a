"""Paired measurements: ratios, intervals and verdicts; and that a difference is found."""

import shutil
from pathlib import Path

import pytest

from thermocline.measuring import paired


def test_the_interval_holds_the_median_and_outliers_hardly_move_it() -> None:
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
def test_verdicts(values: list[float], verdict: str) -> None:
    assert paired.Ratio(values).verdict(1.01) == verdict


def test_geometric_mean() -> None:
    mean = paired.GeometricMean([paired.Ratio([2.0] * 5), paired.Ratio([0.5] * 5)])
    assert mean.median == pytest.approx(1.0)
    assert [mean.low, mean.high] == pytest.approx([1.0, 1.0])


def loop(steps: int, says: str = "done") -> paired.Command:
    script = f"i=0; while [ $i -lt {steps} ]; do i=$((i+1)); done; echo {says}"
    return paired.Command(("sh", "-c", script))


def test_twice_the_work_is_seen() -> None:
    variants = {"once": loop(10000), "twice": loop(20000)}
    series = paired.run_paired(variants, rounds=5, count_rounds=1)
    if series.counter == "none":
        pytest.skip("neither an instruction counter nor valgrind here")
    ratio = series.ratio("twice", "once", "instructions")
    seconds = series.ratio("twice", "once", "seconds")
    assert ratio
    assert seconds
    assert ratio.median == pytest.approx(2, rel=0.1)
    assert ratio.verdict(1.5) == "fail"
    assert seconds.median > 0
    assert series.as_json("once")["variants"]["twice"]["instructions"]["median"] > 0


def test_variants_that_do_different_work_are_refused() -> None:
    variants = {"a": loop(1), "b": loop(1, "otherwise")}
    with pytest.raises(paired.BenchError, match="print different things"):
        paired.run_paired(variants, rounds=1, count_rounds=0)


def test_seconds_are_those_of_the_command(tmp_path: Path) -> None:
    # A sleep has a shortest time on a busy machine too; how long it may take has no bound.
    assert paired.measure(paired.Command(("sleep", "0.2")), tmp_path).seconds >= 0.2


def test_a_failing_command_is_an_error() -> None:
    with pytest.raises(paired.BenchError, match="ended with status 3"):
        paired.run_paired({"a": paired.Command(("sh", "-c", "exit 3"))}, rounds=1)


def test_peak_resident_is_the_programs_own(tmp_path: Path) -> None:
    # Not that of the Python which started it, which the kernel would count before exec.
    sample = paired.measure(paired.Command((shutil.which("true") or "/bin/true",)), tmp_path)
    assert 0 < sample.peak_resident_bytes < 8 << 20
