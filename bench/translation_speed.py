"""How many references a second the simulator's TLBs translate, without cores, caches or memories.

    python bench/translation_speed.py [--references N] [--runs N] [--json FILE]

One core.  Addresses are made before the clock starts; seconds are of processor time, the least of
the runs.  Goal: 10 million references a second, of the mix (nine of ten references in 16 MiB) and
of streams; random references to 16 GiB, each a walk, are shown beside.
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
GOAL = 10e6
JUDGED = ("stream", "mix")


def build(directory: Path) -> Path:
    """The driver, from the simulator's sources."""
    program = directory / "translation_speed"
    sources = sorted((REPOSITORY / "simulator" / "translation").glob("*.cpp"))
    command = ["clang++-22", "-std=c++20", "-O2", f"-I{REPOSITORY}", "-o", str(program)]
    command += [str(Path(__file__).with_suffix(".cpp")), *map(str, sources)]
    subprocess.run(command, check=True)
    return program


def run(program: Path, tlb: str, mode: str, pattern: str, count: int) -> dict[str, Any]:
    """One measurement."""
    command = [str(program), tlb, mode, pattern, str(count)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def main() -> None:
    """Runs all and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--references", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = []
    print(f"{'':<28} {'references/s':>14} {'misses':>8}")
    with tempfile.TemporaryDirectory(prefix="thermocline-bench-") as scratch:
        program = build(Path(scratch))
        for mode in ("native", "nested"):
            for tlb in ("baseline", "pom"):
                for pattern in ("stream", "mix", "random"):
                    done = [
                        run(program, tlb, mode, pattern, options.references)
                        for _ in range(options.runs)
                    ]
                    rate = options.references / min(float(each["seconds"]) for each in done)
                    missed = int(done[0]["misses"]) / options.references
                    row = {"mode": mode, "tlb": tlb, "pattern": pattern, "misses": missed}
                    rows.append(row | {"references_per_second": rate})
                    verdict = ("met" if rate >= GOAL else "missed") if pattern in JUDGED else ""
                    name = f"{mode}, {tlb}, {pattern}"
                    print(f"{name:<28} {rate:>14,.0f} {100 * missed:>6.1f} % {verdict}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
