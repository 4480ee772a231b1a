"""The one way to run many independent pieces of work: every sweep goes through it.

A piece is a module's function and its arguments, all of which can be pickled.  What runs pieces is
one file here and one line below.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from thermocline.errors import Misuse, ThermoclineError


@dataclass(frozen=True)
class Piece:
    """One call, and how much of the whole it is (in any unit, for the time that is left)."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    weight: float = 1.0

    def call(self) -> Any:
        """In a worker.  Errors come back as classes that pickle from their message."""
        try:
            return self.function(*self.arguments)
        except Misuse as error:
            raise Misuse(str(error)) from None
        except ThermoclineError as error:
            raise ThermoclineError(str(error)) from None


# Called when a piece is done, with its number.
Done = Callable[[int], None]


class Executor(Protocol):
    """Runs pieces."""

    def run(self, pieces: Sequence[Piece], done: Done) -> list[Any]:
        """The results, in order.  The first failure is raised, and nothing new is started."""
        ...


def choose(scheduler: str | None, jobs: int | None = None) -> Executor:
    """Dask's workers where a scheduler's address is given, else processes of this host."""
    from thermocline.executors import dask, local

    return dask.Workers(scheduler) if scheduler else local.Pool(jobs)


def heavy_first(pieces: Sequence[Piece]) -> list[int]:
    """Numbers in the order to start them, so that the last to end is a light one."""
    return sorted(range(len(pieces)), key=lambda number: (-pieces[number].weight, number))
