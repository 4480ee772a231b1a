"""thermocline migrate."""

from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from thermocline.cli.options import AsJsonAside


def migrate(
    command: Annotated[list[str], typer.Argument(help="The command, after --.")],
    near: Annotated[str, typer.Option("--near", help="Near memory, such as 400MiB.")],
    granularity: Annotated[
        str,
        typer.Option(
            "--granularity",
            help="What moves at once: 4K, 64K, 2M, history, sampling or adaptive.",
        ),
    ] = "adaptive",
    machine: Annotated[
        str, typer.Option("--machine", help="Whose far memory is charged: a name or a file.")
    ] = "dram-cxl",
    plan: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--plan", help="Its tier 0 stays near, its last tier far; the rest moves."),
    ] = None,
    prefetch: Annotated[
        bool, typer.Option("--prefetch", help="Bring what comes next where faults are at a stride.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Compare checksums of far pages when they return.")
    ] = False,
    as_json: AsJsonAside = False,
) -> None:
    """Run a command with little near memory: far data comes when it is touched.

    The command is not changed. On machines whose tiers are nodes the kernel moves pages between
    them; else far data is kept aside and its time is charged as the machine file says.

    Example: thermocline migrate --near 400MiB --granularity 64K -- sort huge.txt

    Example: thermocline migrate --near 64MiB --plan hot.plan -- ./lulesh -s 40
    """
    from thermocline.cli import output
    from thermocline.machine import store
    from thermocline.planning import model
    from thermocline.run import migrate as engine

    chosen = None if plan is None else model.load(plan)
    host = store.find(machine)
    made = engine.migrate(
        *(command, near, granularity, host, machine, chosen, prefetch, check), aside=as_json
    )
    if as_json:
        output.emit_json(made.to_json())
    else:
        _print(made.processes)
        other = "4K" if granularity != "4K" else "adaptive"
        again = ["--near", near, "--granularity", other, "--machine", machine]
        again += ["--plan", str(plan)] if plan is not None else []
        again += ["--", *command]
        output.next_step("thermocline", "migrate", *again)
    raise typer.Exit(made.status)


def _print(processes: list[dict[str, Any]]) -> None:
    from thermocline import units
    from thermocline.cli import output

    column = output.Column
    rows = []
    for process in processes:
        if why := process["unmanaged_because"]:
            output.note(f"{process['command'][0]}: nothing is managed: {why}")
        charged = process["charged_in_seconds"] + process["charged_out_seconds"]
        for moves in process["moves"]:
            if not moves["moves_in"] and not moves["moves_out"]:
                continue
            rows.append(
                [
                    f"{Path(process['command'][0]).name} ({process['pid']})",
                    moves["granularity"],
                    str(moves["moves_in"]),
                    units.format_bytes(moves["bytes_in"]),
                    str(moves["moves_out"]),
                    units.format_bytes(moves["bytes_out"]),
                    units.format_bytes(process["peak_near_bytes"]),
                    units.format_bytes(process["unmanaged_bytes"]),
                    units.format_duration(charged),
                ]
            )
    if not rows:
        output.note("all data fitted near: nothing moved")
        return
    titles = ["process", "moved by", "in", "bytes in", "out", "bytes out", "peak near"]
    print()
    output.table(
        [column(title, title != "process") for title in [*titles, "unmanaged", "charged"]], rows
    )
