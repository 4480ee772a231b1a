"""What a spilled range costs to allocate, against a plain mmap of its size.

    python bench/policies.py [--rounds N] [--mib N] [--json FILE]

A plain mmap takes no memory before it is touched, and a microsecond whatever its size: so the
gate, at most 1.2, is on the range allocated and touched once, a page at a time, in processor time
(its own and the kernel's), for hosts are shared. The call by itself stands beside it. On one node
the kernel joins the blocks' mappings; "blocks" calls the kernel so that each stays one of its own,
as where blocks go round sockets.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import tempfile
from pathlib import Path

from thermocline.measuring.paired import Ratio, describe_machine, print_table, write_json

GATE = 1.2
WAYS = ("plain", "spill", "weighted", "blocks")
REPOSITORY = Path(__file__).resolve().parent.parent
RAW = argparse.RawDescriptionHelpFormatter


def build(directory: Path) -> Path:
    prefix = Path(os.environ.get("THERMOCLINE_PREFIX", REPOSITORY / "build")).resolve()
    library = prefix / "lib" / "thermocline"
    program = directory / "policies"
    command = ["clang-22", "-O2", f"-I{prefix}/include", str(Path(__file__).with_suffix(".c"))]
    command += [f"-L{library}", "-lthermocline-policies", f"-Wl,-rpath,{library}"]
    subprocess.run([*command, "-o", str(program)], check=True)
    return program


def nanoseconds(program: Path, way: str, mib: int) -> tuple[float, float]:
    """Of the call, and of the call and the touching."""
    environment = {k: v for k, v in os.environ.items() if k != "THERMOCLINE_MEMORY"}
    done = subprocess.run(
        [program, way, str(mib)], env=environment, check=True, capture_output=True, text=True
    )
    call, whole = done.stdout.split()
    return float(call), float(whole)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=RAW)
    parser.add_argument("--rounds", type=int, default=61)
    parser.add_argument("--mib", type=int, default=256)
    parser.add_argument("--json")
    options = parser.parse_args()
    taken: dict[str, list[tuple[float, float]]] = {way: [] for way in WAYS}
    order = list(WAYS)
    shuffle = random.Random(1)
    with tempfile.TemporaryDirectory() as name:
        program = build(Path(name))
        for _ in range(options.rounds):
            shuffle.shuffle(order)
            for way in order:
                taken[way].append(nanoseconds(program, way, options.mib))
    rows, results = [], {}
    for way in WAYS:
        call = statistics.median(c for c, _ in taken[way])
        whole = statistics.median(w for _, w in taken[way])
        pairs = zip(taken[way], taken["plain"], strict=True)
        ratio = Ratio([ours[1] / theirs[1] for ours, theirs in pairs])
        verdict = "" if way == "plain" else ratio.verdict(GATE)
        rows.append([way, f"{call / 1e3:.1f} µs", f"{whole / 1e6:.1f} ms", str(ratio), verdict])
        results[way] = {"call_ns": call, "touched_ns": whole} | ratio.as_json()
    print(describe_machine("none").split(";")[0] + f"; {options.mib} MiB")
    print_table(["", "the call", "and touched", "touched, over plain", f"gate {GATE}"], rows)
    write_json(options.json, {"gate": GATE, "mib": options.mib, "ways": results})


if __name__ == "__main__":
    main()
