"""What telling call paths apart costs a program that runs with --preload.

    python bench/preload.py [--rounds N] [--json FILE]

Per allocation: instructions by valgrind, for 64 paths that were all seen before. Then a program
that makes 40,000 allocations in a second of processor time (calibrated here, with the C library's
malloc), against the same without the library. The gate is the issue's: at most 1.10, on
instructions, at the default number of callers. Beside it the C library's `backtrace` to as many
frames.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
from pathlib import Path

from thermocline.measuring.paired import (
    Command,
    count_by_valgrind,
    describe_machine,
    print_table,
    run_paired,
    write_json,
)
from thermocline.run.preload import CONTEXT

GATE = 1.10
RATE = 40_000  # allocations a second
GATED = f"preload, {CONTEXT} callers"
ALLOCATIONS = (2_000, 42_000)  # their difference leaves the start out
REPOSITORY = Path(__file__).resolve().parent.parent


def variants(directory: Path) -> dict[str, tuple[Command, tuple[str, ...]]]:
    """Name -> command without its numbers, and what follows them."""
    prefix = Path(os.environ.get("THERMOCLINE_PREFIX", REPOSITORY / "build")).resolve()
    library = prefix / "lib" / "thermocline" / "libthermocline.so"
    program = directory / "preload"
    source = str(Path(__file__).with_suffix(".c"))
    subprocess.run(["clang-22", "-O2", "-fno-builtin", source, "-o", str(program)], check=True)
    found: dict[str, tuple[Command, tuple[str, ...]]] = {
        "C library": (Command((str(program),)), ())
    }
    found["C library and backtrace"] = (Command((str(program),)), ("backtrace",))
    heaps = {"guided": "tier 0 nodes - capacity 0\ndefault-tier 0\nnonheap-tier -\n", "sites": ""}
    for name, heap, context in (
        ("library alone", "", None),
        ("preload, 0 callers", "guided", 0),
        (GATED, "guided", CONTEXT),
        ("preload, 16 callers", "guided", 16),
        (f"profiled, {CONTEXT} callers", "sites", CONTEXT),
    ):
        environment = {"LD_PRELOAD": str(library)}
        if heap:
            file = directory / name.replace(" ", "-")
            file.write_text(
                f"thermocline-config 1\nheap {heap}\nsampler none\npreload {context}\n{heaps[heap]}"
            )
            environment["THERMOCLINE_CONFIG"] = str(file)
        found[name] = (Command((str(program),), environment), ())
    return found


def with_numbers(variant: tuple[Command, tuple[str, ...]], count: int, work: int) -> Command:
    """The command for so many allocations and so much work before each."""
    command, rest = variant
    return Command((*command.argv, str(count), str(work), *rest), command.environment)


def work_between(command: Command) -> int:
    """Rounds of the program's loop that take 1 / RATE seconds of a processor."""
    work, count = 2_000, 20_000
    argv = [*command.argv, str(count), str(work)]
    seconds = []
    for _ in range(5):
        done = subprocess.run(argv, check=True, capture_output=True, text=True)
        seconds.append(float(done.stderr))
    return round(work * count / min(seconds) / RATE)


def main() -> int:
    """Builds, measures, prints a table; status 1 when the gate is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", help="also write the numbers here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        found = variants(directory)
        few, many = ALLOCATIONS
        each = {
            variant: (
                count_by_valgrind(with_numbers(command, many, 0), directory)
                - count_by_valgrind(with_numbers(command, few, 0), directory)
            )
            / (many - few)
            for variant, command in found.items()
        }
        plain = "C library"
        work = work_between(found[plain][0])
        series = run_paired(
            {variant: with_numbers(command, 10_000, work) for variant, command in found.items()},
            rounds=options.rounds,
            count_rounds=1,
        )
    document: dict[str, object] = {"rate": RATE, "work": work}
    rows, failed = [], False
    for variant, instructions in each.items():
        ratios = {
            metric: series.ratio(variant, plain, metric) for metric in ("instructions", "seconds")
        }
        counted = ratios["instructions"]
        verdict = counted.verdict(GATE) if counted and variant == GATED else ""
        failed |= verdict == "fail"
        more = instructions - each[plain]
        rows.append(
            [variant, f"{instructions:.0f}", f"{more:+.0f}"]
            + [str(ratio) if ratio else "-" for ratio in ratios.values()]
            + [f"<= {GATE} {verdict}" if verdict else ""]
        )
        document[variant] = {"instructions_per_allocation": instructions} | {
            metric: ratio.as_json() for metric, ratio in ratios.items() if ratio
        }
    print_table(
        ["malloc and free", "instructions", "more", f"at {RATE}/s: instructions", "time", "gate"],
        rows,
    )
    print(describe_machine(series.counter))
    write_json(options.json, document)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
