"""Compiles and runs the programs of call_graph.py with and without the plugin."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

GENERATOR = Path(__file__).with_name("call_graph.py")
UNLIMITED = 1_000_000


def agrees(arguments: argparse.Namespace, seed: int, context: int, budget: int) -> bool:
    work: Path = arguments.work
    name = f"s{seed}-n{context}-b{budget}"
    source = work / f"{name}.cc"
    generate = [sys.executable, str(GENERATOR), "--seed", str(seed), "--context", str(context)]
    generate += ["--file", f"{work.name}/{source.name}"]
    if budget != UNLIMITED:
        generate.append("--prefix")
    source.write_text(subprocess.run(generate, check=True, capture_output=True, text=True).stdout)
    compile_command = [arguments.clang, "-w", "-g", "-gno-column-info", f"-O{(seed + context) % 4}"]
    plain, annotated = work / f"{name}.plain", work / name
    subprocess.run([*compile_command, str(source), "-o", str(plain)], check=True)
    options = f"module=p;context={context};budget={budget};twins=off;notes={work / 'notes'}"
    subprocess.run(
        [*compile_command, str(source), "-o", str(annotated), *arguments.link],
        check=True,
        env={**os.environ, "THERMOCLINE_PLUGIN_OPTIONS": options},
    )
    expected = subprocess.run([str(plain)], check=False, capture_output=True, text=True)
    got = subprocess.run([str(annotated)], check=False, capture_output=True, text=True)
    same = expected.stdout == got.stdout and got.returncode == 0 and not expected.returncode
    if not same:
        print(f"{name} differ: {expected.stdout}{got.stdout}{got.stderr}")
    return same


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clang", required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", required=True)
    parser.add_argument("link", nargs="+")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    cases = [(seed, n, UNLIMITED) for seed in arguments.seeds for n in range(5)]
    cases += [(seed, 3, 40) for seed in arguments.seeds]
    results = [agrees(arguments, *case) for case in cases]
    print(f"{sum(results)} programs agree")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
