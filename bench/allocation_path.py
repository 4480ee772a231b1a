"""What malloc + free through a guided site cost, against mimalloc's own entries.

    python bench/allocation_path.py [--pairs N] [--rounds N] [--json FILE]

mimalloc's side is the same source, compiled with the library's own flags into a shared library
of its own. What the loop costs without any allocation is taken off both sides. The gate is
the issue's: at most 1.10, on instructions; time is printed beside it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

from thermocline.measuring.paired import (
    Command,
    Ratio,
    describe_machine,
    print_table,
    run_paired,
    write_json,
)

GATE = 1.10
REPOSITORY = Path(__file__).resolve().parent.parent
MIMALLOC = REPOSITORY / "third_party" / "mimalloc"
# runtime/CMakeLists.txt has the same.
LIBRARY_FLAGS = ["-O3", "-DNDEBUG", "-fdebug-default-version=4", "-fPIC", "-flto", "-fuse-ld=lld"]
LIBRARY_FLAGS += ["-ftls-model=initial-exec", "-fno-plt"]
CONFIGURATION = """thermocline-config 1
heap guided
tier 0 nodes - capacity 0
tier 1 nodes - capacity 0
default-tier 1
nonheap-tier -
site 0 allocation_path!work@bench/allocation_path.c:1
"""


def build(directory: Path) -> dict[str, Command]:
    """The variants: guided, plain (no configuration), own, loop."""
    source = str(Path(__file__).with_suffix(".c"))
    prefix = Path(os.environ.get("THERMOCLINE_PREFIX", REPOSITORY / "build")).resolve()
    library = prefix / "lib" / "thermocline"
    own = directory / "libown.so"
    common = ["clang-22", "-O2", "-fno-plt", "-fno-builtin", "-pthread", source]
    includes = [f"-I{MIMALLOC / 'include'}", "-DMI_SHARED_LIB", "-DMI_SHARED_LIB_EXPORT"]
    static = str(MIMALLOC / "src" / "static.c")
    link = [f"-I{REPOSITORY / 'runtime'}", f"-L{library}", "-lthermocline", f"-Wl,-rpath,{library}"]
    for command in (
        ["clang-22", *LIBRARY_FLAGS, "-shared", *includes, static, "-o", str(own)],
        [*common, "-DGUIDED", *link, "-o", str(directory / "guided")],
        [*common, "-DOWN", str(own), f"-Wl,-rpath,{directory}", "-o", str(directory / "own")],
        [*common, "-o", str(directory / "loop")],
    ):
        subprocess.run(command, check=True)
    configuration = directory / "configuration"
    configuration.write_text(CONFIGURATION)
    guided = {"THERMOCLINE_CONFIG": str(configuration)}
    return {
        "guided": Command((str(directory / "guided"),), guided),
        "plain": Command((str(directory / "guided"),)),
        "own": Command((str(directory / "own"),)),
        "loop": Command((str(directory / "loop"),)),
    }


def without_loop(ours: list[float], theirs: list[float], loop: list[float]) -> Ratio:
    """Ratios of what is left when the loop's median is taken off."""
    rest = statistics.median(loop)
    return Ratio([(a - rest) / (b - rest) for a, b in zip(ours, theirs, strict=True)])


def main() -> int:
    """Builds, measures, prints a table; status 1 when the gate on instructions is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pairs", type=int, default=20_000_000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", help="also write the numbers here")
    options = parser.parse_args()
    rows, document, failed = [], {}, False
    with tempfile.TemporaryDirectory() as scratch:
        programs = build(Path(scratch))
        arguments = (str(options.pairs), "1")
        variants = {
            name: Command(command.argv + arguments, command.environment)
            for name, command in programs.items()
        }
        series = run_paired(variants, rounds=options.rounds)
    for metric in ("instructions", "seconds"):
        values = {name: series.values(name, metric) for name in variants}
        loop, own = values["loop"], values["own"]
        if loop is None or own is None:
            continue
        for name in ("guided", "plain"):
            ours = values[name]
            if ours is None:
                continue
            ratio = without_loop(ours, own, loop)
            verdict = ratio.verdict(GATE)
            failed |= metric == "instructions" and verdict == "fail"
            scale = 1 if metric == "instructions" else 1e9
            each = [
                f"{(statistics.median(side) - statistics.median(loop)) * scale / options.pairs:.1f}"
                for side in (ours, own)
            ]
            unit = "instructions" if metric == "instructions" else "ns"
            rows.append([name, unit, *each, str(ratio), f"<= {GATE}", verdict])
            document[f"{name} {metric}"] = ratio.as_json() | {"gate": GATE, "verdict": verdict}
    print_table(["site", "per pair", "ours", "own", "ratio [95 %]", "gate", "verdict"], rows)
    print(describe_machine(series.counter))
    write_json(options.json, document)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
