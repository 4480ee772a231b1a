"""thermocline import."""

from pathlib import Path
from typing import Annotated, Optional

import typer

from thermocline.cli.options import Force


def import_(
    profile: Annotated[Path, typer.Argument(help="Of 'profile --method owners'.")],
    samples: Annotated[Path, typer.Argument(help="What 'perf script' printed of the same run.")],
    out: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("-o", "--output", help="[PROFILE with .perf before its end]"),
    ] = None,
    force: Force = False,
) -> None:
    """Fill a profile with the memory samples that perf took of the same run.

    Run 'perf mem record -k CLOCK_MONOTONIC thermocline profile --method owners -- CMD' first.

    Example: thermocline import lulesh.71.profile samples.txt
    """
    from thermocline import files
    from thermocline.cli import output, profile_table
    from thermocline.profiles import imported, model

    path = out or profile.with_name(f"{profile.name.removesuffix('.profile')}.perf.profile")
    files.refuse_overwrite(path, force)
    tally = imported.fill(profile, samples, path)
    found = model.load(path)
    profile_table.print_profile(path, found)
    if tally.too_late:
        output.note(f"{tally.too_late} samples came after the log of owners was full: see (other)")
    if found.traffic_bytes:
        output.next_step("thermocline", "plan", path, "--machine", "detect", "--capacity", "25%")
    else:
        output.next_hint("a plan needs traffic: record loads that memory served (perf mem record)")
