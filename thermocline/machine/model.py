"""What a machine file holds, and the checks on one that somebody wrote."""

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, ValidationError, model_validator

from thermocline.errors import BadFile
from thermocline.files import read_text, write_text
from thermocline.machine import devices
from thermocline.machine.curves import Curve
from thermocline.machine.figures import Bandwidth, Bytes, Count, Frequency, JoulesPerBit, Seconds
from thermocline.machine.migration import Migration
from thermocline.machine.translation import Translation
from thermocline.validation import Strict, first_problem

if TYPE_CHECKING:
    from pandas import DataFrame

FORMAT = 1
Kind = Literal["HBM", "MCDRAM", "DRAM", "CXL-DRAM", "NVM", "GPU", "unknown"]


class Cpu(Strict):
    """`cores` and `smt` are per machine and per core."""

    model: str
    sockets: int = Field(ge=1, le=1024)
    cores: int = Field(ge=1, le=2**20)
    smt: int = Field(default=1, ge=1, le=16)
    frequency: Frequency | None = None
    # What the simulator makes of a core; it assumes what is left out, and says so.
    width: Count | None = None
    window: Count | None = None
    outstanding: Count | None = None
    store_buffer: Count | None = None
    flops_per_cycle: Count | None = None  # of a core, in double precision
    core_watts: Count | None = None
    # What an access to another socket's memory adds, and each direction of the links carries.
    remote_latency: Seconds | None = None
    link_bandwidth: Bandwidth | None = None
    source: str = ""

    @model_validator(mode="after")
    def _has_whole_counts(self) -> "Cpu":
        for name in ("width", "window", "outstanding", "store_buffer"):
            count = getattr(self, name)
            if count is not None and (count.value < 1 or not float(count.value).is_integer()):
                raise ValueError(f"{name} must be a whole number from 1 on")
        return self


class Cache(Strict):
    """One instance of a data or unified cache, and how many cores share it."""

    level: int = Field(ge=1, le=4)
    bytes: Bytes
    ways: int = Field(ge=1, le=1024)
    line: int = Field(default=64, ge=16, le=1024)
    shared_by: int = Field(default=1, ge=1, le=2**20)
    cycles: Count | None = None  # from a load to its use

    @model_validator(mode="after")
    def _has_whole_sets(self) -> "Cache":
        if int(self.bytes.value) % (self.ways * self.line):
            raise ValueError(f"level {self.level}: bytes is no multiple of ways x line")
        return self


class Device(Strict):
    """What the simulator takes a tier for: channels of a device in machines/devices."""

    standard: str = Field(max_length=60)
    channels: int = Field(ge=1, le=512)
    ranks: int | None = Field(default=None, ge=1, le=64)
    link: str | None = Field(default=None, max_length=60)

    @model_validator(mode="after")
    def _is_known(self) -> "Device":
        for name in (self.standard, self.link):
            if name is not None and name.lower() not in devices.shipped():
                known = ", ".join(sorted(devices.shipped()))
                raise ValueError(f"no device {name!r}: there are {known}")
        return self


class Tier(Strict):
    """One kind of memory."""

    name: str = Field(min_length=1, max_length=40)
    kind: Kind
    capacity: Bytes
    read_bandwidth: Bandwidth | None = None
    write_bandwidth: Bandwidth | None = None
    latency: Seconds | None = None
    read_energy: JoulesPerBit | None = None
    write_energy: JoulesPerBit | None = None
    static_watts: Count | None = None  # without any access
    nodes: list[Annotated[int, Field(ge=0, lt=1024)]] = Field(default=[])
    modelled: bool = False
    shares_channel_with: list[str] = Field(default=[])
    device: Device | None = None

    @property
    def capacity_bytes(self) -> int:
        """Capacity as a whole number."""
        return int(self.capacity.value)

    @model_validator(mode="after")
    def _is_somewhere(self) -> "Tier":
        if bool(self.nodes) == self.modelled:
            raise ValueError(f"tier {self.name!r} needs either nodes or modelled = true")
        if len(set(self.nodes)) != len(self.nodes):
            raise ValueError(f"tier {self.name!r} names a node twice")
        if self.capacity_bytes <= 0:
            raise ValueError(f"tier {self.name!r} has no capacity")
        return self


class Machine(Strict):
    """A machine; tiers fastest first."""

    format: Literal[1]
    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=60)
    description: str = ""
    cpu: Cpu
    cache: list[Cache] = Field(min_length=1)
    tier: list[Tier] = Field(min_length=1, max_length=8)
    translation: Translation | None = None  # TLBs; the simulator assumes some
    migration: Migration | None = None  # of pages; the same
    measured: list[Curve] = Field(default=[], max_length=4096)  # by `machine measure`

    @model_validator(mode="after")
    def _fits_together(self) -> "Machine":
        names = [tier.name for tier in self.tier]
        if len(set(names)) != len(names):
            raise ValueError("two tiers have the same name")
        nodes = [node for tier in self.tier for node in tier.nodes]
        if len(set(nodes)) != len(nodes):
            raise ValueError("two tiers name the same node")
        for tier in self.tier:
            for other in tier.shares_channel_with:
                if other not in names or other == tier.name:
                    raise ValueError(f"tier {tier.name!r} shares a channel with unknown {other!r}")
        if [cache.level for cache in self.cache] != list(range(1, len(self.cache) + 1)):
            raise ValueError("cache levels must be 1, 2, ... in this order")
        if len({cache.line for cache in self.cache}) != 1:
            raise ValueError("all caches must have the same line size")
        return self

    def frame(self) -> "DataFrame":
        """A row a tier, the fastest first; columns as in machine/frame.py."""
        from thermocline.machine import frame

        return frame.tiers(self)

    def curves(self) -> "DataFrame":
        """A row a point that `machine measure` found."""
        from thermocline.machine import frame

        return frame.curves(self)

    def save(self, path: Path | str, force: bool = False) -> None:
        """Writes a machine file; Misuse where that would overwrite, unless forced."""
        from thermocline.machine import store

        write_text(Path(path), store.to_toml(self), force)

    def share_channels(self, first: Tier, second: Tier) -> bool:
        """Whether two tiers' traffic adds up on one channel (as Optane's and its DRAM's does)."""
        return second.name in first.shares_channel_with or first.name in second.shares_channel_with


def from_table(table: dict[str, Any], path: object) -> Machine:
    """Checks a table that claims to be a machine."""
    if table.get("format") != FORMAT:
        raise BadFile(path, f"not a machine file of format {FORMAT} (format = {FORMAT} is missing)")
    try:
        return Machine.model_validate(table)
    except ValidationError as error:
        raise BadFile(path, f"{first_problem(error)} (see docs/machine-files.md)") from error


def load(path: Path) -> Machine:
    """Reads a machine file."""
    return parse(read_text(path, 2**20), path)


def parse(text: str, path: Path) -> Machine:
    """Checks a machine file's text."""
    try:
        return from_table(tomllib.loads(text), path)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadFile(path, f"not TOML: {error}") from error
