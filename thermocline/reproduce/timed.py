"""Programs that run against the clock: how they are built, linked and told what to do."""

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from thermocline import paths
from thermocline.errors import ThermoclineError, one_line
from thermocline.measuring import paired
from thermocline.measuring.paired import Command
from thermocline.profiles import model as profile_model
from thermocline.reproduce import real, workloads
from thermocline.reproduce.study import Workload
from thermocline.run.launch import CONFIG_VARIABLE

LIBRARY = "libthermocline.so"
# Everything in one tier: as the paper's runs with MCDRAM only.
ONE_TIER = (
    "thermocline-config 1\nheap guided\nsampler none\ninterval-ms 100\n"
    "tier 0 nodes - capacity 0\ndefault-tier 0\nnonheap-tier -\n"
)


@dataclass(frozen=True)
class Timed:
    """A program and its command, built at any context; None: plainly."""

    name: str
    stands_for: str  # of the paper's programs, or nothing
    same_output: bool  # whether all variants print the same
    at: Callable[[int | None], Command]

    def configured(self, context: int | None, file: Path, preload: bool = False) -> Command:
        """A run with this configuration."""
        environment = {CONFIG_VARIABLE: str(file)}
        if preload:
            environment["LD_PRELOAD"] = str(paths.library(LIBRARY).absolute())
        return with_environment(self.at(context), environment)


def with_environment(command: Command, environment: dict[str, str]) -> Command:
    """The same command with more in its environment."""
    merged = {**command.environment, **environment}
    return Command(command.argv, merged, command.directory, command.stdin)


def workload(each: Workload) -> Timed:
    """One of ours, with its input for runs against the clock.  It prints its own time."""

    def at(context: int | None) -> Command:
        executable = workloads.build(each.program, context) / each.program
        return Command((str(executable), *each.timed_arguments))

    return Timed(each.program, each.stands_for, False, at)


def real_program(name: str) -> Timed:
    """One from Debian's sources; links are of the same objects."""
    program = real.build(name)
    wrapper = str(paths.wrapper().absolute())

    def at(context: int | None) -> Command:
        # Objects hold native code and bitcode; plain links take the bitcode too.
        options = ["-flto=full", "-ffat-lto-objects", "-fuse-ld=lld", "--thermocline-annotate=off"]
        if context is not None:
            options = [f"--thermocline-context={context}", "--thermocline-twins=off"]
        link = program.link(
            "plain" if context is None else f"context-{context}", [wrapper, *options]
        )
        if not link.executable.exists():
            done = subprocess.run(
                link.run.argv, cwd=link.run.directory, capture_output=True, text=True, check=False
            )
            if done.returncode != 0:
                raise ThermoclineError(f"linking {name} failed: {one_line(done.stderr)}")
        return program.command(link.executable)

    return Timed(name, "", True, at)


def backtrace_library(folder: Path) -> Path:
    """A malloc that asks for a backtrace each time, for LD_PRELOAD."""
    compiler = shutil.which("cc") or shutil.which("clang-22")
    if not compiler:
        raise ThermoclineError("no C compiler: apt-get install clang-22")
    source = Path(paired.__file__).with_name("backtrace.c")
    library = folder / "libbacktrace-malloc.so"
    command = [compiler, "-O2", "-fPIC", "-shared", str(source), "-o", str(library)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ThermoclineError(f"{source} did not compile: {one_line(done.stderr)}")
    return library


def allocations(program: Timed) -> int:
    """How many a run makes, by the profiling heap."""
    with tempfile.TemporaryDirectory(prefix="thermocline-count-") as name:
        scratch = Path(name)
        file = scratch / "config"
        file.write_text(
            f"thermocline-config 1\nheap sites\nsampler none\nprofile {scratch / 'made'}\n"
        )
        paired.measure(program.configured(0, file), scratch)
        found = [profile_model.load(path) for path in scratch.glob("made.*.profile")]
    return sum(site.allocations for profile in found for site in profile.sites)
