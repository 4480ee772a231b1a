"""Memory devices: what a machine file's `device = { standard = ... }` stands for.

A device is one TOML file in machines/devices, in which every number has a source (its own or its
table's).  Resolved, it is the JSON that the simulator's memories read: times in clock cycles or
picoseconds, energy in picojoules (docs/memory-devices.md).
"""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, model_validator

from thermocline import paths
from thermocline.errors import BadFile, Misuse
from thermocline.files import read_text
from thermocline.machine.device_tables import (
    Currents,
    Energies,
    Link,
    Number,
    Nvm,
    Plain,
    Queues,
    Structure,
    Time,
    Timing,
)
from thermocline.validation import Strict, first_problem

FORMAT = 1
Fidelity = Literal["faithful", "screening"]

_POLICY = {"source": "assumed: the policy's defaults, docs/memory-devices.md"}
_QUEUES = {"reads": 32, "writes": 32, "drain_start": 24, "drain_stop": 8, "row_hit_cap": 16}


class _File(Strict):
    format: Literal[1]
    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=60)


class Dram(_File):
    """DRAM: `subchannels` channels of the simulator for each that a machine file counts."""

    kind: Literal["dram"]
    subchannels: int = Field(default=1, ge=1, le=64)
    separate_row_bus: bool = False
    clock: Time
    structure: Structure
    timing: Timing
    queues: Queues = Queues.model_validate({**_POLICY, **_QUEUES})
    currents: Currents | None = None
    energy: Energies | None = None
    static_mw: Plain = Number(value=0, source="not known: none is charged")

    @model_validator(mode="after")
    def _has_energy(self) -> "Dram":
        if (self.currents is None) == (self.energy is None):
            raise ValueError("either [currents] or [energy] is wanted")
        if self.clock.ps() < 1 or not self.clock.source:
            raise ValueError("clock: at least 1ps, and a source, are wanted")
        return self

    @model_validator(mode="after")
    def _is_possible(self) -> "Dram":
        for name in ("burst_bytes", "ranks", "bank_groups", "banks_per_group", "row_bytes"):
            count = getattr(self.structure, name).value
            if count < 1 or not float(count).is_integer() or int(count) & (int(count) - 1):
                raise ValueError(f"structure.{name} is {count:g}: a power of two is wanted")
        cycles = self.timing_cycles()
        cycles["burst_cycles"] = self.structure.burst_cycles.whole()
        for name in cycles:
            if cycles[name] < 1 and name not in ("refi", "bus_turn", "rank_switch"):
                raise ValueError(f"{name} is 0")
        for longer, shorter in (
            ("ras", "rcd"),
            ("ccd_s", "burst_cycles"),
            ("ccd_l", "ccd_s"),
            ("rrd_l", "rrd_s"),
            ("wtr_l", "wtr_s"),
            ("faw", "rrd_s"),
        ):
            if cycles[longer] < cycles[shorter]:
                raise ValueError(
                    f"timing: {longer} ({cycles[longer]} cycles) is shorter than {shorter}"
                    f" ({cycles[shorter]})"
                )
        if 0 < cycles["refi"] < 2 * (cycles["rfc"] + cycles["rc"]):
            raise ValueError("timing: refi leaves no time between refreshes of rfc")
        return self

    def timing_cycles(self) -> dict[str, int]:
        """Every constraint in clock cycles; `rc` is ras + rp."""
        clock_ps = self.clock.ps()
        cycles = {
            name: getattr(self.timing, name).in_cycles(clock_ps) for name in Timing.model_fields
        }
        return {**cycles, "rc": cycles["ras"] + cycles["rp"]}

    def energies(self) -> dict[str, float]:
        """Of a rank, in pJ and mW: from the currents as data sheets' power guides do."""
        static = {"static_mw": self.static_mw.value}
        if self.energy is not None:
            numbers = self.energy
            return {name: getattr(numbers, name).value for name in Energies.model_fields} | static
        assert self.currents is not None
        i = {name: getattr(self.currents, name).value for name in Currents.model_fields}
        cycles = self.timing_cycles()
        watts = i["devices"] * i["vdd_v"]  # mW a mA
        ns = self.clock.ps() / 1000
        burst_ns = self.structure.burst_cycles.value * ns
        ras_ns, rc_ns, rfc_ns = (cycles[name] * ns for name in ("ras", "rc", "rfc"))
        per_activate = i["idd0_ma"] * rc_ns - i["idd2n_ma"] * rc_ns
        while_open = (i["idd3n_ma"] - i["idd2n_ma"]) * ras_ns
        open_ma = i["idd3n_ma"]
        if per_activate < while_open:
            # IDD3N is of all banks open, IDD0 of one: IDD0 alone says what an open row costs.
            while_open, open_ma = 0.0, i["idd2n_ma"]
        return {
            "activate_pj": watts * max(0.0, per_activate - while_open),
            "read_pj": watts * max(0.0, i["idd4r_ma"] - i["idd3n_ma"]) * burst_ns,
            "write_pj": watts * max(0.0, i["idd4w_ma"] - i["idd3n_ma"]) * burst_ns,
            # A refreshing rank counts as closed for its background.
            "refresh_pj": watts * max(0.0, i["idd5b_ma"] - i["idd2n_ma"]) * rfc_ns,
            "open_mw": watts * open_ma,
            "closed_mw": watts * i["idd2n_ma"],
        } | static

    def to_json(self, ranks: int | None) -> dict[str, Any]:
        """The simulator's `dram`."""
        structure = self.structure
        whole = {name: getattr(structure, name).whole() for name in Structure.model_fields}
        if ranks is not None:
            whole["ranks"] = ranks
        return {
            "clock_ps": self.clock.ps(),
            **whole,
            "separate_row_bus": self.separate_row_bus,
            "queues": {name: getattr(self.queues, name).whole() for name in Queues.model_fields},
            "timing": self.timing_cycles(),
            "energy": self.energies(),
        }

    def unloaded_ps(self) -> int:
        """A read of a closed row, alone: rcd + cl + burst."""
        cycles = self.timing_cycles()
        burst = self.structure.burst_cycles.whole()
        return (cycles["rcd"] + cycles["cl"] + burst) * self.clock.ps()


