"""What annotation and guidance cost real programs, beside the same allocator without them.

For each of several allocation-heavy programs (real_programs.py), all variants are links of
the same full-LTO objects:

  mimalloc    not annotated, with mimalloc itself, built as ours is
  annotated-N annotated at context N, run without a plan
  guided      annotated-0, under a plan that puts everything into one tier

Gates (on instructions, geometric mean): annotated 1.01, guided 1.02. Resident memory, link
time and executable size are printed beside.

    python3 bench/real_overhead.py [--programs lua,gawk] [--rounds 15] [--json FILE]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Any

from thermocline.measuring.paired import (
    BenchError,
    GeometricMean,
    Ratio,
    Series,
    describe_machine,
    print_table,
    run_paired,
    write_json,
)
from thermocline.measuring.real_programs import REAL_PROGRAMS, BuiltProgram, Link, prefix

REPOSITORY = Path(__file__).resolve().parent.parent
BASELINE = "mimalloc"
CONTEXTS = (0, 2, 4)
GATES = {"annotated-0": 1.01, "annotated-4": 1.01, "guided": 1.02}
ONE_TIER = """thermocline-config 1
heap guided
sampler none
interval-ms 100
tier 0 nodes 0 capacity 0
default-tier 0
nonheap-tier -
"""


def build_mimalloc(directory: Path) -> Path:
    """mimalloc as a shared library that is the process's malloc, with our library's own flags."""
    library = directory / "libmimalloc-same.so"
    source = REPOSITORY / "third_party" / "mimalloc"
    flags = ["-O3", "-DNDEBUG", "-flto", "-fPIC", "-ftls-model=initial-exec", "-fno-plt"]
    flags += ["-fno-builtin-malloc", "-fno-strict-aliasing", "-fvisibility=hidden", "-w"]
    flags += ["-DMI_MALLOC_OVERRIDE", "-DMI_SHARED_LIB", "-DMI_SHARED_LIB_EXPORT"]
    link = ["-shared", "-fuse-ld=lld", "-Wl,-z,now", "-Wl,--lto-O3", "-lpthread"]
    static = str(source / "src" / "static.c")
    include = f"-I{source}/include"
    answer = subprocess.run(
        ["clang-22", *flags, include, static, *link, "-o", str(library)],
        capture_output=True,
        text=True,
        check=False,
    )
    if answer.returncode != 0:
        raise BenchError(f"mimalloc did not build: {answer.stderr.strip()}")
    return library


def links(program: BuiltProgram, mimalloc: Path) -> dict[str, Link]:
    plain = ["clang-22", "-flto=full", "-ffat-lto-objects", "-fuse-ld=lld"]
    plain += [str(mimalloc), f"-Wl,-rpath,{mimalloc.parent}"]
    wrapper = str(prefix() / "bin" / "thermocline-clang")
    variants = {BASELINE: program.link(BASELINE, plain)}
    for context in CONTEXTS:
        name = f"annotated-{context}"
        variants[name] = program.link(name, [wrapper, f"--thermocline-context={context}"])
    return variants


class Measured:
    """One program's links and runs."""

    def __init__(self, name: str, work: Path, mimalloc: Path, rounds: tuple[int, int]) -> None:
        self.name = name
        program = BuiltProgram(name, work)
        self.links = links(program, mimalloc)
        self.linking = run_paired(
            {variant: link.run for variant, link in self.links.items()},
            rounds=rounds[1],
            count_rounds=0,
        )
        configuration = work / "one-tier.config"
        configuration.write_text(ONE_TIER)
        commands = {
            variant: program.command(link.executable)
            for variant, link in self.links.items()
            if variant in (BASELINE, *GATES)
        }
        guided = {"THERMOCLINE_CONFIG": str(configuration)}
        commands["guided"] = program.command(self.links["annotated-0"].executable, guided)
        self.running = run_paired(commands, rounds=rounds[0])

    def size_ratio(self, variant: str) -> float:
        return self.links[variant].loaded_bytes / self.links[BASELINE].loaded_bytes

    def as_json(self) -> dict[str, Any]:
        sizes = {name: link.loaded_bytes for name, link in self.links.items()}
        return {
            "running": self.running.as_json(BASELINE),
            "linking": self.linking.as_json(BASELINE),
            "loaded_bytes": sizes,
        }


