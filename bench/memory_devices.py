"""How fast the simulator's memories are, and how far screening is from faithful timing.

    python bench/memory_devices.py [--requests N] [--runs N] [--device NAME] [--json FILE]

One channel, one thread, saturated: each request comes as soon as there is room.  The streams are
made before the clock starts.  Seconds are of processor time, the least of the runs.  Goals
(requests a second on one DDR4-2400 channel): faithful 2 million random, 5 million streaming;
screening 20 million.  Exit status 1 when faithful timing misses its goals.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from thermocline.machine import devices

REPOSITORY = Path(__file__).resolve().parent.parent
RAW = argparse.RawDescriptionHelpFormatter
SPAN = 4 << 30
STREAMS = [("random", 0), ("random", 33), ("stream", 0), ("stream", 33), ("mixed", 33)]
GOALS = {"faithful": {"random": 2e6, "stream": 5e6}, "screening": {"random": 20e6, "stream": 20e6}}


def build(directory: Path) -> Path:
    """The driver, from the simulator's sources."""
    program = directory / "memory_devices"
    sources = sorted((REPOSITORY / "simulator" / "memory").glob("*.cpp"))
    command = ["clang++-22", "-std=c++20", "-O2", f"-I{REPOSITORY}", "-o", str(program)]
    command += [str(Path(__file__).with_suffix(".cpp")), *map(str, sources)]
    subprocess.run(command, check=True)
    return program


def run(program: Path, config: Path, pattern: str, writes: int, count: int) -> dict[str, Any]:
    """One stream."""
    command = [str(program), str(config), pattern, str(count), "0", str(SPAN), str(writes)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def measure(
    program: Path, configs: dict[devices.Fidelity, Path], count: int, runs: int
) -> list[dict[str, Any]]:
    """Every stream with both models, each as fast as it ever was."""
    rows = []
    for pattern, writes in STREAMS:
        for fidelity, config in configs.items():
            results = [run(program, config, pattern, writes, count) for _ in range(runs)]
            best = min(results, key=lambda result: float(result["seconds"]))
            best |= {"pattern": pattern, "writes": writes, "fidelity": fidelity}
            best["requests_per_second"] = count / best["seconds"]
            rows.append(best)
    return rows


def main() -> int:
    """Runs all, prints a table, judges."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=RAW)
    parser.add_argument("--requests", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--device", default="DDR4-2400")
    parser.add_argument("--json", type=Path, help="also write the numbers here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        program = build(directory)
        configs: dict[devices.Fidelity, Path] = {}
        for fidelity in ("faithful", "screening"):
            configs[fidelity] = directory / f"{fidelity}.json"
            resolved = devices.resolve(options.device, fidelity=fidelity)
            configs[fidelity].write_text(json.dumps(resolved))
        rows = measure(program, configs, options.requests, options.runs)
    print("stream           model      M req/s  goal    GB/s  latency ns  row hits  energy nJ/req")
    missed = False
    faithful: dict[str, Any] = {}
    for row in rows:
        goal = GOALS[row["fidelity"]].get(row["pattern"])
        if options.device != "DDR4-2400":
            goal = None
        slow = goal is not None and row["requests_per_second"] < goal
        missed = missed or (slow and row["fidelity"] == "faithful")
        hits = row["row_hits"] / options.requests
        verdict = "" if goal is None else "missed" if slow else "met"
        print(
            f"{row['pattern']:6} {row['writes']:2} % wr.  {row['fidelity']:9}"
            f" {row['requests_per_second'] / 1e6:8.2f}  {verdict:6}"
            f" {row['bytes_per_second'] / 1e9:6.2f}  {row['mean_read_latency_ps'] / 1e3:10.1f}"
            f"  {hits:8.3f}  {row['energy_pj'] / 1e3 / options.requests:8.2f}"
        )
        if row["fidelity"] == "faithful":
            faithful = row
        else:
            bandwidth = row["bytes_per_second"] / faithful["bytes_per_second"] - 1
            latency = row["mean_read_latency_ps"] / faithful["mean_read_latency_ps"] - 1
            print(f"    screening's error: bandwidth {bandwidth:+.1%}, latency {latency:+.1%}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
