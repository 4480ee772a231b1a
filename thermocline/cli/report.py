"""thermocline report."""

from pathlib import Path
from typing import Annotated, Optional

import typer

from thermocline.cli.options import Force


def report(
    artefacts: Annotated[
        list[Path],
        typer.Argument(
            help="Of one program: profiles, plans, what 'simulate -o' and 'run -o' wrote."
        ),
    ],
    page: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--html", "-o", help="The page.  [PROGRAM.html, unless --png is given]"),
    ] = None,
    png: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--png", help="A folder for the figures as pictures."),
    ] = None,
    machine: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--machine", help="A shipped machine or a file.  [the plan's]"),
    ] = None,
    capacity: Annotated[
        str, typer.Option("--capacity", help="Of tier 0, where no plan is given.")
    ] = "25%",
    strategy: Annotated[
        str, typer.Option("--strategy", help="Plans, where no plan is given.")
    ] = "thermos",
    source: Annotated[
        Optional[list[Path]],  # noqa: UP045
        typer.Option("--source", help="A folder of the program's source; may be repeated.  [.]"),
    ] = None,
    force: Force = False,
) -> None:
    """Make one page of what is known of a program: what to do, what it gains, and why.

    The page needs no network and no other file.  The first plan is the one it is about.

    Example: thermocline report lulesh.profile lulesh.plan schemes.json --html lulesh.html
    """
    from thermocline import files
    from thermocline.cli import output
    from thermocline.reports import artefacts as inputs
    from thermocline.reports import page as pages
    from thermocline.reports import pictures, study

    found = study.of(inputs.load(artefacts), machine, capacity, strategy)
    for note in found.notes:
        output.note(note)
    if page is None and png is None:
        page = Path(f"{Path(found.program).name}.html")
    if page is not None:
        files.refuse_overwrite(page, force)
    if png is not None:
        pictures.check(png, force)
        for path in pictures.write(found, png):
            print(f"wrote {path}")
    if page is not None:
        files.write_text(page, pages.html(found, source or [Path()]), force=True)
        print(f"wrote {page}")
        output.next_hint(f"open {page} in a browser")
