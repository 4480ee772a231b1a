"""Of programs: their sites and profiles."""

from pathlib import Path
from typing import TYPE_CHECKING

from thermocline.api import arguments
from thermocline.api.arguments import AnyPath, Command

if TYPE_CHECKING:
    from pandas import DataFrame

    from thermocline.machine.model import Machine
    from thermocline.profiles.model import Profile
    from thermocline.sites.table import SiteTable

SWEEP = (0, 1, 2, 3, 4)


def sites(program: AnyPath) -> "SiteTable":
    """The allocation sites of an annotated executable or shared library."""
    from thermocline.sites import table

    return table.read(Path(program))


def sites_sweep(program: AnyPath) -> "DataFrame":
    """How sites and code grow: the program linked again at context 0 to 4, a row each.

    Columns: context, sites, positions, calls, file_bytes, code_bytes, recording_bytes,
    link_seconds (of processor time), left_out (notes).  The objects of the link must still be
    where they were.
    """
    from thermocline import frames
    from thermocline.sites import sweep

    columns = {
        name: frames.NUMBER if name == "link_seconds" else frames.COUNT
        for name in sweep.Step.__dataclass_fields__
    }
    return frames.of(map(vars, sweep.sweep(Path(program), SWEEP)), columns)


def profile(
    command: Command,
    *,
    machine: "Machine | str" = "detect",
    output: AnyPath | None = None,
    force: bool = False,
    method: str | None = None,
    preload: bool = False,
    context: int | None = None,
    rate: int | None = None,
    event: str | None = None,
    overhead: float | None = None,
    runs: int | None = None,
    jobs: int | None = None,
    scheduler: str | None = None,
) -> "Profile":
    """Runs the command and measures what each site's data costs in traffic and capacity.

    `machine`: whose caches are modelled.  `output`: a file to keep the profile in; without one
    nothing is left behind.  `method`: trace (the default), sample, bursts, pages, mbi or auto.
    `preload`: a program that was not annotated, `context` callers told apart.  `rate` (one sample
    in so many events), `event` and `overhead` (part of the run time) are for methods that sample;
    `runs`, `jobs` and `scheduler` (a Dask scheduler's address) for method mbi.

    Of several annotated processes, the profile of the one that holds most; `profile_processes`
    returns all.  ThermoclineError where none ran; a command that fails is a note, and a
    profile's `complete` says whether its process came to its end.
    """
    found = profile_processes(
        command,
        machine=machine,
        output=output,
        force=force,
        method=method,
        preload=preload,
        context=context,
        rate=rate,
        event=event,
        overhead=overhead,
        runs=runs,
        jobs=jobs,
        scheduler=scheduler,
    )
    return max(found, key=lambda each: each.peak_resident_bytes)


def profile_processes(
    command: Command,
    *,
    machine: "Machine | str" = "detect",
    output: AnyPath | None = None,
    force: bool = False,
    method: str | None = None,
    preload: bool = False,
    context: int | None = None,
    rate: int | None = None,
    event: str | None = None,
    overhead: float | None = None,
    runs: int | None = None,
    jobs: int | None = None,
    scheduler: str | None = None,
) -> "list[Profile]":
    """The same, a profile for each process, such as an MPI program's ranks.

    Where there are several, `output` NAME.profile becomes NAME.PID.profile for each.
    """
    import tempfile

    from thermocline.methods import profiling

    how = profiling.How(
        method=method,
        preload=preload,
        context=context,
        rate=rate,
        event=event,
        overhead=overhead,
        runs=runs,
        jobs=jobs,
        scheduler=scheduler,
    )
    line, known = arguments.words(command), arguments.machine(machine)
    if output is not None:
        made = profiling.profile(line, known, Path(output), force, how)
    else:
        with tempfile.TemporaryDirectory(prefix="thermocline-api-") as scratch:
            made = profiling.profile(line, known, Path(scratch) / "one.profile", True, how)
    return [found for _, found in made.profiles]


def import_samples(
    profile: AnyPath, samples: AnyPath, output: AnyPath, *, force: bool = False
) -> "Profile":
    """Fills a profile of method `owners` with what `perf script` printed of the same run.

    The filled profile is written to `output` (docs/perf-script.md).
    """
    from thermocline import files
    from thermocline.profiles import imported

    files.refuse_overwrite(Path(output), force)
    imported.fill(Path(profile), Path(samples), Path(output))
    return load_profile(output)


def load_profile(path: AnyPath) -> "Profile":
    """Reads a profile."""
    from thermocline.profiles import model

    return model.load(Path(path))
