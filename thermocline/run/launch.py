"""Starts the user's command under a configuration and waits for all of it."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import IO

from thermocline.errors import Misuse, ThermoclineError, one_line
from thermocline.run import preload

CONFIG_VARIABLE = "THERMOCLINE_CONFIG"
_FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)


@dataclass(frozen=True)
class Outcome:
    """How the command ended; `status` is as a shell would give it."""

    status: int
    seconds: float

    @property
    def text(self) -> str:
        """For messages, empty when all is well."""
        if self.status > 128 and self.status - 128 in signal.valid_signals():
            return f"the command was ended by {signal.Signals(self.status - 128).name}"
        return f"the command failed with status {self.status}" if self.status else ""


def nothing_ran(
    command: Sequence[str], outcome: Outcome, so: str, context: int | None = None
) -> str:
    """Why no process left anything."""
    if context is not None:
        return (
            f"no process of {one_line(command[0])} used the preloaded malloc to its end, so {so}: "
            "it was killed, is static, or brings its own malloc"
        )
    if outcome.status > 128:  # killed: an annotated program may have had no time to write
        return f"no annotated program ran to its end, so {so}"
    return (
        f"no annotated program ran, so {so}: build {one_line(command[0])} with thermocline-clang "
        "(for make: CC=thermocline-clang), or see 'thermocline doctor'"
    )


def launch(
    command: Sequence[str],
    config: Path | None,
    aside: bool = False,
    context: int | None = None,
    more: Mapping[str, str] | None = None,
) -> Outcome:
    """Runs the command; the terminal's Ctrl-C is the command's, other signals are passed on.

    `aside`: its output goes to stderr, because stdout is for our JSON alone.  `context`: of a
    preloaded run.  `more`: environment that it gets besides.  No `config`: none of our runtime.
    """
    environment = _environment(command, config, context, more or {})
    begin = time.monotonic()
    process = _popen(command, environment, stdout=2 if aside else None)

    def forward(number: int, _: FrameType | None) -> None:
        if process.poll() is None:
            process.send_signal(number)

    old = {}
    if threading.current_thread() is threading.main_thread():  # signals come to no other
        old = {number: signal.signal(number, forward) for number in _FORWARDED}
        # The terminal sends these to the command as well: it decides what they mean.
        old |= {n: signal.signal(n, lambda *_: None) for n in (signal.SIGINT, signal.SIGQUIT)}
    try:
        code = process.wait()
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
    return Outcome(status_of(code), time.monotonic() - begin)


def start(
    command: Sequence[str], config: Path | None, context: int | None, output: IO[bytes]
) -> subprocess.Popen[bytes]:
    """Runs the command beside us, away from the terminal: all that it prints goes to `output`.

    Without a configuration it runs as it is.
    """
    environment = _environment(command, config, context, {})
    return _popen(command, environment, output, output, subprocess.DEVNULL)


def status_of(code: int) -> int:
    """What a shell would give for Python's return code."""
    return code if code >= 0 else 128 - code


def _popen(
    command: Sequence[str],
    environment: Mapping[str, str],
    stdout: int | IO[bytes] | None = None,
    stderr: int | IO[bytes] | None = None,
    stdin: int | None = None,
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            list(command), env=environment, stdout=stdout, stderr=stderr, stdin=stdin
        )
    except FileNotFoundError as error:
        raise ThermoclineError(f"can't run {one_line(command[0])}: no such program") from error
    except OSError as error:
        raise ThermoclineError(f"can't run {one_line(command[0])}: {error.strerror}") from error


def _environment(
    command: Sequence[str], config: Path | None, context: int | None, more: Mapping[str, str]
) -> dict[str, str]:
    if not command or not command[0]:
        raise Misuse("give the command to run after --")
    environment = {**os.environ, **more}
    if config is not None:
        environment[CONFIG_VARIABLE] = str(config.absolute())
    if context is not None:
        preload.check(command)
        environment |= preload.environment()
    return environment
