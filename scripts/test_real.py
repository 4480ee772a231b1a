"""Real programs from Debian's source packages, built by their own build systems.

Each is built by the ordinary compiler and by ours.  Its job (tests/real/NAME/job.sh) then runs
plainly, annotated with no configuration at contexts 0 and 4, profiled, and guided by a plan made
from that profile; every output is compared with the ordinary build's, byte for byte after
tests/real/NAME/same.sed took out times and rates.

    python3 scripts/test_real.py [--work FOLDER] [--jobs N] [NAME...]

Each step is a line when it ends, and a row of the table at the end.  The recording twins are
linked in at context 0 only, which is what gets profiled: at context 4 they would double the link.

Needs the Debian packages of `sh scripts/bootstrap.sh real`; downloads 25 MB the first time.
"""

import argparse
import filecmp
import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from thermocline.measuring import debian_source

ROOT = Path(__file__).resolve().parents[1]
RECIPES = ROOT / "tests" / "real"
PREFIX = Path(os.environ.get("THERMOCLINE_PREFIX") or ROOT / "build").resolve()
NAMES = ("sqlite3", "hpcc", "hypre", "imagemagick")
MACHINE = "knl-7230"
Command = Sequence[str | Path]
JOB_SECONDS, BUILD_SECONDS = 600, 1800


TABLE = b"thermocline-sites 1 module="  # docs/internals.md
STEPS = 9  # lines that a program which passes prints


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
    versions: Mapping[str, str]


@dataclass
class Row:
    mode: str
    seconds: float
    processor: float  # seconds of the children, which other load does not stretch
    sites: str = ""
    outcome: str = ""


