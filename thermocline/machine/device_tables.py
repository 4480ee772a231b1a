"""The numbers of a device file: each with a unit and a source (its own or its table's)."""

import math
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator

from thermocline import units
from thermocline.errors import Misuse
from thermocline.machine.figures import Figure


class Number(Figure):
    """A number with its source; `cycles` tells a count of clock cycles from seconds."""

    cycles: bool = False

    def whole(self) -> int:
        """As a count."""
        return int(self.value)

    def ps(self) -> int:
        """Seconds, as picoseconds."""
        return round(self.value * 1e12)

    def in_cycles(self, clock_ps: int) -> int:
        """Clock cycles that cover it; a fortieth of a cycle is forgiven, as JEDEC rounds."""
        if self.cycles:
            return int(self.value)
        return math.ceil(round(self.value * 1e12 / clock_ps - 0.025, 6))


def _number(parse: Callable[[str], float] | None, plain: bool) -> BeforeValidator:
    def read(raw: object) -> object:
        table = dict(raw) if isinstance(raw, dict) else {"value": raw}
        written = table.get("value")
        cycles = False
        if isinstance(written, str) and parse is not None:
            try:
                value = parse(written)
            except Misuse as error:
                raise ValueError(str(error)) from error
        elif isinstance(written, int | float) and not isinstance(written, bool) and plain:
            value, cycles = written, parse is not None
        else:
            raise ValueError(f"{written!r} is of the wrong kind, or has no unit")
        if value < 0 or (cycles and int(value) != value):
            raise ValueError(
                f"{written!r}: a whole number of cycles, or a time, from 0 on is wanted"
            )
        return {**table, "value": value, "cycles": cycles}

    return BeforeValidator(read)


Plain = Annotated[Number, _number(None, True)]
Time = Annotated[Number, _number(units.parse_seconds, False)]
Span = Annotated[Number, _number(units.parse_seconds, True)]  # cycles, or a time
Size = Annotated[Number, _number(units.parse_bytes, True)]
Rate = Annotated[Number, _number(units.parse_bandwidth, False)]


class Table(BaseModel):
    """Numbers, each of which has a source: the table's unless it has its own."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _share_source(cls, raw: Any) -> Any:
        if not isinstance(raw, dict):
            return raw
        shared = {key: raw[key] for key in ("source", "input") if key in raw}
        numbers = {}
        for key, value in raw.items():
            if key in ("source", "input"):
                continue
            own = value if isinstance(value, dict) else {"value": value}
            numbers[key] = own if "source" in own else {**shared, **own}
            if not numbers[key].get("source"):
                raise ValueError(f"{key} has no source")
        return numbers


class Structure(Table):
    """Sizes and counts of one channel; powers of two, which the simulator checks."""

    burst_bytes: Size
    burst_cycles: Plain
    ranks: Plain
    bank_groups: Plain
    banks_per_group: Plain
    row_bytes: Size


class Timing(Table):
    """JEDEC's names, without the t."""

    cl: Span
    cwl: Span
    rcd: Span
    rp: Span
    ras: Span
    ccd_s: Span
    ccd_l: Span
    rrd_s: Span
    rrd_l: Span
    faw: Span
    wr: Span
    wtr_s: Span
    wtr_l: Span
    rtp: Span
    bus_turn: Span
    rank_switch: Span
    rfc: Span
    refi: Span


class Queues(Table):
    """The controller's; the defaults are the policy's (docs/memory-devices.md)."""

    reads: Plain
    writes: Plain
    drain_start: Plain
    drain_stop: Plain
    row_hit_cap: Plain


class Currents(Table):
    """Data-sheet currents of one of a rank's devices."""

    devices: Plain
    vdd_v: Plain
    idd0_ma: Plain
    idd2n_ma: Plain
    idd3n_ma: Plain
    idd4r_ma: Plain
    idd4w_ma: Plain
    idd5b_ma: Plain


class Energies(Table):
    """Of a rank, where no currents are published."""

    activate_pj: Plain
    read_pj: Plain
    write_pj: Plain
    refresh_pj: Plain
    open_mw: Plain
    closed_mw: Plain


class Nvm(Table):
    """One module."""

    interleave: Size
    block: Size
    reads: Plain
    writes: Plain
    read_buffer: Plain
    write_buffer: Plain
    buffer_time: Time
    media_read: Time
    read_gap: Time
    write_gap: Time
    read_pj: Plain
    write_pj: Plain
    transfer_pj: Plain
    static_mw: Plain


class Link(Table):
    """Both directions of a link in front of a memory."""

    request_latency: Time
    response_latency: Time
    request_bandwidth: Rate
    response_bandwidth: Rate
    header_bytes: Size
    entries: Plain
    pj_per_byte: Plain
    static_mw: Plain
