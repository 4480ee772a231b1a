"""Builds an annotated workload, profiles it and records its trace, each once.

Everything is kept in the cache (cache.py) under a name made of what it depends on: sources,
compilers, runtime library, arguments, caches.
"""

import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from thermocline import paths
from thermocline.errors import ThermoclineError, one_line
from thermocline.machine.model import Machine
from thermocline.measuring.paired import Command
from thermocline.profiles import model as profile_model
from thermocline.profiles.model import Profile
from thermocline.reproduce import cache, real, tail
from thermocline.run import config
from thermocline.run.launch import CONFIG_VARIABLE
from thermocline.simulation import runner
from thermocline.sites import table

# Olson et al. 2018, V.C build with -O3 -march=knl.  What runs here has no AVX-512: AVX2.
FLAGS = "-O3 -march=x86-64-v3"


@dataclass(frozen=True)
class Job:
    """One workload at one context."""

    program: str
    arguments: tuple[str, ...]
    context: int
    machine: Machine  # whose caches are modelled, at the size that is simulated
    region: int  # references recorded in full
    name: str = ""  # where one program comes with several inputs
    real: bool = False  # from Debian's sources (real.py); arguments are its job's size

    @property
    def stem(self) -> str:
        """What its files are called."""
        return f"{self.name or self.program}-{self.context}"


@dataclass(frozen=True)
class Prepared:
    """What is known of it."""

    job: Job
    executable: Path
    profile: Profile  # non-heap memory is what the trace touches
    trace: Path
    trace_digest: str
    survey: dict[str, Any]
    recorded: tail.Recorded
    file_bytes: int
    recording_bytes: int  # of the code that only a profile or a trace runs
    sites: int  # in the executable

    @property
    def reached(self) -> int:
        """Sites that allocated."""
        return sum(1 for site in self.profile.sites if site.kind == "site" and site.allocations)

    @property
    def region_share(self) -> float:
        """Of the run's references."""
        return self.recorded.region / self.recorded.references

    @property
    def metric(self) -> str:
        """The unit of the workload's own figure of merit."""
        for line in self.recorded.output.splitlines():
            if line.startswith("metric:"):
                return " ".join(line.split("(")[0].split()[2:])
        return ""


def prepare(job: Job) -> Prepared:
    """Builds, profiles and records, or takes what is in the cache."""
    version, command = _real(job) if job.real else _ours(job)
    executable = Path(command.argv[0])
    caches = [each.model_dump(mode="json") for each in job.machine.cache]
    code = Path(__file__).parent
    key = cache.key(version, job.arguments, caches, job.region, _digest_of_recording(code))

    def fill(folder: Path) -> None:
        profile(command, job.machine, ["sampler trace"], folder)
        exact = profile_model.load(folder / "profile")
        made = sum(site.loads + site.stores for site in exact.sites)
        trace = folder / "trace"
        recorded = tail.record(
            command.argv, job.machine, max(0, made - job.region), trace, stdin=command.stdin
        )
        facts = {
            "recorded": asdict(recorded),
            "survey": runner.survey(trace),
            "digest": cache.digest_of_files([trace]),
        }
        (folder / "facts.json").write_text(json.dumps(facts), encoding="utf-8")

    folder = cache.folder(f"{job.stem}-{key}", fill)
    facts = json.loads((folder / "facts.json").read_text(encoding="utf-8"))
    recorded = tail.Recorded(**facts["recorded"])
    return Prepared(
        job,
        executable,
        _with_touched_nonheap(profile_model.load(folder / "profile"), recorded),
        folder / "trace",
        facts["digest"],
        facts["survey"],
        recorded,
        executable.stat().st_size,
        table.code_bytes(executable)[1],
        len(table.read(executable).sites),
    )


def _ours(job: Job) -> tuple[str, Command]:
    built = build(job.program, job.context)
    return built.name, Command((str(built / job.program), *job.arguments))


def _real(job: Job) -> tuple[str, Command]:
    assert job.context == 0  # as the program's own build links it
    built = real.build(job.program)
    version = f"{built.folder.name} {real.digest(job.program)}"
    return version, built.command(built.executable, size=job.arguments)


