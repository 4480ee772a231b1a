"""What huge pages at one site gain: random updates of a table, guided with and without `huge`.

    python bench/huge_sites.py [--pairs N] [--mib N,N] [--json FILE]

workloads/updates.c, annotated, under two plans that differ in that word alone; runs in pairs, in
turn, and the ratio of their processor time (a shared host's clock says little), the first touch of
the table included.  How much the kernel gave as huge pages stands beside it: without any, there is
nothing to see.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from thermocline.machine import store
from thermocline.measuring.paired import Ratio, describe_machine, print_table, write_json
from thermocline.planning import model
from thermocline.run import config, launch, report

REPOSITORY = Path(__file__).resolve().parent.parent
WORDS_A_MIB = 2**20 // 8
UPDATES = 8_000_000  # made twice
RAW = argparse.RawDescriptionHelpFormatter


def build(directory: Path) -> tuple[Path, str]:
    """The program, and the key of its table's site."""
    prefix = Path(os.environ.get("THERMOCLINE_PREFIX", REPOSITORY / "build")).resolve()
    compiler = prefix / "bin" / "thermocline-clang"
    program = directory / "updates"
    source = REPOSITORY / "workloads" / "updates.c"
    subprocess.run([compiler, "-O2", "-g1", source, "-o", program, "-lm"], check=True)
    listed = subprocess.run(
        [sys.executable, "-m", "thermocline", "sites", "--json", program],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    keys = re.findall(r'"(updates![^"]*)"', listed.stdout)
    assert keys, "updates.c has no site"
    return program, str(keys[0])


def configuration(folder: Path, key: str, huge: bool) -> Path:
    """What `thermocline run` gives the runtime; reports go to FOLDER/report.PID.json."""
    site = model.PlannedSite(tier=0, key=key, huge=huge)
    plan = model.Plan(strategy="by hand", default_tier=0, sites=[site])
    setting = config.tiers_for(plan, store.find("detect"), None, None)
    file = folder / f"config-{huge}"
    text = config.for_run(folder / "report", plan, setting, trace=False)
    file.write_text(text, encoding="utf-8")
    return file


def run(program: Path, configured: Path, mib: int) -> tuple[float, float]:
    """Processor time (its own and the kernel's), and the share of the huge site in huge pages."""
    words = mib * WORDS_A_MIB
    process = subprocess.Popen(
        [program, str(words), str(UPDATES)],
        env={**os.environ, launch.CONFIG_VARIABLE: str(configured)},
        stdout=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, "updates failed"
    huge = report.load(configured.parent / f"report.{process.pid}.json").huge
    share = huge.huge_page_bytes / max(huge.resident_bytes, 1) if huge else 0.0
    return used.ru_utime + used.ru_stime, share


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=RAW)
    parser.add_argument("--pairs", type=int, default=11)
    parser.add_argument("--mib", default="16,256,1024")
    parser.add_argument("--json")
    options = parser.parse_args()
    rows, results = [], {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program, key = build(folder)
        configured = {huge: configuration(folder, key, huge) for huge in (False, True)}
        for mib in map(int, options.mib.split(",")):
            ratios, shares = [], []
            for pair in range(options.pairs):
                order = (False, True) if pair % 2 else (True, False)
                taken = {huge: run(program, configured[huge], mib) for huge in order}
                ratios.append(taken[False][0] / taken[True][0])
                shares.append(taken[True][1])
            ratio = Ratio(ratios)
            rows.append([f"{mib} MiB", f"{100 * min(shares):.0f} %", str(ratio)])
            results[str(mib)] = {"huge_share": min(shares)} | ratio.as_json()
    print(describe_machine("none").split(";")[0])
    print_table(["table", "in huge pages, at least", "times as fast as small"], rows)
    write_json(options.json, {"tables": results})


if __name__ == "__main__":
    main()
