"""thermocline trace -- CMD, and trace info, import, export."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer
import typer.core

from thermocline.cli.options import AsJson, AsJsonAside, Force

if TYPE_CHECKING:
    pass


class _RecordsByDefault(typer.core.TyperGroup):
    """`thermocline trace -o OUT -- CMD` needs no word for what it does."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Anything but a verb of ours, or a wish for help, is a recording."""
        if args and args[0] not in self.commands and args[0] != "--help":
            args = ["record", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_RecordsByDefault,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Record a program's memory references (thermocline trace -- CMD); describe, import and "
    "export traces.",
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
LISTED = 20  # source positions that `info --count` prints


@app.command("record", context_settings={"allow_interspersed_args": False})
def record(
    command: Annotated[list[str], typer.Argument(help="The command, after --.")],
    out: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("-o", "--output", help="Default: PROGRAM.PID.trace."),
    ] = None,
    budget: Annotated[
        str,
        typer.Option("--budget", help="Most references of a process, such as 500k, 100M or 2G."),
    ] = "100M",
    function: Annotated[
        Text,
        typer.Option(
            "--function", help="Only what runs in these functions, and in all that they call."
        ),
    ] = None,
    mark: Annotated[
        Text,
        typer.Option(
            "--mark", help="Everything; and say when these functions are entered and left."
        ),
    ] = None,
    time: Annotated[
        Text, typer.Option("--time", help="Only FROM:TO seconds of each process, such as 2s:5s.")
    ] = None,
    force: Force = False,
    as_json: AsJsonAside = False,
) -> None:
    """Record every memory reference of a command's annotated code; the word itself is optional.

    A run that makes more references than the budget is recorded in windows: all of its beginning,
    then a part of each doubling of its length.

    Several functions have commas between them.  A name may leave out C++ scopes.

    Example: thermocline trace --budget 200M --function CalcForceForNodes -- ./lulesh -s 20
    """
    from thermocline.cli import output
    from thermocline.simulation import record as recording

    part = recording.part(budget, function, mark, time)
    made = recording.record(command, part, out, force, as_json)
    found = made.traces
    if as_json:
        output.emit_json([{"trace": str(path), **described} for path, described in found])
    else:
        for path, described in found:
            _print_recorded(path, described)
        output.next_step(
            "thermocline",
            "simulate",
            found[0][0],
            "--machine",
            "knl-7230",
            "--scheme",
            "first-touch",
        )
    raise typer.Exit(made.outcome.status)


def _print_recorded(path: Path, found: dict[str, Any]) -> None:
    from thermocline import units

    windows = len(found["windows"])
    seen = f"in {windows} sampling windows, " if windows else ""
    print(
        f"{path}: {found['references']} references of {len(found['threads'])} thread(s), {seen}"
        f"{units.format_bytes(found['bytes'])}, {found['bytes_per_reference']:.2f} bytes each"
    )


@app.command("info")
def info(
    trace: Annotated[Path, typer.Argument(help="A trace file.")],
    count: Annotated[
        bool,
        typer.Option("--count", help="Read every record, and count by owner and by instruction."),
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


def _kind(instruction: dict[str, Any]) -> str:
    if instruction["store"]:
        return "store"
    return "dependent load" if instruction["dependent"] else "load"


def _print(found: dict[str, Any], count: bool) -> None:
    from collections import Counter

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
        print()
        # A source position becomes several instructions where the compiler copied it.
        at = Counter[tuple[str, str]]()
        for row in found["instructions"]:
            at[row["position"] or "?", _kind(row)] += row["references"]
        output.table(
            [column("instructions at"), column(""), column("references", True)],
            [[*place, str(references)] for place, references in at.most_common(LISTED)],
        )
        if len(at) > LISTED:
            print(f"and {len(at) - LISTED} places with fewer references (--json has all)")
    print(
        f"\n{found['references']} references in {units.format_bytes(found['bytes'])}, "
        f"{found['bytes_per_reference']:.2f} bytes each; {found['static_instructions']} "
        f"instructions, {found['dependent_instructions']} with addresses from loads; "
        f"{len(found['windows'])} sampling windows"
    )
    if "touched_large_bytes" in found:
        touched, references = found["touched_bytes"], found["references"]
        print(
            f"pages of 2 MiB: {units.format_bytes(found['touched_large_bytes'])} of the "
            f"{units.format_bytes(touched)} that are referred to "
            f"({units.format_share(found['touched_large_bytes'] / max(touched, 1))}), "
            f"{units.format_share(found['references_in_large_pages'] / max(references, 1))} of "
            "references"
        )
    elif "large_page_bytes" in found:
        print(
            f"pages of 2 MiB: {units.format_bytes(found['large_page_bytes'])} of the process's "
            "memory at one time or another (--count tells the share of what it refers to)"
        )
    else:
        print("pages of 2 MiB: not recorded")
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
    options = traces.options(
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

    options = traces.options(
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
