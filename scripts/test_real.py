"""Real programs from Debian's source packages, built by their own build systems.

Each is built by the ordinary compiler and by ours.  Its job (tests/real/NAME/job.sh) then runs
plainly, annotated with no configuration at contexts 0 and 4, profiled, and guided by a plan made
from that profile; every output is compared with the ordinary build's, byte for byte after
tests/real/NAME/same.sed took out times and rates.

    python3 scripts/test_real.py [--work FOLDER] [--jobs N] [NAME...]

Needs the Debian packages of `sh scripts/bootstrap.sh real`; downloads 25 MB the first time.
"""

import argparse
import filecmp
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import debian_source

ROOT = Path(__file__).resolve().parents[1]
RECIPES = ROOT / "tests" / "real"
PREFIX = Path(os.environ.get("THERMOCLINE_PREFIX") or ROOT / "build").resolve()
NAMES = ("sqlite3", "hpcc", "hypre", "imagemagick")
MACHINE = "knl-7230"
Command = Sequence[str | Path]
JOB_SECONDS, BUILD_SECONDS = 600, 1800


class Trouble(Exception):
    """One line for the user."""


def call(
    command: Command, folder: Path, log: Path, seconds: float,
    environment: Mapping[str, str] | None = None,
) -> float:  # fmt: skip
    """Runs a command with its output in a log; returns the seconds it took."""
    begin = time.monotonic()
    with log.open("a") as out:
        out.write(f"$ {' '.join(str(word) for word in command)}\n")
        out.flush()
        try:
            status = subprocess.run(
                [str(word) for word in command], cwd=folder, env=environment, stdout=out,
                stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=seconds, check=False,
            ).returncode  # fmt: skip
        except subprocess.TimeoutExpired:
            status = -1
    if status:
        last = [line for line in log.read_text(errors="replace").splitlines() if line.strip()][-1]
        raise Trouble(f"{Path(command[0]).name} failed ({status}): {last[:160]} (see {log})")
    return time.monotonic() - begin


@dataclass
class Workplace:
    folder: Path
    jobs: int


