"""thermocline auto: the whole loop by its own verbs, each shown as it runs."""

import sys
from pathlib import Path
from typing import Annotated, Optional

import typer

from thermocline.cli.options import Force, Preload
from thermocline.cli.options import Machine as MachineName


def auto(
    command: Annotated[list[str], typer.Argument(help="The command, after --.")],
    machine: MachineName = "detect",
    capacity: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--capacity", help="Of tier 0.  [what the machine has; 25% of a modelled one]"
        ),
    ] = None,
    out: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("-o", "--output", help="A folder.  [PROGRAM.auto]"),
    ] = None,
    preload: Preload = False,
    force: Force = False,
) -> None:
    """Profile a command, plan for it, predict what that gives, run it so, and report.

    The command runs several times.  On a host with one kind of memory the plan is for another
    machine, whose tiers are modelled.

    Example: thermocline auto -- ./lulesh -s 20
    """
    from thermocline import loop
    from thermocline.cli import output

    def command_line(text: str) -> None:
        print(f"\n$ {text}", flush=True)

    def aside(line: str) -> None:
        print(line, file=sys.stderr)

    shown = loop.Shown(command_line, True, aside)
    try:
        made = loop.run(command, machine, capacity, out, preload, force, shown)
    except loop.VerbFailed as error:  # which said why
        raise typer.Exit(error.status) from error
    loaded = ["--preload"] if preload else []
    output.next_step("thermocline", "run", "--plan", made.files["plan"], *loaded, "--", *command)
