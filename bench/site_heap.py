"""What the profiling heap costs in time and memory, against the allocator's default heap.

    python bench/site_heap.py [--runs N] [--json FILE]

The same program (site_heap.cpp) with and without `heap sites`, at 1,000 and 10,000 sites and 8
threads, with the sites' shares of memory by Zipf's law, as programs have them, and all alike. The
gate is on memory: at 1,000 sites and 8 threads at most 1.15 times the resident memory, for both.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

GATE = 1.15
RAW = argparse.RawDescriptionHelpFormatter
THREADS = 8
KIB_PER_THREAD = 16 << 10
ROUNDS = 3
REPOSITORY = Path(__file__).resolve().parent.parent
CASES = [(1000, "zipf"), (1000, "flat"), (10000, "zipf"), (10000, "flat")]


def build(directory: Path) -> Path:
    prefix = Path(os.environ.get("THERMOCLINE_PREFIX", REPOSITORY / "build")).resolve()
    library = prefix / "lib" / "thermocline"
    program = directory / "site_heap"
    command = ["clang++-22", "-std=c++20", "-O2", "-fno-builtin", "-pthread"]
    command += [str(Path(__file__).with_suffix(".cpp")), f"-L{library}", "-lthermocline"]
    subprocess.run([*command, f"-Wl,-rpath,{library}", "-o", str(program)], check=True)
    return program


def run(program: Path, sites: int, shape: str, configuration: Path | None) -> tuple[float, int]:
    """Nanoseconds per replaced block, and resident KiB."""
    environment = {k: v for k, v in os.environ.items() if k != "THERMOCLINE_CONFIG"}
    if configuration:
        environment["THERMOCLINE_CONFIG"] = str(configuration)
    arguments = [str(sites), str(THREADS), str(KIB_PER_THREAD), shape, str(ROUNDS)]
    done = subprocess.run(
        [str(program), *arguments], env=environment, check=True, capture_output=True, text=True
    )
    nanoseconds, kib = done.stdout.split()
    return float(nanoseconds), int(kib)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=RAW)
    parser.add_argument("--runs", type=int, default=5, help="of each variant, interleaved")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = []
    ratios = []
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        program = build(directory)
        configuration = directory / "configuration"
        configuration.write_text("thermocline-config 1\nheap sites\nsampler none\n")
        print("sites  sizes    ns plain  ns sites   MiB plain  MiB sites  memory ratio")
        for sites, shape in CASES:
            pairs = [
                (run(program, sites, shape, None), run(program, sites, shape, configuration))
                for _ in range(options.runs)
            ]
            plain_ns, sites_ns = (statistics.median(p[i][0] for p in pairs) for i in (0, 1))
            plain_kib, sites_kib = (statistics.median(p[i][1] for p in pairs) for i in (0, 1))
            ratio = sites_kib / plain_kib
            ratios.append((sites, ratio))
            rows.append(
                {
                    "sites": sites,
                    "threads": THREADS,
                    "sizes": shape,
                    "plain_ns": plain_ns,
                    "sites_ns": sites_ns,
                    "plain_kib": plain_kib,
                    "sites_kib": sites_kib,
                    "memory_ratio": ratio,
                }
            )
            print(
                f"{sites:6} {shape:6} {plain_ns:9.1f} {sites_ns:9.1f} {plain_kib / 1024:11.1f} "
                f"{sites_kib / 1024:10.1f} {ratio:13.3f}"
            )
    worst = max(ratio for sites, ratio in ratios if sites == 1000)
    verdict = "met" if worst <= GATE else "missed"
    print(f"gate: memory at 1000 sites and {THREADS} threads at most {GATE}: {verdict}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
