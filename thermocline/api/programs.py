"""Of programs: their sites, profiles and traces."""

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from thermocline.api import arguments
from thermocline.api.arguments import AnyPath, Command

if TYPE_CHECKING:
    from pandas import DataFrame

    from thermocline.machine.model import Machine
    from thermocline.profiles.model import Profile
    from thermocline.sites.table import SiteTable
    from thermocline.traces import TraceFile

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


def trace(
    command: Command,
    *,
    output: AnyPath | None = None,
    force: bool = False,
    budget: str = "100M",
    function: str | None = None,
    mark: str | None = None,
    time: str | None = None,
) -> "TraceFile":
    """Runs the command and records every memory reference of its annotated code.

    A trace is a file, for it is large: `output`, or PROGRAM.PID.trace in the current folder.
    `budget`: references of a process, such as 500k or 2G; beyond it, sampling windows.
    `function`: only what runs in these functions (commas between); `mark`: everything, and when
    these are entered and left; `time`: only FROM:TO of each process, such as 2s:5s.

    Of several annotated processes, the trace with most references; `trace_processes` returns all.
    """
    found = trace_processes(
        command,
        output=output,
        force=force,
        budget=budget,
        function=function,
        mark=mark,
        time=time,
    )
    return max(found, key=lambda each: each.references)


def trace_processes(
    command: Command,
    *,
    output: AnyPath | None = None,
    force: bool = False,
    budget: str = "100M",
    function: str | None = None,
    mark: str | None = None,
    time: str | None = None,
) -> "list[TraceFile]":
    """The same, a trace for each process; several become NAME.PID.trace."""
    from thermocline.simulation import record
    from thermocline.traces import TraceFile

    part = record.part(budget, function, mark, time)
    made = record.record(arguments.words(command), part, arguments.path(output), force)
    return [TraceFile(path, described) for path, described in made.traces]


def load_trace(path: AnyPath) -> "TraceFile":
    """What a trace says of itself; its references stay in the file."""
    from thermocline import traces

    return traces.TraceFile(Path(path), traces.info(Path(path)))


def import_trace(
    file: AnyPath,
    output: AnyPath,
    *,
    form: str,
    organization: str | None = None,
    line_bytes: int | None = None,
    force: bool = False,
) -> "TraceFile":
    """Makes a trace of another simulator's: form champsim, ramulator2-loadstore or -readwrite.

    `organization`: for ramulator2-readwrite, how many channels, ranks, bank groups, banks, rows
    and columns, with commas.  `line_bytes`: of a request, for Ramulator's forms.
    """
    from thermocline import traces

    options = traces.options(
        format=form, output=output, organization=organization, line_bytes=line_bytes, force=force
    )
    traces.call("import", *options, file)
    return load_trace(output)


def export_trace(
    trace: "TraceFile | AnyPath",
    output: AnyPath,
    *,
    form: str,
    thread: int | None = None,
    function: str | None = None,
    time: str | None = None,
    windows: str | None = None,
    organization: str | None = None,
    line_bytes: int | None = None,
    force: bool = False,
) -> Path:
    """Writes one thread of a trace for another simulator; .gz and .xz are compressed."""
    from thermocline import traces

    options = traces.options(
        format=form,
        output=output,
        thread=thread,
        function=function,
        time=time,
        windows=windows,
        organization=organization,
        line_bytes=line_bytes,
        force=force,
    )
    traces.call("export", *options, trace.path if isinstance(trace, traces.TraceFile) else trace)
    return Path(output)
