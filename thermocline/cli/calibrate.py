"""thermocline machine calibrate."""

import sys
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from thermocline.cli.options import AsJson

if TYPE_CHECKING:
    from thermocline.machine.calibration import Calibration


def calibrate(
    machine: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--machine", help="A file of this host. [hwloc's word, completed by measuring]"
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Few, small programs: less time, a wider error bar.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Predict programs' run times on this host, compare with its clock, and keep the error.

    simulate shows it with every time. What hwloc does not say of the host's caches and memory is
    measured. Takes some minutes; best while nothing else runs.

    Example: thermocline machine calibrate
    """
    from thermocline.cli import output
    from thermocline.machine import calibration, store
    from thermocline.simulation import calibrate as running

    with output.progress_of_references() as bars:
        made = running.calibrate(store.find(machine) if machine else None, quick, _stage, bars)
    path = calibration.store(made)
    if as_json:
        data = made.model_dump(mode="json")
        output.emit_json({"stored": str(path), "summary": calibration.summary(made), **data})
        return
    _print(made)
    print(f"wrote {path}")
    if quick:
        output.note("few small programs say little: run it without --quick when there is time")
    # The quickest way to a prediction with the bar: a trace, which `trace` says how to use.
    output.next_step("thermocline", "trace", "-o", "program.trace", "--", "./program")


def _stage(text: str) -> None:
    """What is done next, on a terminal."""
    if sys.stderr.isatty():
        print(f"{text} ...", file=sys.stderr)


def _print(made: "Calibration") -> None:
    from thermocline import units
    from thermocline.cli import output
    from thermocline.machine import calibration

    column = output.Column
    output.table(
        [
            column("program"),
            column("memory", True),
            column("references", True),
            column("predicted", True),
            column("clock", True),
            column("clock's spread", True),
            column("clock/predicted", True),
        ],
        [
            [
                " ".join([program.name, *program.arguments]),
                units.format_bytes(program.touched_bytes),
                f"{program.references / 1e6:.1f} M",
                units.format_duration(program.predicted_seconds),
                units.format_duration(program.clock_seconds),
                f"±{100 * program.clock_spread:.0f} %",
                f"{program.clock_seconds / program.predicted_seconds:.2f}",
            ]
            for program in made.programs
        ],
    )
    count = len(made.programs)
    print(
        f"\nclock/predicted {made.bias:.2f} in the geometric mean; times are right to"
        f" {calibration.plus_minus(made.time_factor)} for 90 % of programs\n"
        f"{made.held} of {count} programs lie within the bar that the others give"
    )
    if made.assumed:
        output.note(
            f"nothing says this of {made.cpu}, so it was assumed: {', '.join(made.assumed)}"
        )
