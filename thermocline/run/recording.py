"""Collects the references of every annotated process below a command.

Each process connects to a socket of ours and sends the raw stream (docs/trace-format.md); one
thermocline-trace a process turns that into PREFIX.PID.trace while the program runs.
"""

import socket
import struct
import subprocess
import threading
from dataclasses import dataclass, field
from pathlib import Path

from thermocline.errors import ThermoclineError, one_line
from thermocline.traces import PREFIX, tool


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
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._listener.bind(str(self.socket))
        except OSError as error:
            raise ThermoclineError(
                f"can't listen on {self.socket}: {error.strerror or error} (is TMPDIR too long?)"
            ) from error
        self._listener.listen(64)
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:  # finish() closed it
                return
            with connection:
                credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
                pid, _, _ = struct.unpack("3i", credentials)
                path = self._free_name(pid)
                command = [str(tool()), "collect", "--fd", str(connection.fileno())]
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
        # Whoever connected before this is still in the queue.
        self._listener.settimeout(0.0)
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()
        for collected in self._made:
            said = collected.process.communicate()[1] or ""
            collected.said = [line.removeprefix(PREFIX) for line in said.splitlines()]
            if collected.process.returncode != 0:
                reason = one_line(collected.said[-1]) if collected.said else "no reason was given"
                raise ThermoclineError(f"{collected.path} was not written: {reason}")
        return [collected for collected in self._made if collected.path.exists()]
