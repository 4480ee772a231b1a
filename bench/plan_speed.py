"""How long each strategy takes to plan 10,000 sites; the issue's bound is one second each.

    python bench/plan_speed.py [SITES] [--json FILE]

Seconds are of processor time, so that other work on the machine does not count.  The sites are
made, not measured: sizes and traffic spread over six orders of magnitude, as profiles of large
programs are, plus the classic hard families of the knapsack literature.
Exit status 1 when the median of a strategy's runs passes the bound.
"""

import argparse
import json
import random
import statistics
import sys
import time
from pathlib import Path

from thermocline.machine import store
from thermocline.planning import speed
from thermocline.profiles.merge import Candidate
from thermocline.strategies import registry
from thermocline.strategies.fastest import Memory

SPEED = speed.of(store.find("knl-7230"))

BOUND_SECONDS = 1.0
RUNS = 3


def sites(family: str, count: int, seed: int) -> list[Candidate]:
    """A family of made sites."""
    rng = random.Random(seed)
    made = []
    for number in range(count):
        size = rng.randint(1, 10**9)
        traffic = {
            "uncorrelated": rng.randint(1, 10**9),
            "weakly correlated": max(1, size + rng.randint(-(10**8), 10**8)),
            "strongly correlated": size + 10**8,
            "equal density": size,
        }.get(family)
        if traffic is None:
            size = 4096 * (1 + int(rng.lognormvariate(3, 3)))
            traffic = 64 * (1 + int(rng.lognormvariate(8, 4)))
        made.append(
            Candidate(
                f"a.out!f{number}@a.c:{number}",
                size,
                traffic,
                0.0,
                traffic * rng.randint(50, 100) // 100,
            )
        )
    return made


def main() -> int:
    """Runs all, prints a table, judges the medians."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("sites", nargs="?", type=int, default=10_000)
    parser.add_argument("--json", type=Path, help="also write the numbers here")
    options = parser.parse_args()
    count: int = options.sites
    rows = []
    for family in (
        "profile-like",
        "uncorrelated",
        "weakly correlated",
        "strongly correlated",
        "equal density",
    ):
        made = sites(family, count, 1)
        total = sum(site.bytes for site in made)
        for divisor in (8, 4, 2):
            memory = Memory(SPEED, (total // divisor, total), (0, 0), (0, 0))
            for name, choose in registry(memory).items():
                times = []
                gap: float | None = None
                for _ in range(RUNS):
                    start = time.process_time()
                    gap = choose(made, total // divisor).gap
                    times.append(time.process_time() - start)
                rows.append(
                    {
                        "sites": count,
                        "family": family,
                        "strategy": name,
                        "capacity": f"1/{divisor}",
                        "seconds": round(statistics.median(times), 3),
                        "gap": gap,
                    }
                )
    for row in rows:
        gap_text = "" if row["gap"] is None else f"gap at most {row['gap']:.2g}"
        print(
            f"{row['family']:20} {row['strategy']:12} {row['capacity']:>4} "
            f"{row['seconds']:7.3f} s  {gap_text}"
        )
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    slow = [row for row in rows if float(str(row["seconds"])) > BOUND_SECONDS]
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
