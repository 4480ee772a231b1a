"""Collects the references of every annotated process below a command.

Each process connects to a socket of ours and sends the raw stream (docs/trace-format.md); one
thermocline-trace a process turns that into PREFIX.PID.trace while the program runs.
"""

import json
import socket
import struct
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from thermocline.errors import ThermoclineError, one_line
from thermocline.run.listener import Listener
from thermocline.traces import PREFIX, tool


def _command_of(pid: int) -> list[str]:
    """A process's arguments; empty if it has gone."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[:-1]
    except OSError:
        return []
    return [word.decode(errors="replace") for word in words]


@dataclass
class Collected:
    """One process's trace."""

    pid: int
    path: Path
    process: subprocess.Popen[str]
    said: list[str] = field(default_factory=list)


class Collector:
    """Listens while the command runs; finish() waits until all is written."""

    def __init__(self, folder: Path, prefix: Path) -> None:
        if not tool().exists():
            raise ThermoclineError(f"{tool()} is missing: run make build")
        self.socket = folder / "socket"
        self._prefix = prefix
        self._made: list[Collected] = []
        self._listener = Listener(self.socket, self._collect)

    def _collect(self, connection: socket.socket) -> None:
        with connection:
            credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
            pid, _, _ = struct.unpack("3i", credentials)
            path = self._free_name(pid)
            command = [str(tool()), "collect", "--fd", str(connection.fileno())]
            command += ["--meta", json.dumps({"command": _command_of(pid)})]
            process = subprocess.Popen(
                [*command, "-o", str(path), "--force"],
                pass_fds=[connection.fileno()],
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,  # the terminal's Ctrl-C is the program's
            )
            self._made.append(Collected(pid, path, process))

    def _free_name(self, pid: int) -> Path:
        """A process that executes another program connects again: that gets a name of its own."""
        known = {collected.path for collected in self._made}
        path = self._prefix.with_name(f"{self._prefix.name}.{pid}.trace")
        number = 2
        while path in known:
            path = self._prefix.with_name(f"{self._prefix.name}.{pid}-{number}.trace")
            number += 1
        return path

    def finish(self) -> list[Collected]:
        """After the command has ended: what was collected, in order of the processes' starts."""
        self._listener.finish()
        for collected in self._made:
            said = collected.process.communicate()[1] or ""
            collected.said = [line.removeprefix(PREFIX) for line in said.splitlines()]
            if collected.process.returncode != 0:
                reason = one_line(collected.said[-1]) if collected.said else "no reason was given"
                raise ThermoclineError(f"{collected.path} was not written: {reason}")
        return [collected for collected in self._made if collected.path.exists()]
