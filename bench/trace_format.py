"""How short traces are, and how fast they are written and read.

    python bench/trace_format.py [--references N] [--runs N] [--json FILE]

Generated streams of references (tests/unit/tracefile/generate.h): loops over arrays, a
stencil, a gather, a pointer chase, and an interpreter-like mix in which nothing repeats for
long.  Times are of the process, on one core; the best of the runs counts.  The gate is on
reading: 50 million references a second.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path

GATE = 50.0
RAW = argparse.RawDescriptionHelpFormatter
REPOSITORY = Path(__file__).resolve().parent.parent
PREFIX = Path(os.environ.get("THERMOCLINE_PREFIX", REPOSITORY / "build")).resolve()
COLUMNS = ("written", "read", "read_with_dependences")


def build(directory: Path) -> Path:
    program = directory / "trace_format"
    command = ["clang++-22", "-std=c++20", "-O2", f"-I{REPOSITORY}"]
    command += [str(Path(__file__).with_suffix(".cpp"))]
    command += [str(PREFIX / "simulator" / "libsimulator_trace.a"), "-lzstd", "-lxxhash"]
    subprocess.run([*command, "-o", str(program)], check=True)
    return program


def measure(program: Path, references: int, level: int, directory: Path) -> dict[str, list[float]]:
    """By stream: bytes a reference, then millions of references a second."""
    command = [str(program), str(references), str(level), str(directory)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    lines = (line.split() for line in done.stdout.splitlines())
    return {name: [float(number) for number in numbers] for name, *numbers in lines}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=RAW)
    parser.add_argument("--references", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--level", type=int, default=1, help="zstd's")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        program = build(Path(name))
        runs = [
            measure(program, options.references, options.level, Path(name))
            for _ in range(options.runs)
        ]
    print(f"{'':10} {'bytes a':>10} {'million references a second':>36}")
    print(f"{'stream':10} {'reference':>10} {'written':>10} {'read':>10} {'+ waits':>14}  gate")
    rows = []
    for stream in runs[0]:
        speeds = [max(run[stream][i] for run in runs) for i in (1, 2, 3)]
        size = runs[0][stream][0]
        answer = "pass" if speeds[1] >= GATE else "fail"
        print(
            f"{stream:10} {size:10.3f} {speeds[0]:10.1f} {speeds[1]:10.1f} {speeds[2]:14.1f}"
            f"  {answer}"
        )
        rows.append(
            {
                "stream": stream,
                "bytes_per_reference": size,
                **dict(zip(COLUMNS, speeds, strict=True)),
                "gate": GATE,
                "answer": answer,
            }
        )
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
