"""Which method fits this host, and why the better ones don't."""

from collections.abc import Sequence
from dataclasses import dataclass

from thermocline import methods
from thermocline.methods.base import Method

# The most telling first, for a run of production size.
PROFILE = ("sample", "bursts", "trace")
PRELOAD = ("sample", "pages", "none")  # nothing is annotated
ONLINE = ("sample", "bursts", "pages")
PRELOAD_ONLINE = ("sample", "pages")


@dataclass(frozen=True)
class Chosen:
    """A method, and a line for people."""

    method: Method
    why: str


def best(names: Sequence[str]) -> Chosen:
    """The first of these that the host can do; the last if none can."""
    known = methods.registry()
    missing: list[str] = []
    for name in names:
        method = known[name]
        if not (lacks := method.lacks()):
            why = f"method {name}: {method.summary}"
            return Chosen(method, "; ".join([why, *missing]))
        missing.append(f"not {name}, since {lacks}")
    last = known[names[-1]]
    return Chosen(last, "; ".join([f"method {last.name}", *missing]))
