"""thermocline machine: list, show, detect."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from thermocline.cli.options import AsJson, Force

if TYPE_CHECKING:
    from thermocline.machine.model import Machine

app = typer.Typer(
    help="Machine files: tiers of memory, caches, cores.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("list")
def list_machines(as_json: AsJson = False) -> None:
    """The machine files that ship.

    Example: thermocline machine list
    """
    from thermocline import units
    from thermocline.cli import output
    from thermocline.machine import model, store

    machines = [model.load(path) for path in store.shipped().values()]
    if as_json:
        output.emit_json([to_json(machine) for machine in machines])
        return
    rows = [
        [
            machine.name,
            str(machine.cpu.cores),
            ", ".join(f"{t.name} {units.format_bytes(t.capacity_bytes)}" for t in machine.tier),
            machine.description,
        ]
        for machine in machines
    ]
    column = output.Column
    output.table(
        [column("machine"), column("cores", True), column("tiers"), column("description")], rows
    )
    output.next_step("thermocline", "machine", "show", "knl-7230")


@app.command("show")
def show(
    machine: Annotated[str, typer.Argument(help="A shipped machine, a file, or 'detect'.")],
    as_json: AsJson = False,
) -> None:
    """Print a machine file's tiers and caches, and where each number comes from.

    Example: thermocline machine show knl-7230
    """
    from thermocline.cli import output
    from thermocline.machine import store

    found = store.find(machine)
    if as_json:
        output.emit_json(to_json(found))
        return
    print_machine(found)
    output.next_step("thermocline", "plan", "PROFILE", "--machine", machine, "--capacity", "25%")


@app.command("detect")
def detect(
    out: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("-o", "--output", help="Where to write it; - for stdout. [HOSTNAME.toml]"),
    ] = None,
    source: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--input", help="A recorded host: hwloc XML, or a directory (see docs)."),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Read this host's memory through hwloc and HMAT, and write a machine file.

    Example: thermocline machine detect -o mine.toml
    """
    from thermocline import files
    from thermocline.cli import output
    from thermocline.machine import detect as detection
    from thermocline.machine import store

    found = detection.detect(source)
    text = store.to_toml(found.machine)
    if as_json:
        output.emit_json({**to_json(found.machine), "notes": found.notes})
        return
    if str(out) == "-":
        print(text, end="")
    else:
        path = out or Path(f"{found.machine.name}.toml")
        files.write_text(path, text, force)
        print_machine(found.machine)
        print(f"wrote {path}")
    for note in found.notes:
        output.note(note)
    if str(out) != "-":
        shown = path if path.is_absolute() else f"./{path}"
        output.next_step("thermocline", "machine", "show", shown)


def to_json(machine: "Machine") -> dict[str, Any]:
    """The machine in SI base units."""
    data: dict[str, Any] = machine.model_dump(mode="json", exclude_none=True)
    return data


def print_machine(machine: "Machine") -> None:
    """Tables of tiers, caches and sources."""
    from thermocline import units
    from thermocline.cli import output

    cpu = machine.cpu
    clock = f", {cpu.frequency.value / 1e9:.3g} GHz" if cpu.frequency else ""
    print(f"{machine.name}: {machine.description}")
    print(f"{cpu.model}: {cpu.sockets} socket(s), {cpu.cores} cores x {cpu.smt}{clock}\n")
    column = output.Column
    output.table(
        [
            column("tier", True),
            column("name"),
            column("kind"),
            column("capacity", True),
            column("read", True),
            column("write", True),
            column("latency", True),
            column("where"),
        ],
        [
            [
                str(index),
                tier.name,
                tier.kind,
                units.format_bytes(tier.capacity_bytes),
                units.format_bandwidth(tier.read_bandwidth.value) if tier.read_bandwidth else "-",
                units.format_bandwidth(tier.write_bandwidth.value) if tier.write_bandwidth else "-",
                units.format_time(tier.latency.value) if tier.latency else "-",
                (
                    "modelled"
                    if tier.modelled
                    else "nodes " + ",".join(str(node) for node in tier.nodes)
                )
                + (
                    f", shares a channel with {', '.join(tier.shares_channel_with)}"
                    if tier.shares_channel_with
                    else ""
                ),
            ]
            for index, tier in enumerate(machine.tier)
        ],
    )
    print()
    output.table(
        [column("cache", True), column("size", True), column("ways", True), column("shared by")],
        [
            [
                f"L{cache.level}",
                units.format_bytes(int(cache.bytes.value)),
                str(cache.ways),
                f"{cache.shared_by} core(s)",
            ]
            for cache in machine.cache
        ],
    )
    sources = _sources(machine)
    if sources:
        print()
        output.table([column("of"), column("number"), column("source")], sources)
    print()


def _sources(machine: "Machine") -> list[list[str]]:
    """Where each number comes from."""
    cpu = machine.cpu
    figures = [
        ("cpu", "clock", cpu.frequency),
        ("cpu", "width", cpu.width),
        ("cpu", "window", cpu.window),
        ("cpu", "outstanding", cpu.outstanding),
        ("cpu", "store buffer", cpu.store_buffer),
        ("cpu", "core watts", cpu.core_watts),
        ("cpu", "remote", cpu.remote_latency),
        ("cpu", "links", cpu.link_bandwidth),
    ]
    for cache in machine.cache:
        figures += [
            (f"L{cache.level}", "size", cache.bytes),
            (f"L{cache.level}", "cycles", cache.cycles),
        ]
    for tier in machine.tier:
        figures += [
            (tier.name, "capacity", tier.capacity),
            (tier.name, "read", tier.read_bandwidth),
            (tier.name, "write", tier.write_bandwidth),
            (tier.name, "latency", tier.latency),
        ]
    return [
        [of, number, ("input: " if figure.input else "") + figure.source]
        for of, number, figure in figures
        if figure is not None and figure.source
    ]
