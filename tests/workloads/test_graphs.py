"""The graph programs: two styles and every advice give the same, and each kernel's check works."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from test_workloads import SOURCE, checksum, make, run

PROGRAMS = ("graphdirect", "graphfrontier")
# One error in each kernel.
ERRORS = {
    ("graphdirect", "bfs"): ("parent[v] = w;", "parent[v] = v;"),
    ("graphdirect", "bc"): ("sum += (1 + delta[w])", "sum += (2 + delta[w])"),
    ("graphdirect", "tc"): ("count += marked[*w]", "count += 1 - marked[*w]"),
    ("graphdirect", "cc"): ("graph.degree(v) > round", "graph.degree(v) > round + 1"),
    ("graphdirect", "pr"): ("0.15 / graph", "0.14 / graph"),
    ("graphfrontier", "bfs"): ("parent[to] = from;", "parent[to] = to;"),
    ("graphfrontier", "bc"): ("share[v] += 1 /", "share[v] += 2 /"),
    ("graphfrontier", "tc"): ("add(count, common(", "add(count, 1 + common("),
    ("graphfrontier", "cc"): ("        return was == before[to];", "        return false;"),
    ("graphfrontier", "pr"): ("0.15 / graph", "0.14 / graph"),
}


@pytest.fixture(scope="session")
def openmp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("graphs")
    done = make(SOURCE, out, "OPENMP=1", *PROGRAMS)
    assert (done.returncode, done.stderr) == (0, "")
    return out


@pytest.mark.parametrize("generator", ["kronecker", "rmat"])
@pytest.mark.parametrize("scale", ["4", "11"])
def test_styles_and_advice_agree(scale: str, generator: str, openmp: Path) -> None:
    said = set()
    sums = []
    for program in PROGRAMS:
        for advice in ("plain", "staged", "partitioned", "advised"):
            for threads in (1, 3):
                done = run(openmp / program, scale, "all", generator, advice, threads=threads)
                assert done.returncode == 0, done.stdout + done.stderr
                said.add(tuple(done.stdout.splitlines()[:2]))
                sums.append(checksum(done.stdout))
    assert len(said) == 1
    assert sums == pytest.approx([sums[0]] * len(sums), rel=1e-6)


@pytest.mark.parametrize(("program", "kernel"), ERRORS)
def test_each_kernels_check_notices_an_error(program: str, kernel: str, tmp_path: Path) -> None:
    source = tmp_path / "source"
    shutil.copytree(SOURCE, source)
    file = source / f"{program}.cpp"
    right, wrong = ERRORS[program, kernel]
    text = file.read_text()
    assert right in text
    file.write_text(text.replace(right, wrong))
    done = make(source, tmp_path / "out", "CXXFLAGS=-O1", program)
    assert done.returncode == 0, done.stderr
    broken = run(tmp_path / "out" / program, "11", kernel)
    assert broken.returncode == 1
    assert f"check: WRONG: {kernel}" in broken.stdout


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize(
    "arguments",
    [["3"], ["31"], ["x"], ["10", "sssp"], ["10", "bfs", "road"], ["10", "bfs", "rmat", "none"]],
)
def test_bad_arguments(program: str, arguments: list[str], openmp: Path) -> None:
    refused = run(openmp / program, *arguments)
    assert refused.returncode == 2
    assert refused.stderr.startswith("usage: ") and len(refused.stderr.splitlines()) == 1
