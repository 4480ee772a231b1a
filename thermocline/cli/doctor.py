"""thermocline doctor."""

import typer

from thermocline.cli.options import AsJson


def doctor(
    as_json: AsJson = False,
) -> None:
    """What this host can do, and how to get what it can't.

    Example: thermocline doctor
    """
    from dataclasses import asdict

    from thermocline.cli import output
    from thermocline.host import examine

    checks = examine()
    if as_json:
        output.emit_json([asdict(check) for check in checks])
    else:
        column = output.Column
        output.table(
            [column("what"), column("state"), column("how to get it")],
            [[c.what, ("yes: " if c.ok else "no: ") + c.found, c.remedy] for c in checks],
        )
        output.next_step("thermocline", "machine", "detect")
    if not all(check.ok for check in checks if check.needed):
        raise typer.Exit(1)
