"""`make demo`: two programs through the whole loop, with the public commands only.

compile -> profile -> plan (three strategies and first touch, at 12.5, 25 and 50 % of the
program's memory) -> guided run.  The fast tier is KNL's MCDRAM, modelled: each guided run
carries the cache model beside it, which counts the bytes that each tier really served.  Then
demo_predictions.py says what other machines would make of one of them.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import demo_predictions

ROOT = Path(__file__).resolve().parents[1]
BIN = ROOT / ".venv" / "bin"
WORK = ROOT / "build" / "demo"
MACHINE = "knl-7230"
# Olson et al. 2018 told contexts apart by up to four callers.
CONTEXT = 4
CAPACITIES = ("12.5%", "25%", "50%")
STRATEGIES = ("first-touch", "knapsack", "hotset", "thermos")


@dataclass(frozen=True)
class Workload:
    name: str
    what: str
    arguments: tuple[str, ...]

    @property
    def command(self) -> list[str]:
        return [str(WORK / self.name), *self.arguments]

    @property
    def profile(self) -> Path:
        return WORK / f"{self.name}.profile"


WORKLOADS = (
    Workload("multigrid", "C, algebraic multigrid (AMG-like)", ("56",)),
    Workload("ocean", "Fortran, ocean model (ROMS-like)", ("112", "2")),
)


def environment() -> dict[str, str]:
    return {
        **os.environ,
        # The demo's quick calibration does not replace one that the host may have.
        "THERMOCLINE_CALIBRATION": str(WORK / "calibration.json"),
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "THERMOCLINE_CONTEXT": str(CONTEXT),
    }


def call(command: Sequence[str], show: bool = False) -> str:
    """Runs a command; its output is shown only when it fails."""
    if show:
        print("$ " + " ".join(shorten(part) for part in command), flush=True)
    done = subprocess.run(
        command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        sys.stderr.write(done.stdout + done.stderr)
        sys.exit(f"demo: this failed (exit status {done.returncode}): {' '.join(command)}")
    return done.stdout


def shorten(part: str) -> str:
    return part.replace(f"{ROOT}/", "").removeprefix(".venv/bin/")


def thermocline(*arguments: str, show: bool = False) -> str:
    return call([str(BIN / "thermocline"), *arguments], show)


def parsed(text: str) -> dict[str, Any]:
    answer = json.loads(text)
    assert isinstance(answer, dict)
    return answer


def compile_workloads() -> None:
    names = [workload.name for workload in WORKLOADS]
    compilers = ["CC=thermocline-clang", "CXX=thermocline-clang++", "FC=thermocline-flang"]
    print(f"compile, with up to {CONTEXT} callers told apart:")
    call(["make", "-s", "-C", "workloads", f"OUT={WORK}", *compilers, *names], show=True)


def profile(workload: Workload) -> None:
    thermocline(
        "profile", "--machine", MACHINE, "-o", str(workload.profile), "--force",
        "--", *workload.command, show=True,
    )  # fmt: skip


def plan_path(workload: Workload, strategy: str, capacity: str) -> Path:
    return WORK / f"{workload.name}.{strategy}-{capacity.rstrip('%')}.plan"


def plan(workload: Workload, strategy: str, capacity: str) -> dict[str, Any]:
    path = plan_path(workload, strategy, capacity)
    return parsed(
        thermocline(
            "plan", str(workload.profile), "--machine", MACHINE, "--capacity", capacity,
            "--strategy", strategy, "-o", str(path), "--force", "--json",
        )
    )  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    share: float
    used: int
    capacity: int


def guided_run(workload: Workload, strategy: str, capacity: str) -> Outcome:
    planned = plan(workload, strategy, capacity)
    report = Path(planned["plan"]).with_suffix(".run.json")
    thermocline(
        "run", "--plan", planned["plan"], "--machine", MACHINE, "--trace",
        "-o", str(report), "--force", "--", *workload.command,
    )  # fmt: skip
    answer = parsed(report.read_text())
    [process] = answer["processes"]
    tiers = process["tiers"]
    traffic = [tier["read_bytes"] + tier["write_bytes"] for tier in tiers]
    # The run keeps room in the fast tier for the stack, globals and the like.
    capacity_bytes = planned["capacity_bytes"]
    nonheap = capacity_bytes - tiers[0]["capacity_bytes"]
    return Outcome(
        traffic[0] / sum(traffic), tiers[0]["peak_resident_bytes"] + nonheap, capacity_bytes
    )


def print_results(workload: Workload, results: dict[tuple[str, str], Outcome]) -> None:
    peak = parsed(workload.profile.read_text())["peak_resident_bytes"]
    print(f"\n{workload.name}: {workload.what}; {peak / 2**20:.0f} MiB at its peak")
    print(f"{'':13}" + "".join(f"{f'fast tier of {c}':>26}" for c in CAPACITIES))
    print(f"{'':13}" + f"{'traffic':>11}{'capacity used':>15}" * len(CAPACITIES))
    for strategy in STRATEGIES:
        cells = []
        for capacity in CAPACITIES:
            got = results[strategy, capacity]
            used = f"{got.used / 2**20:.1f}M {100 * got.used / got.capacity:.0f}%"
            cells.append(f"{100 * got.share:10.1f}%{used:>15}")
        print(f"{strategy:<13}" + "".join(cells))


def main() -> int:
    start = time.monotonic()
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    compile_workloads()
    print("\nprofile, with a KNL tile's caches modelled (1 MiB of L2, one thread):")
    # Two at a time: each run is one thread, and traffic does not depend on speed.
    with ThreadPoolExecutor(max_workers=2) as pool:
        list(pool.map(profile, WORKLOADS))
        print("\nplan, and run guided by each plan, counting the traffic of each tier:")
        first = WORKLOADS[0]
        example = plan_path(first, "thermos", "25%")
        print(
            f"$ thermocline plan {shorten(str(first.profile))} --machine {MACHINE} "
            f"--capacity 25% --strategy thermos -o {shorten(str(example))}\n"
            f"$ thermocline run --plan {shorten(str(example))} --machine {MACHINE} --trace -- "
            f"{' '.join(map(shorten, first.command))}"
        )
        print(f"... {len(WORKLOADS) * len(STRATEGIES) * len(CAPACITIES)} runs", flush=True)
        jobs = {
            (workload, strategy, capacity): pool.submit(guided_run, workload, strategy, capacity)
            for workload in WORKLOADS
            for strategy in STRATEGIES
            for capacity in CAPACITIES
        }
        outcomes = {}
        for done, (key, job) in enumerate(jobs.items(), 1):
            outcomes[key] = job.result()
            if sys.stdout.isatty():
                print(f"\r{done} of {len(jobs)}", end="", flush=True)
    print(
        "\nShare of memory traffic that the fast tier served, and the most of it in use\n"
        "(bytes, and percent of the capacity, which is a share of the program's peak; memory\n"
        "that is not heap goes to the fast tier too and counts)."
    )
    for workload in WORKLOADS:
        print_results(
            workload, {(s, c): got for (w, s, c), got in outcomes.items() if w is workload}
        )
    following = demo_predictions.Predictions(thermocline, WORK).show()
    print(f"\n{time.monotonic() - start:.0f} s in all; everything is in {WORK.relative_to(ROOT)}/")
    print(f"next: . .venv/bin/activate && {' '.join(map(shorten, following))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
