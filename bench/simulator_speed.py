"""How fast the simulator is: references and device requests a second of its own processor time.

The traces are made here: random places (every reference a device request), streams, a mix that
mostly hits the caches, and hot pages that change four times, which hma follows; on the machine of
Ryoo 2017 with HBM2 and DDR4, made as small as the trace's threads.  Reading the trace is part of
the time, of which the least of the runs counts: what else is at work only slows it down.  Goal: a
million device requests a second, with a scheme that migrates.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from thermocline import paths, units
from thermocline.machine import store
from thermocline.simulation import config, runner, scheme

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "python"))
raw_trace: Any = import_module("raw_trace")

RECORD = np.dtype(
    [("address", "<u8"), ("instruction", "<u4"), ("owner", "<u4"), ("gap", "<u4"), ("word", "<u4")]
)
MACHINE = "ryoo-hbm-ddr3"
DEVICES = {"DDR3-1600": "DDR4-2400", "HBM2-Ryoo": "HBM2"}
SCHEMES = (
    "first-touch",
    "alloy",
    "cameo",
    "pom",
    "silc-fm",
    "hma:epoch=250us:threshold=8:copiers=4:shootdown=100ns*flat",
)
GOAL = 1e6  # device requests a second, of those that migrate
OWNERS = ["a.out!first@a.c:1", "a.out!second@a.c:2"]
Addresses = npt.NDArray[np.uint64]
SIZE = 1 << 29  # of the memory that random places are in


@dataclass(frozen=True)
class Case:
    """A trace's shape."""

    name: str
    count: int  # references of each thread
    threads: int
    gap: int
    make: Callable[[np.random.Generator, int], Addresses]


def random_places(rng: np.random.Generator, count: int) -> Addresses:
    return rng.integers(0, SIZE // 8, count, dtype=np.uint64) * np.uint64(8)


def stream(_: np.random.Generator, count: int) -> Addresses:
    return np.arange(count, dtype=np.uint64) * np.uint64(8)


def mostly_hits(rng: np.random.Generator, count: int) -> Addresses:
    near = rng.integers(0, 1024, count, dtype=np.uint64) * np.uint64(8)
    return np.where(rng.random(count) < 0.02, random_places(rng, count), near)


def hot_pages(rng: np.random.Generator, count: int) -> Addresses:
    pages, hot = 8192, 1024
    chosen = np.concatenate(
        [rng.choice(pages, hot, replace=False)[rng.integers(0, hot, count // 4)] for _ in range(4)]
    )
    anywhere = rng.integers(0, pages, len(chosen))
    page = np.where(rng.random(len(chosen)) < 0.9, chosen, anywhere).astype(np.uint64)
    return page * np.uint64(4096) + rng.integers(0, 512, len(page), dtype=np.uint64) * np.uint64(8)


CASES = [
    Case("random, 1 thread", 1_000_000, 1, 9, random_places),
    Case("random, 8 threads", 125_000, 8, 9, random_places),
    Case("stream, 1 thread", 4_000_000, 1, 3, stream),
    Case("98 % hits, 1 thread", 4_000_000, 1, 3, mostly_hits),
    Case("hot pages, 8 threads", 250_000, 8, 9, hot_pages),
]


def write(case: Case, path: Path) -> None:
    """The raw stream, by numpy: millions of references take a second."""
    rng = np.random.default_rng(7)
    threads = []
    for thread in range(case.threads):
        records = np.zeros(case.count, RECORD)
        records["address"] = case.make(rng, case.count) + np.uint64((thread + 1) << 32)
        store_bit = (rng.random(case.count) < 0.25).astype(np.uint32)
        records["word"] = store_bit << 4 | 8 << 5
        records["gap"] = case.gap
        records["owner"] = records["address"] >> np.uint64(20) & np.uint64(1)
        threads.append(records)
    raw_trace.write_records(path, [r.tobytes() for r in threads], case.gap + 1, OWNERS)


def machine(folder: Path) -> Path:
    """The machine's file, with HBM2 and DDR4."""
    text = store.shipped()[MACHINE].read_text()
    for old, new in DEVICES.items():
        text = text.replace(f'standard = "{old}"', f'standard = "{new}"')
    file = folder / "hbm2-ddr4.toml"
    file.write_text(text)
    return file


def run(file: Path) -> tuple[dict[str, Any], float]:
    """The answer, and the user time that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    program = paths.library("thermocline-simulator")
    done = subprocess.run([program, file], capture_output=True, text=True, check=True)
    return json.loads(done.stdout), resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def measure(case: Case, trace: Path, modelled: Path, runs: int) -> list[dict[str, Any]]:
    """Every scheme on one trace."""
    write(case, trace)
    found = runner.survey(trace)
    touched = int(found["touched_bytes"])
    file = trace.with_name("config")
    rows = []
    for name in SCHEMES:
        setting = config.Setting(
            store.find(str(modelled)), case.threads, touched, near_bytes=touched // 4
        )
        configured = config.configure(setting, trace, scheme.parse(name), None)
        file.write_text(json.dumps(configured.json))
        done = [run(file) for _ in range(runs)]
        seconds, answer = min(time for _, time in done), done[0][0]
        moved = answer["placement"].get("migration", {}).get("moved_bytes")
        rows.append(
            {
                "case": case.name,
                "scheme": name,
                "references_per_second": answer["references"] / seconds,
                "device_requests_per_second": answer["device_requests"] / seconds,
                "moved_bytes": moved,
            }
        )
    return rows


def main() -> None:
    """Runs all and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    table = []
    print(f"{'':<36} {'references/s':>14} {'device requests/s':>18} {'moved':>10}")
    with tempfile.TemporaryDirectory(prefix="thermocline-bench-") as scratch:
        modelled = machine(Path(scratch))
        for case in CASES:
            for row in measure(case, Path(scratch) / "trace", modelled, options.runs):
                table.append(row)
                requests = row["device_requests_per_second"]
                moved = row["moved_bytes"]
                verdict = ("met" if requests >= GOAL else "missed") if moved else ""
                print(
                    f"{case.name + ', ' + row['scheme'].split(':')[0]:<36}"
                    f" {row['references_per_second']:>14,.0f} {requests:>18,.0f}"
                    f" {units.format_bytes(moved) if moved else '':>10} {verdict}",
                    flush=True,
                )
    if options.json:
        options.json.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
