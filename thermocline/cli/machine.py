"""thermocline machine: list, show, detect; calibrate and measure are in files of their own."""

from pathlib import Path
from typing import Annotated, Optional

import typer

from thermocline.cli.calibrate import calibrate
from thermocline.cli.machine_table import print_machine, to_json
from thermocline.cli.measure import measure
from thermocline.cli.options import AsJson, Force

app = typer.Typer(
    help="Machine files: tiers of memory, caches, cores.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command("calibrate")(calibrate)
app.command("measure")(measure)


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
    roofline: Annotated[
        bool, typer.Option("--roofline", help="Roofline, power-line and arch-line.")
    ] = False,
    split: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--split", help="Of its traffic: a share a tier, 90%,10%. [several]"),
    ] = None,
    profile: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--profile", help="Put a profile's sites on the roofline."),
    ] = None,
    png: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--png", help="Draw the three lines."),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Print a machine file's tiers and caches, and where each number comes from.

    Example: thermocline machine show knl-7230

    Example: thermocline machine show --roofline optane-8260l --split 90%,10%
    """
    from thermocline.cli import output
    from thermocline.cli import roofline as lines
    from thermocline.errors import Misuse
    from thermocline.machine import store

    found = store.find(machine)
    if roofline:
        lines.run(found, machine, lines.Asked(split, profile, png, force, as_json))
        return
    if split or profile or png:
        raise Misuse("--split, --profile and --png are of the roofline: add --roofline")
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
