"""thermocline sites."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from thermocline.cli.options import AsJson

if TYPE_CHECKING:
    from thermocline.profiles.model import Profile
    from thermocline.sites.table import SiteTable

SWEEP = (0, 1, 2, 3, 4)


def sites(
    program: Annotated[Path, typer.Argument(help="An executable or shared library.")],
    profile: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--profile", help="Count the sites that this profile reached."),
    ] = None,
    sweep: Annotated[
        bool, typer.Option("--sweep", help="Link again at context 0 to 4 and show the growth.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List a program's allocation sites.

    Example: thermocline sites ./lulesh --profile lulesh.71.profile
    """
    from thermocline.profiles import model as profile_model
    from thermocline.sites import table

    if sweep:
        _sweep(program, as_json)
        return
    found = table.read(program)
    reached = profile_model.load(profile) if profile else None
    if as_json:
        _json(program, found, reached)
    else:
        _print(program, found, reached)


def _json(program: Path, found: "SiteTable", profile: "Profile | None") -> None:
    from thermocline.cli import output

    reached = found.reached(profile)
    output.emit_json(
        {
            "program": str(program),
            "module": found.module,
            "context": found.context,
            "file_bytes": program.stat().st_size,
            **found.counts(reached),
            "sites_list": found.rows(reached),
            "notes": found.remarks,
        }
    )


def _print(program: Path, found: "SiteTable", profile: "Profile | None") -> None:
    from thermocline import units
    from thermocline.cli import output

    reached = found.reached(profile)
    column = output.Column
    columns = [column("position"), column("function"), column("routine"), column("calls", True)]
    if reached is not None:
        columns.append(column("reached"))
    rows = []
    for site in found.rows(reached):
        row = [site["position"] or "-", site["function"], site["routine"], str(site["calls"])]
        if reached is not None:
            row.append("yes" if site["reached"] else "no")
        rows.append([*row, " < ".join(site["context"])])
    output.table([*columns, column("context")], rows)
    counts = found.counts(reached)
    print(
        f"\n{found.module}: {counts['sites']} sites at context {found.context}, "
        f"{counts['sites_without_context']} without context; "
        f"{units.format_bytes(program.stat().st_size)}"
    )
    if reached is not None:
        print(
            f"reached: {counts['reached']} with context, "
            f"{counts['reached_without_context']} without"
        )
    for text in found.remarks:
        output.note(text)
    output.next_step("thermocline", "profile", "--", _runnable(program))


def _runnable(program: Path) -> str:
    return str(program) if "/" in str(program) else f"./{program}"


def _sweep(program: Path, as_json: bool) -> None:
    from dataclasses import asdict

    from thermocline import units
    from thermocline.cli import output
    from thermocline.sites.sweep import sweep

    steps = sweep(program, SWEEP)
    if as_json:
        output.emit_json({"program": str(program), "steps": [asdict(step) for step in steps]})
        return
    column = output.Column
    base = max(1, steps[0].code_bytes)
    output.table(
        [
            column("context", True),
            column("sites", True),
            column("without context", True),
            column("calls", True),
            column("code", True),
            column("growth", True),
            column("recording code", True),
            column("file", True),
            column("link", True),
            column("notes", True),
        ],
        [
            [
                str(step.context),
                str(step.sites),
                str(step.positions),
                str(step.calls),
                units.format_bytes(step.code_bytes),
                f"{100 * (step.code_bytes / base - 1):+.1f} %",
                units.format_bytes(step.recording_bytes),
                units.format_bytes(step.file_bytes),
                units.format_duration(step.link_seconds),
                str(step.left_out),
            ]
            for step in steps
        ],
    )
    output.next_hint("link with --thermocline-context=N, then thermocline profile")
