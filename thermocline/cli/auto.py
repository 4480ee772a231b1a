"""thermocline auto: the whole loop by its own verbs, each shown as it runs."""

import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from thermocline.cli.options import Force, Preload
from thermocline.cli.options import Machine as MachineName

if TYPE_CHECKING:
    from thermocline.machine.model import Machine

EXAMPLE_MACHINE = "knl-7230"
BUDGET = "20M"  # references that are recorded for the prediction


def auto(
    command: Annotated[list[str], typer.Argument(help="The command, after --.")],
    machine: MachineName = "detect",
    capacity: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--capacity", help="Of tier 0.  [what the machine has; 25% of a modelled one]"
        ),
    ] = None,
    out: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("-o", "--output", help="A folder.  [PROGRAM.auto]"),
    ] = None,
    preload: Preload = False,
    force: Force = False,
) -> None:
    """Profile a command, plan for it, predict what that gives, run it so, and report.

    The command runs several times.  On a host with one kind of memory the plan is for another
    machine, whose tiers are modelled.

    Example: thermocline auto -- ./lulesh -s 20
    """
    from thermocline.cli import output
    from thermocline.errors import Misuse
    from thermocline.methods import auto as methods
    from thermocline.planning import speed

    if not command or not command[0]:
        raise Misuse("give the command to run after --")
    target, found = _machine(machine)
    folder = out or Path(f"{Path(command[0]).name}.auto")
    if folder.exists() and not folder.is_dir():
        raise Misuse(f"{folder} is no folder: choose another with -o")
    if folder.exists() and not force and any(folder.iterdir()):
        raise Misuse(f"{folder} exists: choose another with -o, or add --force")
    folder.mkdir(exist_ok=True)
    method = methods.best(methods.PRELOAD if preload else methods.PROFILE)
    output.note(method.why)
    strategy = ["--strategy", "thermos"]
    if speed.known(found):
        strategy = ["--strategy", "fastest", "--split"]
    job = _Job(
        command,
        ["--machine", target],
        ["--capacity", capacity or ("25%" if any(t.modelled for t in found.tier) else "100%")],
        folder,
        ["--preload"] if preload else [],
    )
    job.measure(method.method.name)
    job.plan(strategy)
    if not preload:
        job.predict(found)
    job.guide(traced=not preload and any(tier.modelled for tier in found.tier))
    job.report()
    output.next_step("thermocline", "run", "--plan", job.file("plan"), *job.preload, "--", *command)


def _machine(name: str) -> "tuple[str, Machine]":
    """The host if it has several kinds of memory, else the example."""
    from thermocline.cli import output
    from thermocline.errors import Misuse
    from thermocline.machine import store

    found = store.find(name)
    if len(found.tier) > 1:
        return name, found
    if name != "detect":
        raise Misuse(
            f"{name} has one kind of memory, so there is nothing to place: name another with "
            "--machine (see 'thermocline machine list')"
        )
    output.note(
        f"this host has one kind of memory: planning for {EXAMPLE_MACHINE}, or name another with "
        "--machine"
    )
    return EXAMPLE_MACHINE, store.find(EXAMPLE_MACHINE)


@dataclass(frozen=True)
class _Job:
    """One command's way through the loop."""

    command: list[str]
    machine: list[str]
    capacity: list[str]
    folder: Path
    preload: list[str]

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
        from thermocline.errors import ThermoclineError
        from thermocline.profiles import model

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

    def predict(self, machine: "Machine") -> None:
        """Run times, where the machine file says enough to simulate it."""
        if not all(tier.device for tier in machine.tier):
            from thermocline.cli import output

            output.note(
                f"no run times are predicted: the tiers of {machine.name} name no memory devices "
                "(see docs/machine-files.md)"
            )
            return
        trace = self.file("trace")
        self._verb(
            *("trace", "--budget", BUDGET, "-o", trace, "--force", "--", *self.command), shown=False
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
        from thermocline.cli import output
        from thermocline.reports import page

        if missing := page.lacks():
            output.note(f"no report: {missing}")
            return
        made = ("profile", "plan", "schemes.json", "run.json")
        self._verb(
            *("report", *(path for path in map(self.file, made) if path.exists())),
            *("--html", self.file("html"), "--force"),
        )

    def _verb(self, *words: Any, shown: bool = True) -> None:
        """One of our own verbs; what it writes is the user's to see, but for its next step."""
        texts = [str(word) for word in words]
        print(f"\n$ thermocline {shlex.join(texts)}", flush=True)
        done = subprocess.run(
            [sys.executable, "-m", "thermocline", *texts],
            stdout=None if shown else subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            check=False,
        )
        for line in done.stderr.splitlines():
            if not line.startswith("next: "):
                print(line, file=sys.stderr)
        if done.returncode != 0:
            raise typer.Exit(done.returncode)