class NvmDevice(_File):
    """A module of NVM, and the DRAM device on whose channel it sits unless the tier says."""

    kind: Literal["nvm"]
    channel: str
    nvm: Nvm

    def to_json(self) -> dict[str, Any]:
        """The simulator's `nvm`."""
        nvm = self.nvm
        counts = ("reads", "writes", "read_buffer", "write_buffer")
        energy = ("read_pj", "write_pj", "transfer_pj", "static_mw")
        return {
            "interleave_bytes": nvm.interleave.whole(),
            "block_bytes": nvm.block.whole(),
            **{name: getattr(nvm, name).whole() for name in counts},
            "buffer_ps": nvm.buffer_time.ps(),
            "media_read_ps": nvm.media_read.ps(),
            "read_gap_ps": nvm.read_gap.ps(),
            "write_gap_ps": nvm.write_gap.ps(),
            **{name: getattr(nvm, name).value for name in energy},
        }


class LinkDevice(_File):
    """A link in front of a memory."""

    kind: Literal["link"]
    link: Link

    def to_json(self) -> dict[str, Any]:
        """The simulator's `link`."""
        link = self.link
        return {
            "request_ps": link.request_latency.ps(),
            "response_ps": link.response_latency.ps(),
            "request_bandwidth": link.request_bandwidth.whole(),
            "response_bandwidth": link.response_bandwidth.whole(),
            "header_bytes": link.header_bytes.whole(),
            "entries": link.entries.whole(),
            "pj_per_byte": link.pj_per_byte.value,
            "static_mw": link.static_mw.value,
        }


AnyDevice = Dram | NvmDevice | LinkDevice
_KINDS: dict[str, type[Dram] | type[NvmDevice] | type[LinkDevice]] = {
    "dram": Dram,
    "nvm": NvmDevice,
    "link": LinkDevice,
}


def shipped() -> dict[str, Path]:
    """Name in lower case -> file; a device's file is its name in lower case."""
    found: dict[str, Path] = {}
    for directory in paths.machine_directories():
        for path in sorted((directory / "devices").glob("*.toml")):
            found.setdefault(path.stem, path)
    return found


def from_table(table: dict[str, Any], path: object) -> AnyDevice:
    """Checks a table that claims to be a device."""
    if table.get("format") != FORMAT:
        raise BadFile(path, f"not a device file of format {FORMAT} (format = {FORMAT} is missing)")
    kind = _KINDS.get(str(table.get("kind")))
    if kind is None:
        raise BadFile(path, f"kind must be one of {', '.join(_KINDS)}")
    try:
        return kind.model_validate(table)
    except ValidationError as error:
        raise BadFile(path, f"{first_problem(error)} (see docs/memory-devices.md)") from error


@cache
def find(name: str) -> AnyDevice:
    """A device by name, in either case."""
    path = shipped().get(name.lower())
    if path is None:
        raise Misuse(f"no device {name!r}: there are {', '.join(sorted(shipped()))}")
    try:
        return from_table(tomllib.loads(read_text(path, 2**20)), path)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadFile(path, f"not TOML: {error}") from error


def find_dram(name: str) -> Dram:
    """A device that must be DRAM."""
    device = find(name)
    if not isinstance(device, Dram):
        raise Misuse(f"{name} is no DRAM")
    return device


def resolve(
    name: str,
    channels: int = 1,
    *,
    ranks: int | None = None,
    interleave: int = 256,
    link: str | None = None,
    fidelity: Fidelity = "faithful",
    nvm_base: int | None = None,
    nvm: str | None = None,
) -> dict[str, Any]:
    """The JSON of a memory: DRAM by name, with `nvm` modules on its channels from `nvm_base` on.

    An NVM device's own name gives it on its usual DRAM, from address 0.
    """
    device = find(name)
    if isinstance(device, NvmDevice):
        name, nvm, nvm_base = device.channel, name, 0
    dram = find_dram(name)
    memory: dict[str, Any] = {
        "name": device.name,
        "channels": channels * dram.subchannels,
        "interleave_bytes": interleave,
        "fidelity": fidelity,
        "dram": dram.to_json(ranks),
    }
    if nvm is not None:
        module = find(nvm)
        if not isinstance(module, NvmDevice):
            raise Misuse(f"{nvm} is no NVM")
        memory |= {"nvm": module.to_json(), "nvm_base": nvm_base or 0}
    if link is not None:
        wire = find(link)
        if not isinstance(wire, LinkDevice):
            raise Misuse(f"{link} is no link")
        memory["link"] = wire.to_json()
    return memory