@dataclass
class Program:
    name: str
    work: Workplace
    rows: list[Row] = field(default_factory=list)
    processor: float = field(default=0.0)

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
            "CCACHE_COMPILERCHECK": f"string:{self.work.versions[compiler]}",
            "CCACHE_DIR": str(self.work.folder / "ccache"),
            "JOBS": str(self.work.jobs),
            "LC_ALL": "C",
            "PATH": f"{PREFIX / 'bin'}:{clean['PATH']}",
            "PYTHONPATH": str(ROOT),
            "RECIPE": str(self.recipe),
            "THERMOCLINE_PREFIX": str(PREFIX),
            "TREE": str(tree),
        }

    def add(self, mode: str, seconds: float, sites: str = "", outcome: str = "built") -> None:
        before, self.processor = self.processor, children_seconds()
        self.rows.append(Row(mode, seconds, self.processor - before, sites, outcome))
        done = f"{self.name} {len(self.rows)}/{STEPS}: {mode}: {outcome}"
        print(f"test-real: {done}, {seconds:.1f} s", flush=True)

    def build(self, compiler: str, *steps: str, **settings: str) -> Path:
        """A build tree, made anew by the step `configure`, used again without it."""
        tree = self.folder / compiler
        if "configure" in steps:
            shutil.rmtree(tree, ignore_errors=True)
            shutil.copytree(debian_source.fetch(self.name), tree, symlinks=True)
        environment = self.environment(compiler, tree) | settings
        seconds, begin = 0.0, time.time()
        for step in steps:
            log = self.folder / f"{compiler}.log"
            script: Command = ["sh", str(self.recipe / "build.sh"), step]
            seconds += call(script, tree, log, BUILD_SECONDS, environment)
        context = settings.get("THERMOCLINE_CONTEXT")
        sites = linked_sites(tree, int(context), begin) if context else ""
        self.add(f"build {compiler}" + (f", context {context}" if context else ""), seconds, sites)
        return tree

    def job(self, mode: str, tree: Path, before: Command = ()) -> tuple[Path, float]:
        """Runs the job, perhaps below a `thermocline` verb; its outputs' folder, and seconds."""
        out = self.folder / "out" / mode
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        log = self.folder / f"{mode}.log"
        log.unlink(missing_ok=True)
        command: Command = [*before, "sh", self.recipe / "job.sh"]
        seconds = call(command, out, log, JOB_SECONDS, self.environment(tree.name, tree))
        for path in sorted(out.iterdir()):
            if path.suffix == ".txt":  # what holds times; images and dumps stay as they are
                sed: Command = ["sed", "-i", "-f", self.recipe / "same.sed", path.name]
                call(sed, out, log, JOB_SECONDS)
        if not any(path.stat().st_size for path in out.iterdir()):
            raise Trouble(f"the job left no output in {out}")
        return out, seconds

    def same(self, plain: Path, other: Path) -> str:
        """The verdict on two jobs' outputs."""
        names = sorted(path.name for path in plain.iterdir())
        if names != sorted(path.name for path in other.iterdir()):
            raise Trouble(f"{other} has other files than {plain}")
        _, differ, errors = filecmp.cmpfiles(plain, other, names, shallow=False)
        if differ or errors:
            raise Trouble(f"differs from the ordinary build: {other / [*differ, *errors][0]}")
        return f"same output ({len(names)} files)"

    def test(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.processor = children_seconds()
        tree = self.build("plain", "configure", "make")
        plain, seconds = self.job("ordinary", tree)
        self.add("ordinary", seconds, outcome="ran")
        # Two runs of one program that differ would make every comparison below worthless.
        out, seconds = self.job("ordinary again", tree)
        self.add("ordinary again", seconds, outcome=self.same(plain, out))

        tree = self.build("annotated", "configure", "make", THERMOCLINE_CONTEXT="0")
        out, seconds = self.job("annotated, context 0", tree)
        self.add("annotated, context 0", seconds, outcome=self.same(plain, out))
        self.profile_and_guide(plain, tree)

        again = {"THERMOCLINE_CONTEXT": "4", "THERMOCLINE_TWINS": "off"}
        tree = self.build("annotated", "unlink", "make", **again)
        out, seconds = self.job("annotated, context 4", tree)
        self.add("annotated, context 4", seconds, outcome=self.same(plain, out))

    def profile_and_guide(self, plain: Path, tree: Path) -> None:
        thermocline = [sys.executable, "-m", "thermocline"]
        profiles = self.folder / "profiles"
        profiles.mkdir()
        verb: Command = [*thermocline, "profile", "--machine", MACHINE,
                         "-o", profiles / "job.profile", "--"]  # fmt: skip
        out, seconds = self.job("profiled", tree, verb)
        made = sorted(profiles.glob("*.profile"))
        sites = profiled_sites(made)
        outcome = f"{self.same(plain, out)}; {len(made)} profiles"
        self.add("profiled", seconds, f"{sites} seen", outcome)

        plan, report = self.folder / "plan", self.folder / "run.json"
        call([*thermocline, "plan", *made, "--machine", MACHINE, "--capacity", "50%",
              "--strategy", "thermos", "-o", plan], self.folder, self.folder / "plan.log",
             JOB_SECONDS, self.environment("annotated", tree))  # fmt: skip
        verb = [*thermocline, "run", "--plan", plan, "-o", report, "--"]
        out, seconds = self.job("guided", tree, verb)
        placed = placed_sites(report)
        self.add("guided", seconds, f"{placed} placed", self.same(plain, out))


def linked_sites(tree: Path, context: int, since: float) -> str:
    """How many sites the files linked since then have, each of which must be of this context.

    A tool that the build made for itself stays as it is when the program is linked again.
    """
    sites = files = 0
    for path in sorted(tree.rglob("*")):
        if path.is_symlink() or not path.is_file() or path.stat().st_mtime < since:
            continue
        data = path.read_bytes()
        start = data.find(TABLE)
        if not data.startswith(b"\x7fELF") or start < 0:
            continue
        header, *strings = data[start:].split(b"\0")
        if not header.endswith(b" context=%d" % context):
            raise Trouble(f"{path} is not of context {context}: {header.decode()}")
        sites += strings.index(b"") // 3
        files += 1
    if not sites:
        raise Trouble(f"nothing in {tree} has a site")
    return f"{sites} in {files} files"


def children_seconds() -> float:
    """Processor time of all processes that were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def profiled_sites(profiles: Sequence[Path]) -> int:
    """Sites of annotated code in the profiles; some must have been read or written."""
    keys: set[str] = set()
    traffic = 0
    for path in profiles:
        profile = json.loads(path.read_text())
        sites = [site for site in profile["sites"] if site["kind"] == "site"]
        keys |= {site["key"] for site in sites}
        traffic += sum(site["loads"] + site["stores"] for site in sites)
        if not profile["complete"]:
            raise Trouble(f"the profile is not complete: {path}")
    if not traffic:
        raise Trouble("the profiles show no access to any site")
    return len(keys)


def placed_sites(report: Path) -> int:
    """Planned sites that a guided run placed; there must be some."""
    found = json.loads(report.read_text())
    runs = found.get("processes", [found])
    reached = sum(run["sites"]["reached"] for run in runs)
    if not reached:
        raise Trouble(f"no planned site was reached: {report}")
    return int(reached)


def versions() -> dict[str, str]:
    """What ccache takes for each compiler's version: it would not see what our wrapper runs."""
    clang = subprocess.run(["clang-22", "--version"], capture_output=True, check=True).stdout
    parts = [PREFIX / "bin/thermocline-clang", PREFIX / "lib/thermocline/thermocline-plugin.so"]
    ours = b"".join([clang, *(path.read_bytes() for path in parts)])
    return {
        "plain": hashlib.sha256(clang).hexdigest(),
        "annotated": hashlib.sha256(ours).hexdigest(),
    }


def show(programs: Sequence[Program], troubles: Mapping[str, str]) -> None:
    print(f"\n{'program':12} {'mode':28} {'seconds':>8} {'processor':>9}  {'sites':18} outcome")
    for program in programs:
        for row in program.rows:
            line = f"{program.name:12} {row.mode:28} {row.seconds:8.1f} {row.processor:9.1f}"
            print(f"{line}  {row.sites:18} {row.outcome}")
        if program.name in troubles:
            print(f"{program.name:12} FAILED: {troubles[program.name]}")


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

    begin = time.monotonic()
    work = Workplace(options.work.resolve(), options.jobs, versions())
    programs = [Program(name, work) for name in options.names or NAMES]
    troubles: dict[str, str] = {}
    for program in programs:
        try:
            program.test()
            if len(program.rows) != STEPS:
                raise AssertionError(f"{len(program.rows)} steps, not {STEPS}")
        except (Trouble, debian_source.SourceError) as error:
            troubles[program.name] = str(error)
            print(f"test-real: {program.name} FAILED: {error}", flush=True)
    show(programs, troubles)
    minutes = (time.monotonic() - begin) / 60
    verdict = f"{len(troubles)} of {len(programs)} FAILED" if troubles else "all the same"
    print(f"test-real: {len(programs)} programs, {minutes:.1f} minutes: {verdict}")
    return 1 if troubles else 0


if __name__ == "__main__":
    sys.exit(main())
