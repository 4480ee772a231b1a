"""How good plans from bursts are: their predicted time over that of plans from exact profiles.

    python bench/bursts.py [--programs hydro,ocean] [--overhead 0.1] [--json FILE]

Each of our workloads runs under both methods; both plans (thermos, a quarter of the peak, on
knl-7230) are judged on the exact profile. Gate: geometric mean 1.03.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from thermocline import paths
from thermocline.machine import store
from thermocline.planning import capacity, planner, speed
from thermocline.profiles import model

ROOT = Path(__file__).resolve().parents[1]
GATE = 1.03
MACHINE = "knl-7230"
PROGRAMS = {
    "graph": ["18", "2"],
    "hashjoin": ["500000", "3"],
    "hydro": ["50", "60"],
    "ocean": ["160", "60"],
    "fdtd": ["120", "60"],
    "spline": ["120", "4"],
}


def build(folder: Path) -> None:
    """All workloads, annotated."""
    compilers = {"CC": "thermocline-clang", "CXX": "thermocline-clang++", "FC": "thermocline-flang"}
    made = [f"{name}={paths.wrapper(command)}" for name, command in compilers.items()]
    command = ["make", "-s", "-C", str(ROOT / "workloads"), f"OUT={folder}", *made]
    subprocess.run(command, check=True)


def profiled(folder: Path, name: str, method: list[str]) -> model.Profile:
    """One run under a method."""
    out = folder / f"{name}.{method[0]}.profile"
    command = [sys.executable, "-m", "thermocline", "profile", "--method", *method]
    command += ["--machine", MACHINE, "-o", str(out), "--force", "--", str(folder / name)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run(
        [*command, *PROGRAMS[name]], check=True, cwd=folder, env=environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    return model.load(out)


def seconds(plan_from: model.Profile, exact: model.Profile) -> float:
    """What the tiers need for the exact profile's traffic under a plan from another."""
    machine = store.find(MACHINE)
    request = planner.Request(machine, capacity.parse("25%"), "thermos")
    found = planner.predicted(planner.make([plan_from], request), exact, request)
    writes = [all_ - read for all_, read in zip(found.traffic, found.reads, strict=True)]
    return speed.of(machine).seconds(found.reads, writes)


def main() -> int:
    """Builds, runs, compares; status 1 when the gate is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--overhead", default="0.1")
    parser.add_argument("--json", help="also write the numbers here")
    options = parser.parse_args()
    ratios: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        build(folder)
        for name in options.programs.split(","):
            exact = profiled(folder, name, ["trace"])
            bursts = profiled(folder, name, ["bursts", "--overhead", options.overhead])
            ratios[name] = seconds(bursts, exact) / seconds(exact, exact)
            print(
                f"{name}: {ratios[name]:.3f} ({bursts.sampling['bursts']} bursts, "
                f"{bursts.wall_seconds:.1f} s; exact {exact.wall_seconds:.1f} s)",
                flush=True,
            )
    mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
    verdict = "pass" if mean <= GATE else "fail"
    print(
        f"predicted time over the exact plan's, geometric mean: {mean:.3f} (gate {GATE}: {verdict})"
    )
    if options.json:
        Path(options.json).write_text(json.dumps({"ratios": ratios, "mean": mean, "gate": GATE}))
    return int(mean > GATE)


if __name__ == "__main__":
    raise SystemExit(main())
