"""The whole loop by its own verbs, each as a user would run it."""

import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from thermocline.errors import Misuse, ThermoclineError
from thermocline.machine import store
from thermocline.machine.model import Machine
from thermocline.methods import auto as methods
from thermocline.notes import note
from thermocline.planning import model as plans
from thermocline.planning import speed
from thermocline.planning.model import Plan
from thermocline.profiles import model
from thermocline.reports import page
from thermocline.run import summary
from thermocline.run.summary import Run

EXAMPLE_MACHINE = "knl-7230"
BUDGET = "20M"  # references that are recorded for the prediction
OURS = "thermocline: "


class VerbFailed(ThermoclineError):
    """A verb ended so; what it said was shown."""

    def __init__(self, verb: str, said: str, status: int) -> None:
        super().__init__(said or f"thermocline {verb} ended with status {status}")
        self.status = status


@dataclass(frozen=True)
class Shown:
    """Where what the verbs say goes: each command before it runs, its tables, its stderr."""

    command: Callable[[str], None]
    tables: bool  # on our stdout
    line: Callable[[str], None]


@dataclass(frozen=True)
class Made:
    """The folder, and its files that were made."""

    folder: Path
    files: dict[str, Path]  # profile, plan, trace, schemes.json, run.json, html

    @property
    def profile(self) -> model.Profile:
        """Of the process that holds most."""
        return model.load(self.files["profile"])

    @property
    def plan(self) -> Plan:
        """Made from it."""
        return plans.load(self.files["plan"])

    @property
    def run(self) -> Run:
        """The guided one."""
        return summary.load(self.files["run.json"])


def run(
    command: Sequence[str],
    machine: str,
    capacity: str | None,
    folder: Path | None,
    preload: bool,
    force: bool,
    shown: Shown,
) -> Made:
    """Profiles, plans, predicts, runs guided and reports, into a folder ([PROGRAM.auto])."""
    if not command or not command[0]:
        raise Misuse("give the command to run after --")
    target, found = _machine(machine)
    folder = folder or Path(f"{Path(command[0]).name}.auto")
    if folder.exists() and not folder.is_dir():
        raise Misuse(f"{folder} is no folder: choose another with -o")
    if folder.exists() and not force and any(folder.iterdir()):
        raise Misuse(f"{folder} exists: choose another with -o, or add --force")
    folder.mkdir(exist_ok=True)
    method = methods.best(methods.PRELOAD if preload else methods.PROFILE)
    note(method.why)
    strategy = ["--strategy", "thermos"]
    if speed.known(found):
        strategy = ["--strategy", "fastest", "--split"]
    job = _Job(
        command,
        ["--machine", target],
        ["--capacity", capacity or ("25%" if any(t.modelled for t in found.tier) else "100%")],
        folder,
        ["--preload"] if preload else [],
        shown,
    )
    job.measure(method.method.name)
    job.plan(strategy)
    if not preload:
        job.predict(found)
    job.guide(traced=not preload and any(tier.modelled for tier in found.tier))
    job.report()
    kinds = ("profile", "plan", "trace", "schemes.json", "run.json", "html")
    made = {kind: job.file(kind) for kind in kinds}
    return Made(folder, {kind: path for kind, path in made.items() if path.exists()})


def _machine(name: str) -> tuple[str, Machine]:
    """The host if it has several kinds of memory, else the example."""
    found = store.find(name)
    if len(found.tier) > 1:
        return name, found
    if name != store.DETECT:
        raise Misuse(
            f"{name} has one kind of memory, so there is nothing to place: name another with "
            "--machine (see 'thermocline machine list')"
        )
    note(
        f"this host has one kind of memory: planning for {EXAMPLE_MACHINE}, or name another with "
        "--machine"
    )
    return EXAMPLE_MACHINE, store.find(EXAMPLE_MACHINE)


@dataclass(frozen=True)
class _Job:
    """One command's way through the loop."""

    command: Sequence[str]
    machine: list[str]
    capacity: list[str]
    folder: Path
    preload: list[str]
    shown: Shown

    def file(self, suffix: str) -> Path:
        """An artefact."""
        return self.folder / f"{Path(self.command[0]).name}.{suffix}"

    def measure(self, method: str) -> None:
        """The profile of the process that holds most, where there are several."""
        made = self.file("profile")
        self._verb(
            *("profile", "--method", method, *self.preload, *self.machine, "-o", made, "--force"),
            *("--", *self.command),
        )
        if made.exists():
            return
        several = {path: model.load(path) for path in self.folder.glob("*.profile")}
        if not several:
            raise ThermoclineError("the command left no profile")
        max(several, key=lambda path: several[path].peak_resident_bytes).rename(made)

    def plan(self, strategy: list[str]) -> None:
        """For the fast tier's capacity."""
        self._verb(
            *("plan", self.file("profile"), *self.machine, *self.capacity, *strategy),
            *("-o", self.file("plan"), "--force"),
        )

    def predict(self, machine: Machine) -> None:
        """Run times, where the machine file says enough to simulate it."""
        if not all(tier.device for tier in machine.tier):
            note(
                f"no run times are predicted: the tiers of {machine.name} name no memory devices "
                "(see docs/machine-files.md)"
            )
            return
        trace = self.file("trace")
        self._verb(
            *("trace", "--budget", BUDGET, "-o", trace, "--force", "--", *self.command),
            tables=False,
        )
        self._verb(
            *("simulate", trace, *self.machine, *self.capacity, "--plan", self.file("plan")),
            *("--scheme", "first-touch,membrain,all-fast"),
            *("-o", self.file("schemes.json"), "--force"),
        )

    def guide(self, traced: bool) -> None:
        """The guided run; where tiers are modelled, only a traced one has anything to tell."""
        self._verb(
            *("run", "--plan", self.file("plan"), *self.preload, *self.machine),
            *(["--trace"] if traced else []),
            *("-o", self.file("run.json"), "--force", "--", *self.command),
        )

    def report(self) -> None:
        """All of it on one page."""
        if missing := page.lacks():
            note(f"no report: {missing}")
            return
        made = ("profile", "plan", "schemes.json", "run.json")
        self._verb(
            *("report", *(path for path in map(self.file, made) if path.exists())),
            *("--html", self.file("html"), "--force"),
        )

    def _verb(self, *words: object, tables: bool = True) -> None:
        """One of our own verbs; what it writes is the user's to see, but for its next step."""
        texts = [str(word) for word in words]
        self.shown.command(f"thermocline {shlex.join(texts)}")
        done = subprocess.run(
            [sys.executable, "-m", "thermocline", *texts],
            stdout=None if tables and self.shown.tables else subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            check=False,
        )
        lines = [line for line in done.stderr.splitlines() if not line.startswith("next: ")]
        for line in lines:
            self.shown.line(line)
        if done.returncode != 0:
            said = lines[-1].removeprefix(OURS) if lines else ""
            raise VerbFailed(texts[0], said, done.returncode)
