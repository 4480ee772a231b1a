"""A socket that recorded programs connect to."""

import socket
import threading
from collections.abc import Callable
from pathlib import Path

from thermocline.errors import ThermoclineError


class Listener:
    """Calls `accepted`, which owns the connection then, for each one, from a thread of its own."""

    def __init__(self, path: Path, accepted: Callable[[socket.socket], None]) -> None:
        self._accepted = accepted
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._listener.bind(str(path))
        except OSError as error:
            raise ThermoclineError(
                f"can't listen on {path}: {error.strerror or error} (is TMPDIR too long?)"
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
            self._accepted(connection)

    def finish(self) -> None:
        """After the command has ended: every connection that was made has been accepted."""
        # Whoever connected before this is still in the queue.
        self._listener.settimeout(0.0)
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()
