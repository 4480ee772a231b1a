"""How long the command line takes to start, a report to make, and its page to open.

    python bench/report_speed.py [SITES] [--json FILE]

Seconds of processor time of whole commands (`--help`; a report of 10,000 made sites, planned by
thermos), and in Chromium the page's own clock until everything is drawn and the table stands.
Bounds: 0.15 s, 3 s, 2 s.  Exit status 1 when a median passes its bound.  The page's clock is no
processor time: on a busy machine say so beside it.
"""

import argparse
import json
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

BOUNDS = {"--help": 0.15, "report": 3.0, "open": 2.0}
RUNS = 5


def profile(sites: int) -> dict[str, object]:
    """Sizes and traffic over several orders of magnitude, thirty intervals each."""
    draw = random.Random(1)
    found = []
    for number in range(sites):
        size = 4096 * (1 + int(draw.lognormvariate(3, 2)))
        traffic = 64 * (1 + int(draw.lognormvariate(8, 3)))
        context = f"g{number % 500}@src/g.c:7:1 < main@m.c:1:1"
        found.append(
            {
                "key": f"a.out!f{number}@src/f.c:{number}:3 < {context}",
                "routine": "malloc",
                "read_bytes": traffic,
                "write_bytes": traffic // 3,
                "peak_resident_bytes": size,
                "allocations": 1,
                "series": {
                    "read_bytes": [traffic // 30] * 30,
                    "write_bytes": [traffic // 90] * 30,
                    "resident_bytes": [size] * 30,
                },
            }
        )
    return {
        "format": "thermocline-profile",
        "version": 1,
        "wall_seconds": 3.0,
        "peak_resident_bytes": sum(size["peak_resident_bytes"] for size in found),  # type: ignore[misc]
        "executable": "/bin/a.out",
        "command": ["a.out"],
        "series": {"interval_seconds": 0.1, "count": 30},
        "sites": found,
    }


def processor_seconds(command: list[str], folder: Path) -> float:
    """Of a whole command, user and system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def opening(page: Path) -> Callable[[], float]:
    """Opens a page in a browser of its own, and says by its clock when all stood."""

    def once() -> float:
        options = webdriver.ChromeOptions()
        for option in ("headless=new", "no-sandbox", "disable-dev-shm-usage", "disable-gpu"):
            options.add_argument(f"--{option}")
        browser = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        try:
            browser.get(page.as_uri())
            while not (
                ready := browser.execute_script("return document.documentElement.dataset.ready")
            ):
                time.sleep(0.01)
            return float(ready) / 1000
        finally:
            browser.quit()

    return once


def main() -> int:
    """Measures all three, prints a table, judges the medians."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("sites", nargs="?", type=int, default=10_000)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    program = [sys.executable, "-m", "thermocline"]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "a.profile").write_text(json.dumps(profile(arguments.sites)))
        report = ["report", "a.profile", "--machine", "knl-7230", "--html", "a.html", "--force"]
        measures: dict[str, Callable[[], float]] = {
            "--help": lambda: processor_seconds([*program, "--help"], folder),
            "report": lambda: processor_seconds([*program, *report], folder),
            "open": opening(folder / "a.html"),
        }
        results = {}
        for name, measure in measures.items():
            measure()  # what is cached, is cached now
            runs = [measure() for _ in range(RUNS)]
            results[name] = {
                "median": statistics.median(runs),
                "least": min(runs),
                "bound": BOUNDS[name],
            }
    print(f"{arguments.sites} sites, {RUNS} runs each")
    print(f"{'':10}{'median':>10}{'least':>10}{'bound':>10}")
    for name, row in results.items():
        print(
            f"{name:10}" + "".join(f"{row[what]:>8.3f} s" for what in ("median", "least", "bound"))
        )
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2) + "\n")
    return int(any(row["median"] > row["bound"] for row in results.values()))


if __name__ == "__main__":
    sys.exit(main())
