"""The workloads with a quarter of their memory near, and pages that come when they are touched."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from test_workloads import ROOT, SIZES, SOURCE, deterministic, make

# Peaks of 36 MiB and more: near memory has to hold a few chunks of 2 MiB.
QUICK = {
    "elements": ["46", "2"],
    "fdtd": ["60", "2"],
    "filters": ["850"],
    "hydro": ["44", "1"],
    "ocean": ["72", "1"],
    "spline": ["24", "1", "64"],
    "stream": ["1300000", "1"],
}
# All over their data, or over it again and again: up to minutes each (make test-slow).
SLOW = {
    "anneal": ["200000", "20000"],
    "fourier": ["128", "1"],
    "graph": ["19", "1"],
    "graphdirect": ["17", "bfs"],
    "graphfrontier": ["17", "bfs"],
    "hashjoin": ["250000", "1"],
    "itemsets": ["70000", "50"],
    "lookups": ["3000", "5000"],
    "multigrid": ["56"],
    "remesh": ["9", "4"],
    "sortkeys": ["4000000", "1"],
    "sparsecg": ["12000", "128", "1"],
    "updates": ["8000000", "10000"],
    "vcycle": ["112", "1"],
}
LARGER = QUICK | (SLOW if os.environ.get("THERMOCLINE_SLOW") else {})
SECONDS = 1800
BIN = Path(os.environ.get("THERMOCLINE_BIN", ROOT / ".venv" / "bin"))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("migrated")
    done = make(SOURCE, out)
    assert done.returncode == 0, done.stderr
    return out


def peak_bytes(program: Path, arguments: list[str]) -> tuple[str, int]:
    """What it prints, and how much memory it had at most."""
    with subprocess.Popen([program, *arguments], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return output, usage.ru_maxrss * 1024


def whole(command: list[str | Path]) -> tuple[int, str, str]:
    """Status and what it printed; what takes too long is ended with all that it started."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    ) as process:
        try:
            out, err = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            pytest.fail(f"no end after {SECONDS} s")
    return process.returncode, out, err


def test_every_workload_is_listed() -> None:
    assert sorted(QUICK | SLOW) == sorted(SIZES)


@pytest.mark.skipif(os.geteuid() != 0, reason="userfaultfd with fork events needs root")
@pytest.mark.parametrize("workload", LARGER)
def test_the_same_at_a_quarter_near(workload: str, plain: Path) -> None:
    wanted, peak = peak_bytes(plain / workload, LARGER[workload])
    words = ["migrate", "--machine", "dram-cxl", "--near", str(peak // 4)]
    words += ["--granularity", "64K", "--check", "--json"]
    command: list[str | Path] = [
        BIN / "thermocline",
        *words,
        "--",
        plain / workload,
        *LARGER[workload],
    ]
    status, out, err = whole(command)
    assert status == 0, err
    assert deterministic(err) == deterministic(wanted)
    (process,) = json.loads(out)["processes"]
    assert process["faults"] > 0
    assert process["corrupt_pages"] == process["lost_pages"] == 0
