"""What page migration costs: a fault on far data, and a program whose data fits near.

    python bench/migration.py [--rounds N] [--json FILE]

A fault, until the program goes on, at each granularity: below the engine, whose far memory charges
nothing here, against a bare userfaultfd loop that makes the same moves (bench/migration.c); the
median touch of each run. Gate: at most 1.25 times. `adaptive` and `history` leave pages of larger
chunks out to see what is used, which the fixed granularities don't pay.

Two threads that fault, each on chunks of its own, against one: how many times as many touches a
second, on two processors with the engine, with two bare loops, and with bare loops in the faulting
threads (SIGBUS); one thread and what serves it on one processor, since that is quickest. With a
real-time priority, so that no other work takes a processor meanwhile. Not a gate: what the bare
loops reach is what the machine allows; "TLB" is how many interrupts a touch of two threads costs to
flush the other processor's.

A program that makes random accesses to 64 MiB below the engine with near memory to spare, against
the same without: processor time. Gate: at most 1 / 0.99 times.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import statistics
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from thermocline.measuring.paired import (
    Command,
    Ratio,
    describe_machine,
    print_table,
    write_json,
)
from thermocline.run import migration

GATE, FITS_GATE = 1.25, 1 / 0.99
NEAR_SHARE = 4  # of the data one part in so many fits near
# Chunks and rounds over them, so that near memory holds four chunks of 2 MiB at least.
SIZES = {"4K": (4 << 10, 8192, 1), "64K": (64 << 10, 512, 4), "2M": (2 << 20, 32, 10)}
FITTING = (64 << 20, 10_000_000)  # bytes and accesses
REPOSITORY = Path(__file__).resolve().parent.parent


def build(directory: Path) -> str:
    """The program of both loops."""
    program = directory / "migration"
    source = str(Path(__file__).with_suffix(".c"))
    subprocess.run(["clang-22", "-O2", source, "-o", str(program), "-lpthread"], check=True)
    return str(program)


def below(near: int, granularity: str) -> dict[str, str]:
    """The engine's environment; far memory is as fast as near memory."""
    return migration.environment(f"near={near};policy={granularity}")


def printed(command: Command) -> list[float]:
    """The numbers that it prints: of touches, their median and the time for each, in ns."""
    environment = {**os.environ, **command.environment}
    done = subprocess.run(command.argv, env=environment, capture_output=True, text=True, check=True)
    return [float(number) for number in done.stdout.split()]


def median_touch(command: Command) -> float:
    """In nanoseconds."""
    return printed(command)[0]


def time_a_touch(command: Command) -> float:
    """Of all threads, in nanoseconds."""
    return printed(command)[1]


def processor_seconds(command: Command) -> float:
    """Of all its threads, the engine's too: other programs move it less than wall time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    printed(command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def paired(
    ours: Command, theirs: Command, measure: Callable[[Command], float], rounds: int
) -> tuple[Ratio, float]:
    """The ratio, run in turn, and the median of the latter."""
    turn = random.Random(1)
    values: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(rounds):
        for is_ours in turn.sample([True, False], 2):
            values[is_ours].append(measure(ours if is_ours else theirs))
    ratio = Ratio([one / other for one, other in zip(values[True], values[False], strict=True)])
    return ratio, statistics.median(values[False])


def touches(program: str, way: str, granularity: str, threads: int = 1) -> Command:
    """`way`: touch (below the engine), bare or signal."""
    chunk, chunks, rounds = SIZES[granularity]
    engine = below(threads * chunk * chunks // NEAR_SHARE, granularity) if way == "touch" else {}
    numbers = map(str, (chunk, chunks, rounds, threads))
    return Command((program, way, *numbers), engine)


def alone(command: Command, processors: int) -> Command:
    """On so many processors, before all other work."""
    first = ",".join(map(str, sorted(os.sched_getaffinity(0))[:processors]))
    words = ("taskset", "--cpu-list", first, "chrt", "--fifo", "1")
    return Command((*words, *command.argv), command.environment)


def shootdowns() -> int:
    """Interrupts so far that flushed a processor's TLB, on x86."""
    lines = Path("/proc/interrupts").read_text(encoding="utf-8").splitlines()
    fields = next((line.split() for line in lines if line.lstrip().startswith("TLB:")), [])
    return sum(int(field) for field in fields if field.isdigit())


def scaling(program: str, way: str, granularity: str, rounds: int) -> tuple[Ratio, float, float]:
    """Of two threads; nanoseconds a touch that they take; and interrupts a touch."""
    one = alone(touches(program, way, granularity), 1)
    two = alone(touches(program, way, granularity, 2), 2)
    ratio, nanoseconds = paired(one, two, time_a_touch, rounds)
    before = shootdowns()
    time_a_touch(two)
    chunks, repeated = SIZES[granularity][1:]
    return ratio, nanoseconds, (shootdowns() - before) / (2 * chunks * repeated)


def scalings(program: str, rounds: int, document: dict[str, object]) -> list[list[str]]:
    """A row for each granularity and way."""
    rows = []
    for granularity in SIZES:
        for way, name in (("touch", "engine"), ("bare", "bare loops"), ("signal", "SIGBUS")):
            ratio, nanoseconds, interrupts = scaling(program, way, granularity, rounds)
            times = [f"{nanoseconds / 1e3:.1f}", f"{interrupts:.1f}"]
            rows.append([f"{name}, {granularity}", str(ratio), *times])
            document[f"two threads, {name}, {granularity}"] = ratio.as_json() | {
                "ns_a_touch": nanoseconds,
                "interrupts_a_touch": interrupts,
            }
    return rows


def main() -> int:
    """Builds, measures, prints a table; status 1 when a gate is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", help="also write the numbers here")
    options = parser.parse_args()
    os.environ.setdefault("THERMOCLINE_PREFIX", str(REPOSITORY / "build"))
    document: dict[str, object] = {}
    rows, scaled, failed = [], [], False
    with tempfile.TemporaryDirectory() as name:
        program = build(Path(name))
        for granularity in SIZES:
            ours, bare = (touches(program, way, granularity) for way in ("touch", "bare"))
            ratio, nanoseconds = paired(ours, bare, median_touch, options.rounds)
            verdict = ratio.verdict(GATE)
            failed |= verdict == "fail"
            says, bare_us = f"<= {GATE} {verdict}", f"{nanoseconds / 1e3:.1f}"
            rows.append([f"fault, {granularity}", str(ratio), says, bare_us])
            document[granularity] = ratio.as_json() | {"bare_ns": nanoseconds}
        if len(os.sched_getaffinity(0)) > 1:
            scaled = scalings(program, max(1, options.rounds // 3), document)
        plain = Command((program, "fits", *map(str, FITTING)))
        roomy = Command(plain.argv, below(1 << 30, "adaptive"))
        ratio, _ = paired(roomy, plain, processor_seconds, 3 * options.rounds)
    verdict = ratio.verdict(FITS_GATE)
    failed |= verdict == "fail"
    rows.append(["all fits near", str(ratio), f"<= {FITS_GATE:.4f} {verdict}", "-"])
    document["fits"] = ratio.as_json()
    print_table(["what", "times as long [95 %]", "gate", "bare, us"], rows)
    if scaled:
        print_table(["two threads", "times as many [95 %]", "us a touch", "TLB a touch"], scaled)
    print(describe_machine("none").split(";", maxsplit=1)[0])
    write_json(options.json, document)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
