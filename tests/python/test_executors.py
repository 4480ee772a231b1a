"""Independent pieces of work, on this host and on Dask's workers."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from thermocline import executors
from thermocline.errors import BadFile, Misuse, ThermoclineError
from thermocline.executors import Executor, Piece

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    from distributed import LocalCluster

    with LocalCluster(  # type: ignore[no-untyped-call]
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as cluster:
        yield cluster.scheduler_address


@pytest.fixture(params=["local", "dask"])
def executor(request: pytest.FixtureRequest) -> Executor:
    if request.param == "local":
        return executors.choose(None, jobs=2)
    return executors.choose(request.getfixturevalue("scheduler"))


def half(number: int) -> float:
    if number < 0:
        raise BadFile("x", "too small")
    time.sleep(0.01)
    return number / 2


def test_the_order_is_kept_and_failures_are_raised(executor: Executor) -> None:
    done: list[int] = []
    pieces = [Piece(half, (number,), weight=number) for number in range(5)]
    assert executor.run(pieces, done.append) == [0, 0.5, 1, 1.5, 2]
    assert sorted(done) == [0, 1, 2, 3, 4]
    with pytest.raises(ThermoclineError, match="too small"):
        executor.run([Piece(half, (-1,))], done.append)
    assert executor.run([], done.append) == []


def once(folder: str, number: int) -> int:
    """Notes that it ran; number 4 kills its worker the first time, after the others have ended."""
    with (Path(folder) / str(number)).open("a") as runs:
        runs.write("x")
    if number == 4 and (Path(folder) / "4").read_text() == "x":
        while sum(1 for n in range(4) if (Path(folder) / f"done{n}").exists()) < 4:
            time.sleep(0.05)
        os._exit(1)
    return number * number


def test_a_worker_that_dies_loses_no_finished_work(tmp_path: Path, scheduler: str) -> None:
    pieces = [Piece(once, (str(tmp_path), number)) for number in range(5)]
    workers = executors.choose(scheduler)
    answers = workers.run(pieces, lambda number: (tmp_path / f"done{number}").touch())
    assert answers == [0, 1, 4, 9, 16]
    assert [(tmp_path / str(n)).read_text() for n in range(5)] == ["x", "x", "x", "x", "xx"]


def test_simulations_are_the_same_on_workers(scheduler: str) -> None:
    def table(*more: str) -> Any:
        words = ["simulate", "tests/golden/version1.trace", "--machine", "knl-7230", "--json"]
        done = subprocess.run(
            [sys.executable, "-m", "thermocline", *words, "--scheme", "first-touch,random", *more],
            cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        for row in found["rows"]:
            del row["result"]["host_seconds"]
        return found

    assert table("--scheduler", scheduler) == table()


def rest(folder: str) -> None:
    (Path(folder) / str(os.getpid())).touch()
    time.sleep(100)


def test_workers_do_not_outlive_a_killed_parent(tmp_path: Path) -> None:
    script = (
        "from thermocline import executors; from test_executors import rest\n"
        "if __name__ == '__main__':\n"
        f"    pieces = [executors.Piece(rest, ({str(tmp_path)!r},))] * 2\n"
        "    executors.choose(None, jobs=2).run(pieces, print)\n"
    )
    main = tmp_path / "main.py"
    main.write_text(script, encoding="utf-8")
    path = {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    parent = subprocess.Popen([sys.executable, str(main)], env=os.environ | path)
    workers: list[int] = []
    until = time.monotonic() + 60
    while len(workers) < 2 and time.monotonic() < until:
        workers = [int(at.name) for at in tmp_path.iterdir() if at.name.isdigit()]
        time.sleep(0.05)
    assert len(workers) == 2
    parent.kill()
    parent.wait()
    while any(Path(f"/proc/{worker}").exists() for worker in workers) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)


def test_no_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Misuse, match="--scheduler nonsense://x"):
        executors.choose("nonsense://x").run([Piece(half, (1,))], lambda _: None)
    from distributed import Client

    def refused(*_: object, **__: object) -> None:
        raise OSError("timed out")

    monkeypatch.setattr(Client, "__init__", refused)
    with pytest.raises(ThermoclineError, match="dask scheduler"):
        executors.choose("tcp://127.0.0.1:1").run([Piece(half, (1,))], lambda _: None)
