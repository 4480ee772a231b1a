"""thermocline migrate."""

from pathlib import Path
from typing import Annotated, Any

import typer

from thermocline.cli.options import AsJsonAside

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
    check: Annotated[
        bool, typer.Option("--check", help="Compare checksums of far pages when they return.")
    ] = False,
    as_json: AsJsonAside = False,
) -> None:
    """Run a command with little near memory: far data comes when it is touched.

    The command is not changed. On machines whose tiers are nodes the kernel moves pages between
    them; else far data is kept aside and its time is charged as the machine file says.

    Example: thermocline migrate --near 400MiB --granularity 64K -- sort huge.txt
    """
    import json
    import tempfile

    from thermocline import units
    from thermocline.cli import output
    from thermocline.errors import Misuse
    from thermocline.machine import store

    if granularity not in GRANULARITIES:
        raise Misuse(f"no granularity {granularity!r}: there are {', '.join(GRANULARITIES)}")
    limit = units.parse_bytes(near)
    if limit < LEAST_CHUNKS * CHUNK:
        raise Misuse(
            f"--near {near} is less than {LEAST_CHUNKS} chunks of 2 MiB: "
            f"give {units.format_bytes(LEAST_CHUNKS * CHUNK)} or more"
        )
    tiers = store.find(machine).tier
    if len(tiers) < 2:
        raise Misuse(f"machine {machine} has one kind of memory: name one with two")
    with tempfile.TemporaryDirectory(prefix="thermocline-migrate-") as scratch:
        words = {"near": limit, "policy": granularity, "check": int(check)}
        words |= {"report": str(Path(scratch) / "report")}
        text = ";".join(f"{name}={value}" for name, value in words.items())
        status = _run(command, f"{text};{_far_memory(tiers[0], tiers[-1])}", as_json)
        files = sorted(Path(scratch).glob("report.*.json"))
        processes = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    summary = {"format": "thermocline-migration-summary", "version": 1, "machine": machine}
    if as_json:
        output.emit_json(summary | {"status": status, "processes": processes})
    else:
        _print(processes)
        other = "4K" if granularity != "4K" else "adaptive"
        again = ["--near", near, "--granularity", other, "--machine", machine, "--", *command]
        output.next_step("thermocline", "migrate", *again)
    raise typer.Exit(status)


def _far_memory(near: Any, far: Any) -> str:
    """The nodes, or what a move costs: the slower side of each direction, and far's latency."""
    if near.nodes and far.nodes:
        nodes = [f"near-node={node}" for node in near.nodes]
        return ";".join(nodes + [f"far-node={node}" for node in far.nodes])

    def slower(*rates: Any) -> int:
        known = [int(rate.value) for rate in rates if rate is not None]
        return min(known, default=0)

    latency = round(float(far.latency.value) * 1e9) if far.latency is not None else 0
    return ";".join(
        [
            f"in-latency-ns={latency}",
            f"out-latency-ns={latency}",
            f"in-bandwidth={slower(far.read_bandwidth, near.write_bandwidth)}",
            f"out-bandwidth={slower(near.read_bandwidth, far.write_bandwidth)}",
        ]
    )


def _run(command: list[str], settings: str, aside: bool) -> int:
    import os
    import subprocess

    from thermocline import paths
    from thermocline.errors import ThermoclineError, one_line
    from thermocline.run import preload

    library = paths.library("libthermocline-migrate.so")
    if not library.is_file():
        raise ThermoclineError(f"{library} is missing: run make build, or set THERMOCLINE_PREFIX")
    if not _may_watch():
        raise ThermoclineError(
            "userfaultfd with fork events is not permitted here: run as root, or give "
            "CAP_SYS_PTRACE"
        )
    preload.check(command)
    environment = {**os.environ, "THERMOCLINE_MIGRATE": settings}
    already = os.environ.get("LD_PRELOAD")
    environment["LD_PRELOAD"] = f"{library}:{already}" if already else str(library)
    try:
        done = subprocess.run(command, env=environment, stdout=2 if aside else None, check=False)
    except OSError as error:
        raise ThermoclineError(f"can't run {one_line(command[0])}: {error.strerror}") from error
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


def _may_watch() -> bool:
    """Whether this process has CAP_SYS_PTRACE (bit 19), which following forks takes."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("CapEff:"):
            return bool(int(line.split()[1], 16) >> 19 & 1)
    return False


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
