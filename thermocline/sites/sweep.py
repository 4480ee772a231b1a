"""How sites and the executable grow with context: the link repeated at N = 0..4.

Needs the objects of the link where they were; nothing of the user's is overwritten, since every
link goes to a temporary directory.
"""

import resource
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from thermocline.errors import ThermoclineError, one_line
from thermocline.sites import key as keys
from thermocline.sites import table


@dataclass(frozen=True)
class Step:
    """One N."""

    context: int
    sites: int
    positions: int
    calls: int
    file_bytes: int
    code_bytes: int  # the program's
    recording_bytes: int  # of the code that only a trace profile runs
    link_seconds: float  # of processor time
    left_out: int


def sweep(program: Path, contexts: Sequence[int]) -> list[Step]:
    """Links the program again for each N."""
    link = table.read(program).link
    if link is None:
        raise ThermoclineError(
            f"{program} does not say how it was linked: link it again with thermocline-clang"
        )
    directory, arguments = link
    steps = []
    with tempfile.TemporaryDirectory(prefix="thermocline-sweep-") as scratch:
        for context in contexts:
            output = Path(scratch) / str(context) / program.name
            output.parent.mkdir()
            before = processor_seconds()
            relink(arguments, directory, context, output)
            seconds = processor_seconds() - before
            code, recording = table.code_bytes(output)
            found = table.read(output)
            steps.append(
                Step(
                    context,
                    len(found.sites),
                    len({keys.parse(site.key).without_context for site in found.sites}),
                    sum(site.calls for site in found.sites),
                    output.stat().st_size,
                    code,
                    recording,
                    seconds,
                    sum(1 for note in found.notes if not note.startswith(("link\t", "native:"))),
                )
            )
    return steps


def processor_seconds() -> float:
    """Of all processes that were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def relink(arguments: Sequence[str], directory: str, context: int, output: Path) -> None:
    """The same link, another N, another output."""
    command = [*without_output(arguments), f"--thermocline-context={context}", "-o", str(output)]
    try:
        done = subprocess.run(
            command, cwd=directory, capture_output=True, text=True, check=False, errors="replace"
        )
    except OSError as error:
        raise ThermoclineError(
            f"can't repeat the link in {directory}: {error.filename}: {error.strerror}"
        ) from error
    if done.returncode != 0 or not output.exists():
        lines = [line for line in done.stderr.splitlines() if "error" in line] or [done.stderr]
        raise ThermoclineError(
            f"the link at context {context} failed (are its objects still there?): "
            f"{one_line(lines[0], 200)}"
        )


def without_output(arguments: Sequence[str]) -> list[str]:
    """The command without its -o and without a context of its own."""
    kept: list[str] = []
    skip = False
    for argument in arguments:
        if skip:
            skip = False
        elif argument in ("-o", "--output"):
            skip = True
        elif argument.startswith(("--output=", "--thermocline-context=")) or (
            argument.startswith("-o") and not argument.startswith(("-objc", "-object"))
        ):
            continue
        else:
            kept.append(argument)
    return kept
