"""Options that several verbs take, declared once."""

from typing import Annotated, Optional

import typer

Machine = Annotated[str, typer.Option("--machine", help="A shipped machine, a file, or 'detect'.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the output.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
# Of verbs that run a command.
AsJsonAside = Annotated[
    bool, typer.Option("--json", help="Print JSON; the command's output goes to stderr.")
]
Preload = Annotated[
    bool,
    typer.Option("--preload", help="A program that was not annotated: its call paths are sites."),
]
Context = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option("--context", min=0, max=16, help="With --preload: callers told apart.  [4]"),
]
# Of sweeps: many independent runs.
Jobs = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option("--jobs", min=1, help="Runs at a time.  [the host's processors]"),
]
Scheduler = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option("--scheduler", help="A Dask scheduler's address: its workers share the runs."),
]
