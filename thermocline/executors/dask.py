"""Workers of a Dask cluster, which may be on many hosts."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from thermocline.errors import Misuse, ThermoclineError
from thermocline.executors import Done, Piece, heavy_first

if TYPE_CHECKING:
    from distributed import Client


class Workers:
    """The workers of the scheduler at this address.

    They see the same file system under the same paths, and have the same Thermocline.  A worker
    with one thread (`dask worker --nthreads 1`) runs one piece at a time, which whatever counts a
    whole host's traffic needs.  What a worker that dies was at, another one does again.
    """

    def __init__(self, scheduler: str) -> None:
        self.scheduler = scheduler

    def run(self, pieces: Sequence[Piece], done: Done) -> list[Any]:
        """See Executor."""
        if not pieces:
            return []
        client = self._connect()
        try:
            from distributed import as_completed

            futures = {
                client.submit(pieces[number].call, pure=False, retries=1): number
                for number in heavy_first(pieces)
            }
            found: dict[int, Any] = {}
            try:
                for future in as_completed(list(futures), loop=client.loop):
                    number = futures.pop(future)
                    found[number] = future.result()
                    # It is here now: a worker that dies later need not do it again.
                    future.release()
                    done(number)
            finally:
                client.cancel(list(futures))
            return [found[number] for number in range(len(pieces))]
        finally:
            client.close()

    def _connect(self) -> "Client":
        try:
            from distributed import Client
        except ImportError as error:
            raise ThermoclineError("--scheduler needs Dask: pip install distributed") from error
        try:
            return Client(self.scheduler, timeout=20, set_as_default=False)
        except ValueError as error:
            raise Misuse(f"--scheduler {self.scheduler}: {error}") from error
        except OSError as error:
            raise ThermoclineError(
                f"no Dask scheduler answers at {self.scheduler}: start one with 'dask scheduler', "
                "and workers with 'dask worker ADDRESS'"
            ) from error
