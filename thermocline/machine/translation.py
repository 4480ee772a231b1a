"""A machine file's TLBs and page walkers: the optional table [translation]."""

from typing import Literal

from pydantic import Field, model_validator

from thermocline.machine.figures import Count, Figure
from thermocline.validation import Strict

_SKYLAKE = "assumed: as Intel Skylake's"


class Buffer(Strict):
    """A TLB or page-walk cache: set-associative, LRU; 0 entries: there is none."""

    entries: int = Field(ge=0, le=2**20)
    ways: int = Field(default=1, ge=1, le=1024)
    source: str = ""

    @model_validator(mode="after")
    def _has_whole_sets(self) -> "Buffer":
        if self.entries % self.ways:
            raise ValueError(f"{self.entries} entries are no multiple of {self.ways} ways")
        return self


def _cycles(value: int, source: str) -> Figure:
    return Figure(value=value, source=source)


class Translation(Strict):
    """Sizes are of one core; times in its cycles.  What is left out is assumed."""

    levels: int = Field(default=4, ge=4, le=5)  # of page tables
    # The first level, for pages of 4 KiB, 2 MiB and 1 GiB; looked up with the data cache.
    first: list[Buffer] = Field(
        default=[
            Buffer(entries=64, ways=4, source=_SKYLAKE),
            Buffer(entries=32, ways=4, source=_SKYLAKE),
            Buffer(entries=4, ways=4, source=_SKYLAKE),
        ],
        min_length=3,
        max_length=3,
    )
    # The second, for 4 KiB and 2 MiB pages together, and for 1 GiB pages.
    second: Buffer = Buffer(entries=1536, ways=12, source=_SKYLAKE)
    # Neighbouring pages with contiguous frames that an entry of the second may hold (1: none do).
    coalesce: Literal[1, 2, 4, 8] = 1
    second_huge: Buffer = Buffer(entries=16, ways=4, source=_SKYLAKE)
    second_cycles: Count = _cycles(9, _SKYLAKE)
    # By what their entries point to: tables of 4 KiB pages, of 2 MiB pages, ...
    walk_caches: list[Buffer] = Field(
        default=[
            Buffer(entries=32, ways=4, source="assumed"),
            Buffer(entries=4, ways=4, source="assumed"),
            Buffer(entries=2, ways=2, source="assumed"),
        ],
        max_length=4,
    )
    walk_cache_cycles: Count = _cycles(2, "assumed")
    nested_tlb: Buffer = Buffer(entries=64, ways=4, source="assumed")
    nested_tlb_cycles: Count = _cycles(2, "assumed")
    walkers: int = Field(default=1, ge=1, le=64)  # Ryoo 2017, section 7.2.3: a single one
    # The data cache level that walks refer to first; the last one, if there are fewer.
    first_cache_level: int = Field(default=2, ge=1, le=4)
    source: str = ""

    @model_validator(mode="after")
    def _has_sane_times(self) -> "Translation":
        for name in ("second_cycles", "walk_cache_cycles", "nested_tlb_cycles"):
            if not 0 <= getattr(self, name).value <= 1000:
                raise ValueError(f"{name} must be from 0 to 1000")
        return self
