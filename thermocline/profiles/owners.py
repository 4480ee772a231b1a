"""Whose an address was at a time: the log of owners in a profile of method `owners`."""

from bisect import bisect_left, bisect_right
from typing import Annotated

from pydantic import Field

from thermocline.profiles.model import Open

Word = Annotated[int, Field(ge=0, lt=2**64, strict=True)]
NOBODY = 0


class Log(Open):
    """The profile's sampling.owners (runtime/owners/sampler.cpp); lists are rows of numbers."""

    from_ns: Word
    to_ns: Word
    full_at_ns: Word = 0  # changes after this are missing
    changes: list[Word]  # until when, address, bytes, number of the site
    last: list[Word]  # address, bytes, number
    mappings: list[Word]  # address, bytes, 0: stack, 1: globals

    def last_rows(self) -> list[tuple[int, int, int]]:
        """Who owned what at the end."""
        values = iter(self.last)
        return list(zip(values, values, values, strict=False))

    def changes_backwards(self) -> list[tuple[int, int, int, int]]:
        """What ended, the latest first."""
        values = iter(self.changes)
        return sorted(zip(values, values, values, values, strict=False), reverse=True)

    def mapping_rows(self) -> list[tuple[int, int, int]]:
        """What is not heap."""
        values = iter(self.mappings)
        return sorted(zip(values, values, values, strict=False))


class Ranges:
    """Who owns each address: boundaries, and the owner from each to the next."""

    def __init__(self) -> None:
        self._starts = [0]
        self._owners = [NOBODY]

    def give(self, address: int, size: int, owner: int) -> None:
        """[address, address + size) is the owner's."""
        if not size:
            return
        end = address + size
        after = self.owner(end)
        low, high = bisect_left(self._starts, address), bisect_right(self._starts, end)
        self._starts[low:high] = [address, end]
        self._owners[low:high] = [owner, after]

    def owner(self, address: int) -> int:
        """Of one address."""
        return self._owners[bisect_right(self._starts, address) - 1]
