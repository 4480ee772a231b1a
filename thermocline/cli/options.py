"""Options that several verbs take, declared once."""

from typing import Annotated

import typer

Machine = Annotated[str, typer.Option("--machine", help="A shipped machine, a file, or 'detect'.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the output.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
