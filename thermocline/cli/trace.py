"""thermocline trace info, import, export."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from thermocline.cli.options import AsJson, Force

if TYPE_CHECKING:
    from collections.abc import Iterator

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Traces: a program's memory references, described, imported and exported.",
)

Format = Annotated[
    str,
    typer.Option("--format", help="champsim, ramulator2-loadstore or ramulator2-readwrite."),
]
Organization = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        "--organization",
        help="For ramulator2-readwrite: how many channels, ranks, bank groups, banks, rows, "
        "columns, with commas.",
    ),
]
LineBytes = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option("--line-bytes", help="For Ramulator's formats: bytes of a request."),
]
Text = Optional[str]  # noqa: UP045


def _options(**given: object) -> "Iterator[str]":
    for name, value in given.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            yield option
        elif value is not None and value is not False:
            yield from (option, str(value))


@app.command("info")
def info(
    trace: Annotated[Path, typer.Argument(help="A trace file.")],
    count: Annotated[
        bool, typer.Option("--count", help="Read every record, and count by owner.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say what a trace holds.

    Example: thermocline trace info lulesh.71.trace --count
    """
    from thermocline import traces
    from thermocline.cli import output

    found = traces.info(trace, count)
    if as_json:
        output.emit_json(found)
    else:
        _print(found, count)


def _print(found: dict[str, Any], count: bool) -> None:
    from thermocline import units
    from thermocline.cli import output

    column = output.Column
    output.table(
        [column("thread"), *(column(name, True) for name in ("references", "from s", "to s"))],
        [
            [
                str(thread["thread"]),
                str(thread["references"]),
                f"{thread['begin_seconds']:.3f}",
                f"{thread['end_seconds']:.3f}",
            ]
            for thread in found["threads"]
        ],
    )
    if count:
        print()
        output.table(
            [column("owner"), *(column(name, True) for name in ("loads", "stores", "blocks"))],
            [
                [row["key"], str(row["loads"]), str(row["stores"]), str(row["allocations"])]
                for row in found["owners"]
            ],
        )
    print(
        f"\n{found['references']} references in {units.format_bytes(found['bytes'])}, "
        f"{found['bytes_per_reference']:.2f} bytes each; {found['static_instructions']} "
        f"instructions, {found['dependent_instructions']} with addresses from loads; "
        f"{len(found['windows'])} sampling windows"
    )
    meta = found["meta"]
    if isinstance(meta.get("unknown"), list):
        output.note(f"imported: it can't say {', '.join(map(str, meta['unknown']))}")
    if meta.get("dropped_records"):
        output.note(f"{meta['dropped_records']} records beyond the limit were dropped")
    if found["cut_off"]:
        output.note("the file is cut off: it is read to its last whole chunk")
    elif not found["complete"] and "imported_format" not in meta:
        output.note("the program did not end while it was recorded: the trace is a part")


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="Another simulator's trace: plain, .gz or .xz.")],
    kind: Format,
    out: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("-o", "--output", help="Default: NAME.trace."),
    ] = None,
    organization: Organization = None,
    line_bytes: LineBytes = None,
    force: Force = False,
) -> None:
    """Make a trace of another simulator's.

    Example: thermocline trace import --format champsim 600.perlbench.champsimtrace.xz
    """
    from thermocline import traces
    from thermocline.cli import output

    stem = file.name.removesuffix(".gz").removesuffix(".xz")
    written = out or Path(f"{stem}.trace")
    options = _options(
        format=kind, output=written, organization=organization, line_bytes=line_bytes, force=force
    )
    traces.call("import", *options, file)
    print(written)
    output.next_step("thermocline", "trace", "info", written)


@app.command("export")
def export(
    trace: Annotated[Path, typer.Argument(help="A trace file.")],
    kind: Format,
    out: Annotated[
        Path, typer.Option("-o", "--output", help="What to write; .gz and .xz are compressed.")
    ],
    thread: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option("--thread", help="Which thread, if there are several."),
    ] = None,
    function: Annotated[
        Text, typer.Option("--function", help="Only what runs in this function.")
    ] = None,
    time: Annotated[
        Text, typer.Option("--time", help="Only FROM:TO seconds after recording began.")
    ] = None,
    windows: Annotated[
        Text, typer.Option("--windows", help="Only sampling windows FROM:TO, from 1.")
    ] = None,
    organization: Organization = None,
    line_bytes: LineBytes = None,
    force: Force = False,
) -> None:
    """Write one thread of a trace for another simulator.

    Example: thermocline trace export --format champsim -o lulesh.champsim.xz lulesh.71.trace
    """
    from thermocline import traces

    options = _options(
        format=kind,
        output=out,
        thread=thread,
        function=function,
        time=time,
        windows=windows,
        organization=organization,
        line_bytes=line_bytes,
        force=force,
    )
    traces.call("export", *options, trace)
    print(out)
