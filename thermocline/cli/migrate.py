"""thermocline migrate."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from thermocline.cli.options import AsJsonAside

if TYPE_CHECKING:
    from thermocline.planning.model import Plan

GRANULARITIES = ("4K", "64K", "2M", "history", "sampling", "adaptive")
LEAST_CHUNKS = 4
CHUNK = 2 << 20  # bytes; the largest that any granularity moves


def migrate(
    command: Annotated[list[str], typer.Argument(help="The command, after --.")],
    near: Annotated[str, typer.Option("--near", help="Near memory, such as 400MiB.")],
    granularity: Annotated[
        str, typer.Option("--granularity", help=f"What moves at once: {', '.join(GRANULARITIES)}.")
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
    import json
    import tempfile

    from thermocline import units
    from thermocline.cli import output
    from thermocline.errors import Misuse
    from thermocline.machine import store
    from thermocline.planning import model
    from thermocline.run import migration
    from thermocline.run.launch import CONFIG_VARIABLE

    if granularity not in GRANULARITIES:
        raise Misuse(f"no granularity {granularity!r}: there are {', '.join(GRANULARITIES)}")
    limit = units.parse_bytes(near)
    if limit < LEAST_CHUNKS * CHUNK:
        raise Misuse(
            f"--near {near} is less than {LEAST_CHUNKS} chunks of 2 MiB: "
            f"give {units.format_bytes(LEAST_CHUNKS * CHUNK)} or more"
        )
    chosen = None if plan is None else model.load(plan)
    host = store.find(machine)
    if len(host.tier) < 2:
        raise Misuse(f"machine {machine} has one kind of memory: name one with two")
    with tempfile.TemporaryDirectory(prefix="thermocline-migrate-") as scratch:
        settled = Path(scratch) / "configuration"
        if chosen is not None:
            text = migration.configuration(chosen, host, Path(scratch) / "report")
            settled.write_text(text, encoding="utf-8")
        words: dict[str, str | int] = {"near": limit, "policy": granularity, "check": int(check)}
        words["prefetch"] = int(prefetch)
        words["report"] = str(Path(scratch) / "migration")
        text = migration.settings(words, host.tier[0], host.tier[-1])
        more = migration.environment(text, bool(chosen and chosen.preload_context is not None))
        if chosen is not None:
            more[CONFIG_VARIABLE] = str(settled)
        status = _run(command, more, as_json)
        files = sorted(Path(scratch).glob("migration.*.json"))
        processes = [json.loads(file.read_text(encoding="utf-8")) for file in files]
        _warn(chosen, Path(scratch), command)
    summary = {"format": "thermocline-migration-summary", "version": 1, "machine": machine}
    if as_json:
        output.emit_json(summary | {"status": status, "processes": processes})
    else:
        _print(processes)
        other = "4K" if granularity != "4K" else "adaptive"
        again = ["--near", near, "--granularity", other, "--machine", machine]
        again += ["--plan", str(plan)] if plan is not None else []
        again += ["--", *command]
        output.next_step("thermocline", "migrate", *again)
    raise typer.Exit(status)


def _run(command: list[str], more: dict[str, str], aside: bool) -> int:
    import os
    import subprocess

    from thermocline.errors import ThermoclineError, one_line
    from thermocline.run import preload

    environment = {**os.environ, **more}
    preload.check(command)
    try:
        done = subprocess.run(command, env=environment, stdout=2 if aside else None, check=False)
    except OSError as error:
        raise ThermoclineError(f"can't run {one_line(command[0])}: {error.strerror}") from error
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


def _warn(plan: "Plan | None", scratch: Path, command: list[str]) -> None:
    """Where the plan and the program are not of each other."""
    from thermocline.cli import output
    from thermocline.run import launch, report

    if plan is None:
        return
    reports, complaints = report.gather(scratch)
    if plan.preload_context is not None:
        reports = report.with_readable_sites(reports, plan, plan.preload_context)
    for line in complaints:
        output.note(line)
    if not reports:
        done = launch.Outcome(0, 0)
        output.note(launch.nothing_ran(command, done, "the plan had no effect"))
    elif gone := report.never_came(reports):
        output.note(
            f"{len(gone)} of {len(plan.sites)} planned sites never came (the first: {min(gone)})"
        )


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
