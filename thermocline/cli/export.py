"""thermocline export."""

from pathlib import Path
from typing import Annotated, Optional

import typer

from thermocline.cli.options import Force


def export(
    plan: Annotated[Path, typer.Argument(help="What 'plan' wrote.")],
    form: Annotated[str, typer.Option("--for", help="numactl, flexmalloc or memkind.")],
    machine: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--machine", help="A shipped machine, a file, or 'detect'.  [the plan's]"),
    ] = None,
    out: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("-o", "--output", help="The files' names without their ends.  [PLAN]"),
    ] = None,
    force: Force = False,
) -> None:
    """Write a plan in another tool's words, and say what that tool can't do of it.

    Example: thermocline export lulesh.plan --for flexmalloc
    """
    import shlex

    from thermocline import exports, files
    from thermocline.cli import output
    from thermocline.errors import Misuse
    from thermocline.machine import store
    from thermocline.planning import model

    given = model.load(plan)
    name = machine or given.machine
    if not name:
        raise Misuse(f"{plan} names no machine: give --machine")
    made = exports.export(given, store.find(name), form)
    prefix = out or plan.with_name(plan.name.removesuffix(".plan"))
    paths = {Path(f"{prefix}{end}"): text for end, text in made.files.items()}
    for path in paths:
        files.refuse_overwrite(path, force)
    for path, text in paths.items():
        files.write_text(path, text, force=True)
        print(f"wrote {path}")
    for text in made.lost:
        output.note(f"{form}: {text}")
    output.next_hint(made.use.format(out=shlex.quote(str(prefix)), command="CMD"))
