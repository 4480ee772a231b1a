"""thermocline machine measure."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional, cast

import typer

from thermocline.cli.options import AsJson, Force

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from thermocline.machine.curves import Curve, Pages, What
    from thermocline.machine.measurement_plan import Run

_ALL = "latency,bandwidth,intensity,loaded,power"


def measure(
    out: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("-o", "--output", help="Where to write it. [HOSTNAME.measured.toml]"),
    ] = None,
    what: Annotated[str, typer.Option("--what", help="Some of these, separated by commas.")] = _ALL,
    quick: Annotated[
        bool, typer.Option("--quick", help="Few sizes, all threads at once only: a minute.")
    ] = False,
    goes: Annotated[int, typer.Option("--goes", help="Values of each point, 6 or more.")] = 15,
    largest: Annotated[
        str, typer.Option("--largest", help="Of latency's buffers, memory allowing.")
    ] = "1GiB",
    pages: Annotated[str, typer.Option("--pages", help="huge or small.")] = "huge",
    directory: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--directory", help="Measure a mapped file there (fsdax), not the nodes."),
    ] = None,
    cpu_node: Annotated[
        Optional[list[int]],  # noqa: UP045
        typer.Option("--cpu-node", help="Only from processors of this node; repeatable."),
    ] = None,
    memory_node: Annotated[
        Optional[list[int]],  # noqa: UP045
        typer.Option("--memory-node", help="Only this node's memory; repeatable."),
    ] = None,
    isa: Annotated[str, typer.Option("--isa", help="auto, sse2, avx2, avx512.")] = "auto",
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Measure this host's memory, and write a machine file with what was measured.

    Latency against the buffer's size, bandwidth of six patterns against threads, reading with more
    and more arithmetic, and latency under load, for each pair of processors and memory. Takes some
    minutes a pair; best while nothing else runs. A point is a median with its 95 % interval.

    Example: thermocline machine measure -o mine.toml
    """
    from thermocline import files, units
    from thermocline.cli import output
    from thermocline.cli.machine_table import print_machine, to_json
    from thermocline.machine import detect as detection
    from thermocline.machine import measured, measurement, measurement_plan, store

    wanted = measurement_plan.Wanted(
        what=cast(
            "tuple[What, ...]", tuple(part.strip() for part in what.split(",") if part.strip())
        ),
        goes=goes,
        largest=units.parse_bytes(largest),
        quick=quick,
        pages=cast("Pages", pages),
        directory=directory,
        isa=isa,
        cpu_nodes=tuple(cpu_node or ()),
        memory_nodes=tuple(memory_node or ()),
    )
    measurement_plan.check(wanted)
    host = detection.detect()
    path = out or Path(f"{host.machine.name}.measured.toml")
    files.refuse_overwrite(path, force)
    with _bar(measurement_plan.plan(wanted, host.machine)) as (runs, done):
        found = measurement.measure(runs, wanted, done)
    machine = measured.apply(host.machine, found)
    files.write_text(path, store.to_toml(machine), force=True)
    notes = [*host.notes, *found.notes]
    if as_json:
        output.emit_json({**to_json(machine), "isa": found.isa, "notes": notes, "file": str(path)})
        return
    print_machine(machine)
    _print(machine.measured, found.isa)
    print(f"wrote {path}")
    for note in notes:
        output.note(note)
    shown = path if path.is_absolute() else f"./{path}"
    output.next_step("thermocline", "machine", "show", "--roofline", shown)


@contextmanager
def _bar(runs: "list[Run]") -> "Iterator[tuple[list[Run], Callable[[Run], None]]]":
    """Progress over all points, with what is measured now."""
    from thermocline.cli import output

    with output.progress() as bar:
        task = bar.add_task("measuring", total=sum(run.points for run in runs))

        def done(run: "Run") -> None:
            memory = f"nodes {run.nodes}" if run.nodes else f"node {run.memory_node}"
            memory = "a file" if run.memory_node is None and not run.nodes else memory
            text = f"{run.what} of {memory} from node {run.cpu_node}"
            bar.update(task, advance=1, description=text)

        yield runs, done


def _print(curves: "Sequence[Curve]", isa: str) -> None:
    """A line a curve: its end, or its best point."""
    from thermocline.cli import output

    column = output.Column
    rows = []
    for curve in curves:
        shown = curve.best
        at = {
            "latency": f"{shown.at}",
            "bandwidth": f"{shown.at} thread(s)",
            "intensity": f"{shown.at} flops/byte",
            "loaded": f"beside {shown.at}",
            "power": f"at {shown.at}",
        }[curve.what]
        memory = curve.nodes or ("-" if curve.memory_node is None else str(curve.memory_node))
        rows.append(
            [
                curve.what,
                curve.pattern,
                str(curve.cpu_node),
                memory,
                curve.pages,
                at,
                shown.value,
                f"{shown.low} to {shown.high}",
                f"{shown.quiet} of {shown.goes}",
            ]
        )
    output.table(
        [
            column("measured"),
            column("pattern"),
            column("from node", True),
            column("memory of", True),
            column("pages"),
            column("at"),
            column("median", True),
            column("95 % interval"),
            column("undisturbed"),
        ],
        rows,
    )
    print(
        f"\nkernels: {isa}; latency of the largest buffer or at most load; bandwidths at their best"
    )