def _digest_of_recording(code: Path) -> str:
    return cache.digest_of_files(
        [code / "tail.py", paths.library("libthermocline.so"), paths.library("thermocline-trace")]
    )


def runtime_digest() -> str:
    """Of the library that a profiled workload runs with."""
    return cache.digest_of_files([paths.library("libthermocline.so")])


def build(program: str, context: int | None) -> Path:
    """The folder of the annotated executable; of a plain one where there is no context."""
    source = paths.shared("workloads/Makefile").parent
    files = sorted(source.glob(f"{program}.*"))
    if not files:
        raise ThermoclineError(f"{source} has no workload {program}: install Thermocline again")
    wrappers = {
        "CC": paths.wrapper(),
        "CXX": paths.wrapper("thermocline-clang++"),
        "FC": paths.wrapper("thermocline-flang"),
    }
    made_from = [
        *files,
        *sorted(source.glob("*/*.h")),
        source / "Makefile",
        paths.wrapper(),
        *(paths.library(f"{name}.so") for name in ("thermocline-plugin", "libthermocline")),
    ]
    key = cache.key(cache.digest_of_files(made_from), FLAGS, context)

    def fill(folder: Path) -> None:
        command = ["make", "-s", "-C", str(source), f"OUT={folder}"]
        command += [f"{name}={path}" for name, path in wrappers.items()]
        command += [f"CFLAGS={FLAGS} -g1", f"FFLAGS={FLAGS} -g"]
        annotated = context is not None
        command += [f"LDFLAGS=--thermocline-context={context}" if annotated else "LDFLAGS="]
        environment = {**os.environ, "THERMOCLINE_ANNOTATE": "on" if annotated else "off"}
        try:
            done = subprocess.run(
                [*command, program], env=environment, capture_output=True, text=True, check=False
            )
        except OSError as error:
            raise ThermoclineError(f"can't run make: {error.strerror}: install it") from error
        if done.returncode != 0:
            lines = (done.stderr or done.stdout).splitlines()
            said = next((line for line in lines if "error" in line), lines[0] if lines else "")
            raise ThermoclineError(f"building the workload {program} failed: {one_line(said)}")

    name = "plain" if context is None else context
    return cache.folder(f"{program}-{name}-build-{key}", fill)


def profile(command: Command, machine: Machine, sampler: Sequence[str], folder: Path) -> None:
    """Runs the workload with this sampler and leaves `profile` in the folder."""
    with tempfile.TemporaryDirectory(prefix="thermocline-profile-") as scratch:
        file = Path(scratch) / "config"
        text = config.for_profile(Path(scratch) / "made", machine, sampler)
        file.write_text(text, encoding="utf-8")
        with open(command.stdin or os.devnull, "rb") as stdin:
            done = subprocess.run(
                command.argv,
                env={**os.environ, CONFIG_VARIABLE: str(file)},
                stdin=stdin,
                capture_output=True,
                text=True,
                check=False,
            )
        made = list(Path(scratch).glob("made.*.profile"))
        if done.returncode != 0 or len(made) != 1:
            said = one_line(done.stderr) or f"status {done.returncode}"
            raise ThermoclineError(f"profiling {Path(command.argv[0]).name} failed: {said}")
        (folder / "profile").write_bytes(made[0].read_bytes())


def _with_touched_nonheap(profile: Profile, recorded: tail.Recorded) -> Profile:
    """Non-heap memory as far as the program's own code touches it.

    The rest (data of libraries, a megabyte or so) is not in the trace, so that no simulation
    places it; of a program as small as these it would be a share that no real one has.
    """
    sites, left_out = [], 0
    for site in profile.sites:
        if site.kind != "nonheap":
            sites.append(site)
            continue
        touched = recorded.pages.get(site.key, 0) * profile.page_bytes
        left_out += site.resident_at_peak_bytes - min(touched, site.resident_at_peak_bytes)
        resident = [min(touched, size) for size in site.series.resident_bytes]
        change = {
            "peak_resident_bytes": touched,
            "resident_at_peak_bytes": touched,
            "series": site.series.model_copy(update={"resident_bytes": resident}),
        }
        sites.append(site.model_copy(update=change))
    peak = profile.peak_resident_bytes - left_out
    return profile.model_copy(update={"sites": sites, "peak_resident_bytes": peak})
