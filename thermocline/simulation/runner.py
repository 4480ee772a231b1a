"""Runs simulations: each is a process of its own, and as many run as the host has cores."""

import json
import os
import subprocess
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from thermocline import paths
from thermocline.errors import ThermoclineError, one_line
from thermocline.executors import Executor, Piece

# Called with the number of a simulation and how many references it has done.
Progress = Callable[[int, int], None]
# Starts a bar of so many references.
Bars = Callable[[str, int | None], Progress]


def no_bars(what: str, total: int | None) -> Progress:
    """Shows nothing."""
    del what, total
    return lambda number, done: None


def program() -> Path:
    """thermocline-simulator."""
    found = paths.library("thermocline-simulator")
    if not found.exists():
        raise ThermoclineError(f"{found} is missing: run make build, or set THERMOCLINE_PREFIX")
    return found


def _failure(stderr: str, status: int) -> ThermoclineError:
    lines = stderr.strip().splitlines()
    said = lines[-1].removeprefix("thermocline: ") if lines else f"it ended with status {status}"
    return ThermoclineError(one_line(said))


def survey(trace: Path, region: dict[str, Any] | None = None) -> dict[str, Any]:
    """A trace's threads, references and touched memory; of a region (`regions.parse`) or all."""
    part = ["--region", json.dumps(region)] if region else []
    done = subprocess.run(
        [program(), "--survey", trace, *part], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise _failure(done.stderr, done.returncode)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def run_all(
    configurations: Sequence[dict[str, Any]],
    progress: Progress,
    jobs: int | None = None,
    streams: Sequence[int] = (),
) -> list[dict[str, Any]]:
    """The answers, in order.  The first failure ends all that still run.

    `streams`: for each configuration a descriptor that its trace comes from, `/dev/fd/N`; ours is
    closed once the simulator has it.
    """
    program()
    running: set[subprocess.Popen[str]] = set()
    lock = threading.Lock()
    stopped = threading.Event()

    def one(number: int) -> dict[str, Any]:
        if stopped.is_set():
            return {}
        with tempfile.TemporaryDirectory(prefix="thermocline-simulate-") as scratch:
            file = Path(scratch) / "config.json"
            file.write_text(json.dumps(configurations[number]), encoding="utf-8")
            return _run(file, number, progress, running, lock, streams[number : number + 1])

    workers = min(jobs or os.cpu_count() or 1, max(1, len(configurations)))
    pool = ThreadPoolExecutor(workers)
    futures = [pool.submit(one, number) for number in range(len(configurations))]
    try:
        return [future.result() for future in futures]
    finally:
        stopped.set()
        with lock:
            for process in running:
                process.kill()
        pool.shutdown(cancel_futures=True)


def run_on(
    executor: Executor,
    configurations: Sequence[dict[str, Any]],
    references: Sequence[int],
    progress: Progress,
) -> list[dict[str, Any]]:
    """The same on an executor's workers, which see the same files.

    `references`: how many each simulation has, since progress is told when it ends only.
    """
    pieces = [
        Piece(run_one, (_absolute(configuration),), float(weight))
        for configuration, weight in zip(configurations, references, strict=True)
    ]
    return executor.run(pieces, lambda number: progress(number, references[number]))


def run_one(configuration: dict[str, Any]) -> dict[str, Any]:
    """A piece of a sweep."""
    return run_all([configuration], lambda *_: None, 1)[0]


def _absolute(configuration: dict[str, Any]) -> dict[str, Any]:
    """With paths that mean the same from another working directory."""
    found = dict(configuration)
    if "trace" in found:
        found["trace"] = str(Path(found["trace"]).absolute())
    if "traces" in found:
        found["traces"] = [str(Path(path).absolute()) for path in found["traces"]]
    return found


def _run(
    file: Path,
    number: int,
    progress: Progress,
    running: set[subprocess.Popen[str]],
    lock: threading.Lock,
    streams: Sequence[int],
) -> dict[str, Any]:
    ours, theirs = os.pipe()
    answer = file.with_name("answer.json")
    errors = file.with_name("errors")
    with answer.open("w") as out, errors.open("w") as err:
        process = subprocess.Popen(
            [str(program()), str(file), "--progress-fd", str(theirs)],
            stdout=out,
            stderr=err,
            text=True,
            pass_fds=(theirs, *streams),
        )
    for descriptor in (theirs, *streams):
        os.close(descriptor)
    with lock:
        running.add(process)
    try:
        with os.fdopen(ours, encoding="utf-8") as lines:
            for line in lines:
                progress(number, int(json.loads(line)["references"]))
        status = process.wait()
    finally:
        with lock:
            running.discard(process)
    if status != 0:
        raise _failure(errors.read_text(encoding="utf-8", errors="replace"), status)
    parsed: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8"))
    return parsed
