"""Traces: recorded, described, and other simulators'."""

from pathlib import Path
from typing import TYPE_CHECKING

from thermocline.api import arguments
from thermocline.api.arguments import AnyPath, Command

if TYPE_CHECKING:
    from thermocline.traces import TraceFile


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
