"""Each workload builds, checks itself, and prints the same checksum however it was built."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "workloads"

# Small sizes: seconds matter here, traffic does not.
SIZES = {
    "anneal": ["20000", "20000"],
    "elements": ["12", "20"],
    "fdtd": ["24", "12"],
    "filters": ["256"],
    "fourier": ["32", "2"],
    "graph": ["13", "2"],
    "graphdirect": ["12"],
    "graphfrontier": ["12"],
    "hashjoin": ["20000", "2"],
    "hydro": ["16", "12"],
    "itemsets": ["5000", "50"],
    "lookups": ["500", "5000", "24"],
    "multigrid": ["24"],
    "ocean": ["32", "6"],
    "remesh": ["6", "6"],
    "sortkeys": ["200000", "2"],
    "sparsecg": ["2000", "32", "20"],
    "spline": ["12", "3", "16"],
    "stream": ["100000", "2"],
    "updates": ["200000", "100000"],
    "vcycle": ["24", "6"],
}
BUILDS = {
    "plain": [],
    "unoptimised": ["CFLAGS=-O0", "FFLAGS=-O0"],
    "openmp": ["OPENMP=1"],
    "annotated": ["CC=thermocline-clang", "CXX=thermocline-clang++", "FC=thermocline-flang"],
}
# One small error in each program, which its own check has to notice.
ERRORS = {
    "anneal": ("return 2 * change;", "return change;"),
    "elements": ("-1. / 12, -1. / 12", "-1. / 12, -1. / 13"),
    "fdtd": ("h%z(i - 1, j, k)", "h%z(i, j, k)"),
    "filters": ("image->height - 1 - y", "image->height - 1 - (y ? y : 1)"),
    "fourier": ("c * di + s * dr", "c * di - s * dr"),
    "graph": ("0.85 * (sum", "0.86 * (sum"),
    "graphdirect": ("0.85 * sum", "0.86 * sum"),
    "graphfrontier": ("0.85 * sum", "0.86 * sum"),
    "hashjoin": ("*link = std::move((*link)->next)", "(*link)->value = {}"),
    "hydro": ("xd[i] + 0.5 * dt * ax", "xd[i] + dt * ax"),
    "itemsets": ("path.size(), node_[at].times", "path.size(), 1"),
    "lookups": ("a->channel[c] + part", "a->channel[c] + 0.5 * part"),
    "multigrid": ("r[i] -= alpha * q[i]", "r[i] -= 1.001 * alpha * q[i]"),
    "ocean": ("- flux_x(west(i), j, k)", "- 0.9_dp*flux_x(west(i), j, k)"),
    "remesh": ("its.change[f] += flow", "its.change[f] += flow * flow"),
    "sortkeys": ("base + value", "base + (value ^ 1)"),
    "sparsecg": ("x[i] += alpha * p[i]", "x[i] += 1.001 * alpha * p[i]"),
    "spline": ("(sum - (k == e))", "sum"),
    "stream": ("b[i] + 0.25 * c[i]", "b[i] + 0.26 * c[i]"),
    "updates": ("] ^= state;", "] += state;"),
    "vcycle": ("sum / 8 * 4", "sum / 8 * 16"),
}


def path_with_wrappers() -> dict[str, str]:
    prefix = os.environ.get("THERMOCLINE_PREFIX", str(ROOT / "build"))
    return {**os.environ, "PATH": f"{prefix}/bin:{os.environ['PATH']}"}


def make(source: Path, out: Path, *settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", "-s", "-C", str(source), f"OUT={out}", *settings],
        capture_output=True,
        text=True,
        check=False,
        env=path_with_wrappers(),
    )


def run(program: Path, *arguments: str, threads: int = 1) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    return subprocess.run(
        [program, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=environment,
    )


def checksum(output: str) -> float:
    match = re.search(r"^checksum: *(\S+)$", output, re.MULTILINE)
    assert match, output
    return float(match[1])


def deterministic(output: str) -> list[str]:
    return [line for line in output.splitlines() if not line.startswith("metric:")]


@pytest.fixture(scope="session")
def builds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Every build of every workload, made once."""
    top = tmp_path_factory.mktemp("workloads")
    for name, settings in BUILDS.items():
        if name == "annotated" and not shutil.which(
            "thermocline-clang", path=path_with_wrappers()["PATH"]
        ):
            pytest.fail("the wrappers are not built: run `make build`")
        done = make(SOURCE, top / name, *settings)
        assert done.returncode == 0, f"{name}: {done.stderr}"
        assert done.stderr == "", f"{name}: the build was not silent: {done.stderr}"
    return {name: top / name for name in BUILDS}


def test_every_workload_is_listed() -> None:
    listed = subprocess.run(
        ["make", "-s", "-C", str(SOURCE), "list"], capture_output=True, text=True, check=True
    ).stdout.split()
    assert sorted(listed) == sorted(SIZES) == sorted(ERRORS)


@pytest.mark.parametrize("workload", SIZES)
def test_checks_itself_and_is_reproducible(workload: str, builds: dict[str, Path]) -> None:
    first = run(builds["plain"] / workload, *SIZES[workload])
    assert first.returncode == 0, first.stdout + first.stderr
    assert first.stderr == ""
    again = run(builds["plain"] / workload, *SIZES[workload])
    assert deterministic(again.stdout) == deterministic(first.stdout)


@pytest.mark.parametrize("workload", SIZES)
def test_checksum_does_not_depend_on_the_build(workload: str, builds: dict[str, Path]) -> None:
    plain = run(builds["plain"] / workload, *SIZES[workload])
    for name, threads in (("unoptimised", 1), ("openmp", 1), ("openmp", 2)):
        other = run(builds[name] / workload, *SIZES[workload], threads=threads)
        assert other.returncode == 0, f"{name}: {other.stdout}{other.stderr}"
        # Sums over threads and over vector lanes are rounded in another order.
        assert checksum(other.stdout) == pytest.approx(checksum(plain.stdout), rel=1e-6), name


@pytest.mark.parametrize("workload", SIZES)
def test_annotated_build_prints_the_same(workload: str, builds: dict[str, Path]) -> None:
    plain = run(builds["plain"] / workload, *SIZES[workload])
    annotated = run(builds["annotated"] / workload, *SIZES[workload])
    assert annotated.returncode == 0, annotated.stdout + annotated.stderr
    assert annotated.stderr == ""
    assert deterministic(annotated.stdout) == deterministic(plain.stdout)


@pytest.mark.parametrize("workload", ERRORS)
def test_its_check_notices_an_error(workload: str, tmp_path: Path) -> None:
    source = tmp_path / "source"
    shutil.copytree(SOURCE, source)
    [file] = [f for f in source.iterdir() if f.stem == workload]
    right, wrong = ERRORS[workload]
    text = file.read_text()
    assert text.count(right) >= 1, f"{right!r} is not in {file.name}"
    file.write_text(text.replace(right, wrong))
    done = make(source, tmp_path / "out", workload)
    assert done.returncode == 0, done.stderr
    broken = run(tmp_path / "out" / workload, *SIZES[workload])
    assert broken.returncode == 1, broken.stdout


@pytest.mark.parametrize("workload", SIZES)
def test_a_bad_size_is_refused_in_one_line(workload: str, builds: dict[str, Path]) -> None:
    refused = run(builds["plain"] / workload, "-5")
    assert refused.returncode == 2
    assert len(refused.stderr.splitlines()) == 1 and refused.stderr.startswith("usage: ")
