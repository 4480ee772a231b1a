"""Runs test suites by name and prints a line for each and a sum.

Each suite's whole output goes to build/test-logs/NAME.log, and to the terminal when the
suite fails.  A suite that runs no test has failed.

Suites in which whole programs, guests and the kernel race a clock try a failed test once more:
a machine that stands still for seconds is no fault of ours.  The sum names what passed only then.
What hangs fails: a test after ten minutes, a suite after half an hour.
"""

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("THERMOCLINE_PREFIX", ROOT / "build"))
SUITE_SECONDS = 1800
LOGS = ROOT / "build" / "test-logs"
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--color=no"]
PYTEST += ["--timeout", "600", "--durations", "5"]
# Two tries, the second a while later.
TWICE = ["--reruns", "1", "--reruns-delay", "5", "-rfER"]


def ctest(label: str) -> list[str]:
    # -j 2: the property tests use many threads of their own.
    options = ["--output-on-failure", "--no-tests=error", "-j", "2", "--timeout", "600"]
    return ["ctest", "--test-dir", str(BUILD), "-L", f"^{label}$", *options]


SUITES: dict[str, list[str]] = {
    # The test "plugin" runs lit, which has a suite of its own below.
    "unit": [*ctest("unit"), "-E", "^plugin$"],
    "property": ctest("property"),
    "lit": [os.environ.get("LIT", "lit-22"), "-sv", "tests/lit"],
    "wrapper": [*PYTEST, "tests/wrapper"],
    "python": [*PYTEST, "tests/python", "tests/scripts"],
    "workloads": [*PYTEST, *TWICE, "tests/workloads"],
    "browser": [*PYTEST, *TWICE, "tests/browser"],
    "loop": [*PYTEST, *TWICE, "tests/loop"],
    "docs": [*PYTEST, *TWICE, "tests/docs"],
    "twonode": [*PYTEST, *TWICE, "tests/twonode"],
}


@dataclass
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    again: list[str] = field(default_factory=list)  # failed, then passed


def number(pattern: str, text: str) -> int:
    found = re.findall(pattern, text, re.MULTILINE)
    return int(found[-1]) if found else 0


def count(text: str) -> Counts:
    """The counts in the closing lines of ctest, lit or pytest."""
    total = re.search(r"^\d+% tests passed, (\d+) tests failed out of (\d+)", text, re.MULTILINE)
    if total:
        failed = int(total[1])
        return Counts(int(total[2]) - failed, failed)
    if re.search(r"^ +(Passed|Failed) *:", text, re.MULTILINE) or "Total Discovered" in text:
        failed = number(r"^ +Failed *: *(\d+)", text) + number(r"^ +Unresolved *: *(\d+)", text)
        return Counts(number(r"^ +Passed *: *(\d+)", text), failed)
    closing = next((x for x in reversed(text.splitlines()) if re.search(r" in [\d.]+s", x)), "")
    failed = number(r"(\d+) failed", closing) + number(r"(\d+) errors?\b", closing)
    again = set(re.findall(r"^RERUN (\S+)", text, re.MULTILINE))
    again -= set(re.findall(r"^(?:FAILED|ERROR) (\S+)", text, re.MULTILINE))
    passed, skipped = (number(rf"(\d+) {what}", closing) for what in ("passed", "skipped"))
    return Counts(passed, failed, skipped, sorted(again))


def run(name: str) -> Counts:
    start = time.monotonic()
    environment = {
        **os.environ,
        "PATH": f"{ROOT / '.venv/bin'}:{BUILD / 'bin'}:/usr/lib/llvm-22/bin:{os.environ['PATH']}",
    }
    log = LOGS / f"{name}.log"
    with log.open("w") as out:
        suite = subprocess.Popen(
            SUITES[name], cwd=ROOT, env=environment, stdin=subprocess.DEVNULL,
            stdout=out, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        try:
            status = suite.wait(SUITE_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(suite.pid, signal.SIGKILL)
            status = suite.wait()
            out.write(f"\nrun_tests: {name} ended after {SUITE_SECONDS} s\n")
    text = log.read_text(errors="replace")
    counts = count(text)
    if (status != 0 and counts.failed == 0) or counts.passed + counts.failed == 0:
        counts.failed += 1  # a suite that did not run is a failure, whatever it counted
    took = time.monotonic() - start
    verdict = "FAILED" if counts.failed else "ok"
    print(
        f"{name:<10} {verdict:<7} {counts.passed:>5} passed, {counts.failed} failed, "
        f"{counts.skipped} skipped  {took:6.1f} s",
        flush=True,
    )
    if counts.failed:
        print("\n".join(f"    {line}" for line in text.splitlines()[-60:]))
        print(f"    (the whole log: {log.relative_to(ROOT)})", flush=True)
    return counts


def main() -> int:
    names = sys.argv[1:] or list(SUITES)
    unknown = [name for name in names if name not in SUITES]
    if unknown:
        print(f"run_tests: no suite {unknown[0]}; there are {', '.join(SUITES)}", file=sys.stderr)
        return 2
    LOGS.mkdir(parents=True, exist_ok=True)
    results = [run(name) for name in names]
    passed, failed, skipped = (
        sum(getattr(counts, what) for counts in results) for what in ("passed", "failed", "skipped")
    )
    for name in (name for counts in results for name in counts.again):
        print(f"passed at the second try only: {name}")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
