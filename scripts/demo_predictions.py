"""The demo's last part: what a program would gain on machines that are not here.

calibrate -> trace and profile -> plan (four strategies) -> simulate, for the KNL, whose MCDRAM can
be a cache of DDR4, and for a server with CXL memory, whose DDR5 stands for such a cache: that is
memory-mode, which its firmware may not have.
"""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# The machine, and what its hardware can do by itself.
MACHINES = (("knl-7230", "knl-cache"), ("dram-cxl", "memory-mode"))
STRATEGIES = ("knapsack", "hotset", "thermos", "fastest")
SPLIT = ("fastest",)  # these may put parts of a site into several tiers
CAPACITY = "25%"
# A step of a small ocean: every reference is simulated, under each scheme.
ARGUMENTS = ("56", "1")

Thermocline = Callable[..., str]


@dataclass(frozen=True)
class Predictions:
    """`thermocline` runs one of its commands and returns what it printed; `work` is for files."""

    thermocline: Thermocline
    work: Path

    @property
    def command(self) -> list[str]:
        return [str(self.work / "ocean"), *ARGUMENTS]

    def file(self, suffix: str) -> str:
        return str(self.work / f"ocean-{ARGUMENTS[0]}.{suffix}")

    def show(self) -> list[str]:
        """Predicts and prints; returns the words of the command to try next."""
        print("\npredict; first, how far predictions are off on this host:")
        text = self.thermocline("machine", "calibrate", "--quick", "--json", show=True)
        self._calibrated(json.loads(text))
        print("\nrecord one step of the ocean, and plan for two machines that are not here:")
        with ThreadPoolExecutor(max_workers=2) as pool:
            traced = pool.submit(self._trace)
            profiled = pool.submit(self._profile)
            traced.result()
            profiled.result()
            pairs = [(machine, s) for machine, _ in MACHINES for s in STRATEGIES]
            list(pool.map(lambda pair: self._plan(*pair), pairs))
        for machine, cache in MACHINES:
            self._predict(machine, cache)
        return ["thermocline", "simulate", self.file("trace"), "--machine", "xeon-max-9480",
                "--scheme", "all-slow,all-fast"]  # fmt: skip

    def _short(self, text: str) -> str:
        """With paths from the checkout on, where the commands are meant to be tried."""
        return text.replace(f"{self.work.parents[1]}/", "")

    def _calibrated(self, found: dict[str, Any]) -> None:
        for program in found["programs"]:
            ratio = program["clock_seconds"] / program["predicted_seconds"]
            print(
                f"  {program['name']:9} predicted {1e3 * program['predicted_seconds']:5.1f} ms, "
                f"clock {1e3 * program['clock_seconds']:5.1f} ms ({ratio:.2f})"
            )

    def _trace(self) -> None:
        self.thermocline(
            "trace", "-o", self.file("trace"), "--force", "--", *self.command, show=True
        )

    def _profile(self) -> None:
        # The KNL's caches for both: the program is as small as caches of 60 MiB.
        self.thermocline(
            "profile", "--machine", "knl-7230", "-o", self.file("profile"), "--force",
            "--", *self.command, show=True,
        )  # fmt: skip

    def _plan_file(self, machine: str, strategy: str) -> str:
        return self.file(f"{machine}-{strategy}.plan")

    def _plan(self, machine: str, strategy: str) -> None:
        self.thermocline(
            "plan", self.file("profile"), "--machine", machine, "--capacity", CAPACITY,
            "--strategy", strategy, *(["--split"] if strategy in SPLIT else []),
            "-o", self._plan_file(machine, strategy), "--force",
        )  # fmt: skip

    def _predict(self, machine: str, cache: str) -> None:
        plans = [
            word
            for strategy in STRATEGIES
            for word in ("--plan", self._plan_file(machine, strategy))
        ]
        options = ["--machine", machine, "--capacity", CAPACITY]
        options += ["--scheme", f"first-touch,membrain,{cache},all-fast"]
        words = ["thermocline", "simulate", self._short(self.file("trace")), *options]
        print(f"\n$ {' '.join(words)} ...", flush=True)
        answer = json.loads(
            self.thermocline("simulate", self.file("trace"), *options, *plans, "--json")
        )
        near = answer["rows"][0]["result"]["tiers"][0]["name"]
        print(f"{'':13}{'predicted':>12}{'over first touch':>18}{f'traffic of {near}':>20}")
        for row in answer["rows"]:
            name = row["scheme"].removeprefix("membrain[").rstrip("]")
            time = f"{1e3 * row['result']['seconds']:.1f} ms"
            share = f"{100 * row['near_share']:.1f}%"
            print(f"{name:<13}{time:>12}{row['speedup']:>17.2f}x{share:>20}")
        known = answer["calibration"]
        print(
            f"(times within a factor of {known['time_factor']:.2f}, as on this host;"
            f" one of {1 / answer['rows'][0]['scale']:.0f} cores and its share of the channels)"
        )
        for said in answer["advice"]:
            print(f"{said['sentence']}\nto set: {self._short(said['set'])}")