def ratio_text(series: Series, variant: str, metric: str) -> str:
    ratio = series.ratio(variant, BASELINE, metric)
    return str(ratio) if ratio else "not measurable here"


def print_runs(programs: list[Measured]) -> None:
    heads = ["program", "variant", "instructions", "time", "peak resident"]
    rows = [
        [program.name, variant]
        + [
            ratio_text(program.running, variant, metric)
            for metric in ("instructions", "seconds", "peak_resident_bytes")
        ]
        for program in programs
        for variant in GATES
    ]
    print_table(heads, rows)


def print_links(programs: list[Measured]) -> None:
    heads = ["program", "variant", "link time", "executable size"]
    rows = [
        [
            program.name,
            variant,
            ratio_text(program.linking, variant, "seconds"),
            f"{program.size_ratio(variant):.3f}",
        ]
        for program in programs
        for variant in program.links
        if variant != BASELINE
    ]
    print_table(heads, rows)


def geometric_mean(programs: list[Measured], variant: str, metric: str) -> Ratio | None:
    ratios = [program.running.ratio(variant, BASELINE, metric) for program in programs]
    known = [ratio for ratio in ratios if ratio]
    return GeometricMean(known) if len(known) == len(programs) else None


def print_verdicts(programs: list[Measured]) -> dict[str, Any]:
    verdicts: dict[str, Any] = {}
    for variant, gate in GATES.items():
        mean = geometric_mean(programs, variant, "instructions")
        seconds = geometric_mean(programs, variant, "seconds")
        resident = geometric_mean(programs, variant, "peak_resident_bytes")
        verdict = mean.verdict(gate) if mean else "inconclusive"
        print(
            f"{variant}: instructions {mean or 'not counted'}, gate {gate}: {verdict}; "
            f"time {seconds}: {seconds.verdict(gate) if seconds else 'inconclusive'}; "
            f"resident {resident}"
        )
        verdicts[variant] = {"gate": gate, "verdict": verdict}
        for name, ratio in (("instructions", mean), ("seconds", seconds), ("resident", resident)):
            verdicts[variant][name] = ratio.as_json() if ratio else None
    return verdicts


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--programs", default=",".join(REAL_PROGRAMS))
    parser.add_argument("--rounds", type=int, default=15, help="timed runs of each variant")
    parser.add_argument("--link-rounds", type=int, default=3, help="timed links of each variant")
    parser.add_argument("--work", type=Path, default=prefix() / "bench" / "real")
    parser.add_argument("--json")
    options = parser.parse_args()
    names = options.programs.split(",")
    unknown = sorted(set(names) - set(REAL_PROGRAMS))
    if unknown:
        parser.error(f"no program {', '.join(unknown)}: choose of {', '.join(REAL_PROGRAMS)}")
    options.work.mkdir(parents=True, exist_ok=True)
    try:
        mimalloc = build_mimalloc(options.work)
        rounds = (options.rounds, options.link_rounds)
        programs = []
        for name in names:
            print(f"{name} ...", file=sys.stderr)
            programs.append(Measured(name, options.work, mimalloc, rounds))
    except BenchError as error:
        sys.exit(f"thermocline: {error}")
    print(f"ratios to {BASELINE}, not annotated; {describe_machine(programs[0].running.counter)}")
    print_runs(programs)
    print()
    print_links(programs)
    print()
    verdicts = print_verdicts(programs)
    results = {program.name: program.as_json() for program in programs}
    write_json(options.json, {"programs": results, "geometric_means": verdicts})
    return 1 if any(verdict["verdict"] == "fail" for verdict in verdicts.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