@dataclass
class Program:
    name: str
    work: Workplace
    rows: list[tuple[str, float, str]] = field(default_factory=list)

    @property
    def recipe(self) -> Path:
        return RECIPES / self.name

    @property
    def folder(self) -> Path:
        return self.work.folder / "build" / self.name

    def environment(self, compiler: str, tree: Path) -> dict[str, str]:
        clean = {k: v for k, v in os.environ.items() if not k.startswith("THERMOCLINE_")}
        names = {"CC": "clang-22", "CXX": "clang++-22"}
        if compiler == "annotated":
            names = {"CC": "thermocline-clang", "CXX": "thermocline-clang++"}
        return clean | {
            **{variable: f"ccache {name}" for variable, name in names.items()},
            "CFLAGS": "-O2",
            "CXXFLAGS": "-O2",
            "CCACHE_DIR": str(self.work.folder / "ccache"),
            "JOBS": str(self.work.jobs),
            "LC_ALL": "C",
            "PATH": f"{PREFIX / 'bin'}:{clean['PATH']}",
            "PYTHONPATH": str(ROOT),
            "RECIPE": str(self.recipe),
            "THERMOCLINE_PREFIX": str(PREFIX),
            "TREE": str(tree),
        }

    def build(self, compiler: str, steps: Sequence[str], **settings: str) -> Path:
        """A build tree; the last that was made is used again unless something changed."""
        tree = self.folder / compiler
        if "configure" in steps:
            shutil.rmtree(tree, ignore_errors=True)
            shutil.copytree(debian_source.fetch(self.name), tree, symlinks=True)
        environment = self.environment(compiler, tree) | settings
        seconds = 0.0
        for step in steps:
            log = self.folder / f"{compiler}.log"
            script: Command = ["sh", str(self.recipe / "build.sh"), step]
            seconds += call(script, tree, log, BUILD_SECONDS, environment)
        context = settings.get("THERMOCLINE_CONTEXT")
        label = f"build {compiler}" + (f", context {context}" if context else "")
        self.rows.append((label, seconds, "built"))
        return tree

    def job(self, mode: str, tree: Path, compiler: str, before: Command = ()) -> Path:
        """Runs the job, perhaps below a `thermocline` verb; returns its outputs' folder."""
        out = self.folder / "out" / mode
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        log = self.folder / f"{mode}.log"
        log.unlink(missing_ok=True)
        command: Command = [*before, "sh", self.recipe / "job.sh"]
        seconds = call(command, out, log, JOB_SECONDS, self.environment(compiler, tree))
        for path in sorted(out.iterdir()):
            if path.suffix == ".txt":  # what holds times; images and dumps stay as they are
                sed: Command = ["sed", "-i", "-f", self.recipe / "same.sed", path.name]
                call(sed, out, log, JOB_SECONDS)
        if not any(path.stat().st_size for path in out.iterdir()):
            raise Trouble(f"{self.name}: the job left no output in {out}")
        self.rows.append((mode, seconds, ""))
        return out

    def compare(self, plain: Path, other: Path, more: str = "") -> None:
        names = sorted(path.name for path in plain.iterdir())
        if names != sorted(path.name for path in other.iterdir()):
            raise Trouble(f"{self.name}: {other} has other files than {plain}")
        _, differ, errors = filecmp.cmpfiles(plain, other, names, shallow=False)
        if differ or errors:
            raise Trouble(f"{self.name}: differs from the ordinary build: {other / differ[0]}")
        mode, seconds, _ = self.rows[-1]
        self.rows[-1] = (mode, seconds, f"same output ({len(names)} files){more}")

    def test(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        thermocline = [sys.executable, "-m", "thermocline"]
        plain = self.job("ordinary", self.build("plain", ("configure", "make")), "plain")
        # Two runs of one program that differ would make every comparison below worthless.
        self.compare(plain, self.job("ordinary-again", self.folder / "plain", "plain"))

        ours = self.build("annotated", ("configure", "make"), THERMOCLINE_CONTEXT="0")
        self.compare(plain, self.job("annotated", ours, "annotated"))
        profiles = self.folder / "profiles"
        profiles.mkdir()
        verb: list[str | Path] = [
            *thermocline,
            "profile",
            "--machine",
            MACHINE,
            "-o",
            profiles / "job.profile",
            "--",
        ]
        out = self.job("profiled", ours, "annotated", verb)
        made = sorted(profiles.glob("*.profile"))
        sites = sum(len(json.loads(path.read_text())["sites"]) for path in made)
        self.compare(plain, out, f"; {len(made)} profiles, {sites} sites")

        plan, report = self.folder / "plan", self.folder / "run.json"
        call([*thermocline, "plan", *made, "--machine", MACHINE, "--capacity", "50%",
              "--strategy", "thermos", "-o", plan], self.folder, self.folder / "plan.log",
             JOB_SECONDS, self.environment("annotated", ours))  # fmt: skip
        verb = [*thermocline, "run", "--plan", plan, "-o", report, "--"]
        out = self.job("guided", ours, "annotated", verb)
        self.compare(plain, out, f"; {guidance(report)}")

        again = self.build("annotated", ("clean", "make"), THERMOCLINE_CONTEXT="4")
        self.compare(plain, self.job("annotated, context 4", again, "annotated"))


def guidance(report: Path) -> str:
    """What a guided run's report says; it must have placed something."""
    found = json.loads(report.read_text())
    runs = found.get("processes", [found])
    reached = sum(run["sites"]["reached"] for run in runs)
    if not reached:
        raise Trouble(f"no planned site was reached: {report}")
    return f"{len(runs)} processes, {reached} sites placed"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "thermocline"
    parser.add_argument("--work", type=Path, default=cache / "real", help="[%(default)s]")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    unknown = sorted(set(options.names) - set(NAMES))
    if unknown:
        parser.error(f"no program {unknown[0]}; there are {', '.join(NAMES)}")
    missing = [
        tool for tool in ("ccache", "mpicc", "tclsh", "dpkg-source") if not shutil.which(tool)
    ]
    if missing:
        print(f"test-real: {missing[0]} is missing: run sh scripts/bootstrap.sh real")
        return 1

    failed = 0
    for name in options.names or NAMES:
        program = Program(name, Workplace(options.work.resolve(), options.jobs))
        trouble = ""
        try:
            program.test()
        except (Trouble, debian_source.SourceError) as error:
            trouble, failed = str(error), failed + 1
        for label, seconds, verdict in program.rows:
            print(f"{name:12} {label:28} {seconds:7.1f} s  {verdict}")
        print(f"{name:12} {'FAILED: ' + trouble if trouble else 'ok'}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
