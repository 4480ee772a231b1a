"""The profile file, checked as anything that comes from outside."""

import gc
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from thermocline.errors import BadFile
from thermocline.files import read_text, write_text
from thermocline.sites.key import check_all
from thermocline.validation import first_problem

if TYPE_CHECKING:
    from pandas import DataFrame

    from thermocline.profiles.timeline import Timeline

Count = Annotated[int, Field(ge=0, lt=2**60, strict=True)]
Seconds = Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)]
Kind = Literal["site", "unannotated", "nonheap"]
MAX_INTERVALS = 2**20


class Open(BaseModel):
    """A later version of the format may add keys: they are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class SiteSeries(Open):
    """Per interval of the profile's series."""

    read_bytes: list[Count] = []
    write_bytes: list[Count] = []
    resident_bytes: list[Count] = []


class Site(Open):
    """One allocation site, one module's unannotated code, or one kind of non-heap memory."""

    key: str = Field(min_length=1, max_length=100_000)
    kind: Kind = "site"
    routine: str = ""
    paths: list[str] = []  # of code that was not annotated: the raw call paths of this site
    loads: Count = 0
    stores: Count = 0
    read_bytes: Count
    write_bytes: Count
    allocations: Count = 0
    frees: Count = 0
    allocated_bytes: Count = 0
    peak_live_bytes: Count = 0
    peak_resident_bytes: Count
    resident_at_peak_bytes: Count = 0
    first_touch_seconds: Seconds | None = None
    mean_lifetime_seconds: Seconds | None = None
    max_lifetime_seconds: Seconds | None = None
    # Of methods that sample (docs/methods.md).
    samples: Count | None = None  # of what the site's figures count
    effective_samples: Count | None = None  # of one period, that would be as uncertain
    events: Annotated[int, Field(ge=0, lt=2**64, strict=True)] | None = None  # they stand for
    mean_latency_cycles: Count | None = None
    isolation_group: int | None = None  # sites that were isolated together (method mbi)
    series: SiteSeries = SiteSeries()

    @property
    def traffic_bytes(self) -> int:
        """Bytes filled from memory plus bytes written back."""
        return self.read_bytes + self.write_bytes

    @property
    def bytes(self) -> int:
        """The capacity the site needs.

        Residency is sampled: a site that lived between two samples is charged what it had live.
        """
        return self.peak_resident_bytes or self.peak_live_bytes


class Series(Open):
    """The time axis of the sites' series."""

    interval_seconds: Annotated[float, Field(gt=0, le=1e9)]
    count: Annotated[int, Field(ge=0, le=MAX_INTERVALS)]


class CacheLevel(Open):
    """One instance of a cache that was modelled."""

    bytes: Count
    ways: Count
    shared: bool = False


class Caches(Open):
    """What traffic missed; no levels where nothing was modelled."""

    line_bytes: Count = 64
    levels: list[CacheLevel] = []


class Profile(Open):
    """One process's profile."""

    format: Literal["thermocline-profile"]
    version: Literal[1]
    method: str = "trace"
    command: list[str] = []
    executable: str = ""
    pid: int = 0
    host: str = ""
    rank: Annotated[int, Field(ge=0, lt=2**31)] | None = None  # among an MPI program's processes
    wall_seconds: Seconds
    complete: bool = True
    threads: int = 1
    page_bytes: Annotated[int, Field(ge=512, le=2**30)] = 4096
    cache: Caches = Caches()
    unseen_instruction_share: Annotated[float, Field(ge=0, le=1)] | None = None
    peak_resident_bytes: Count
    series: Series | None = None
    sampling: dict[str, Any] = {}  # the method's own (docs/methods.md)
    online: dict[str, Any] = {}  # of a run with --online: what was moved
    sites: list[Site] = Field(max_length=1_000_000)
    notes: list[str] = []
    # Of a preloaded run: callers told apart in sites' paths.
    preload_context: Annotated[int, Field(ge=0, le=16)] | None = None

    @model_validator(mode="after")
    def _fits_together(self) -> "Profile":
        check_all(site.key for site in self.sites)
        check_all(path for site in self.sites for path in site.paths)
        for site in self.sites:
            series = site.series
            lengths = {len(series.read_bytes), len(series.write_bytes), len(series.resident_bytes)}
            if lengths != {0} and (self.series is None or lengths != {self.series.count}):
                raise ValueError(f"site {site.key!r} has a series of another length")
        if max(self.traffic_bytes, sum(site.bytes for site in self.sites)) >= 2**61:
            raise ValueError("the sites' sums are absurd")  # and would not fit 64 bits
        return self

    @property
    def traffic_bytes(self) -> int:
        """All sites' traffic."""
        return sum(site.traffic_bytes for site in self.sites)

    @property
    def nonheap_bytes(self) -> int:
        """What stack, globals and the rest need."""
        return sum(site.bytes for site in self.nonheap)

    @property
    def heap(self) -> list[Site]:
        """What a plan can place site by site."""
        return [site for site in self.sites if site.kind != "nonheap"]

    @property
    def nonheap(self) -> list[Site]:
        """Stack, globals and the rest."""
        return [site for site in self.sites if site.kind == "nonheap"]

    @cached_property
    def timeline(self) -> "Timeline":
        """The series as arrays."""
        from thermocline.profiles.timeline import build

        return build(self)

    def frame(self) -> "DataFrame":
        """A row a site, the most traffic first; columns as in profiles/frame.py."""
        from thermocline.profiles.frame import build

        return build(self)

    def save(self, path: Path | str, force: bool = False) -> None:
        """Writes the profile; Misuse where that would overwrite, unless forced."""
        write_text(Path(path), self.model_dump_json() + "\n", force)

    @property
    def program(self) -> str:
        """A short name for messages and file names."""
        return Path(self.executable or (self.command[0] if self.command else "program")).name


def parse(text: str, path: object) -> Profile:
    """Checks a profile's text."""
    # A large profile is millions of objects, all alive: collecting among them is a waste.
    collecting = gc.isenabled()
    gc.disable()
    try:
        # Parsed and checked in one pass: Python never holds the file as dictionaries.
        return Profile.model_validate_json(text)
    except ValidationError as error:
        raise BadFile(path, f"not a profile: {first_problem(error)}") from error
    finally:
        if collecting:
            gc.enable()


def load(path: Path) -> Profile:
    """Reads a profile."""
    # A source file's name may be in any encoding: that costs this one site, not the profile.
    return parse(read_text(path, errors="replace"), path)
