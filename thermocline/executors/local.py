"""Processes on this host."""

import os
import signal
import threading
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context, parent_process
from typing import Any

from thermocline.executors import Done, Piece, heavy_first


class Pool:
    """As many processes as the host has processors, unless told otherwise."""

    def __init__(self, jobs: int | None = None) -> None:
        self.jobs = jobs or os.cpu_count() or 1

    def run(self, pieces: Sequence[Piece], done: Done) -> list[Any]:
        """See Executor."""
        found: dict[int, Any] = {}
        # Not forked: the parent has threads (its progress bar).
        workers = max(1, min(self.jobs, len(pieces)))
        pool = ProcessPoolExecutor(workers, get_context("spawn"), _end_with_others)
        try:
            numbers: dict[Future[Any], int] = {
                pool.submit(pieces[number].call): number for number in heavy_first(pieces)
            }
            waiting = set(numbers)
            while waiting:
                ended, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in ended:
                    found[numbers[future]] = future.result()
                    done(numbers[future])
        finally:
            pool.shutdown(cancel_futures=True)
        return [found[number] for number in range(len(pieces))]


def _end_with_others() -> None:
    """On the terminal's Ctrl-C a worker ends without a traceback; what it started gets it too.

    It does not outlive its parent either, whose end the pool's own pipes don't tell.
    """
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    threading.Thread(target=_end_after_parent, daemon=True).start()


def _end_after_parent() -> None:
    if parent := parent_process():
        parent.join()
        os._exit(1)
