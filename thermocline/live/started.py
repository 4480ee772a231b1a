"""A command that is measured while it runs, for somebody who watches."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from thermocline.machine.model import Machine
from thermocline.methods.base import Method, Request
from thermocline.run import config


@contextmanager
def configured(
    command: Sequence[str], machine: Machine, method: Method, context: int | None
) -> Iterator[tuple[Path, Path]]:
    """The prefix of its profiles, and the configuration to start it under; until it has ended.

    `context`: of a preloaded run.
    """
    with tempfile.TemporaryDirectory(prefix="thermocline-top-") as name:
        scratch = Path(name)
        prefix = scratch / "run"
        request = Request(command, prefix, machine, scratch, context=context)
        file = scratch / "config"
        text = config.for_profile(prefix, machine, method.directives(request), context)
        file.write_text(text, encoding="utf-8")
        yield prefix, file
