"""A machine's tiers, and what was measured of them, as data frames in SI base units."""

from typing import TYPE_CHECKING

from thermocline import frames
from thermocline.frames import COUNT, MAYBE, NUMBER, TEXT, YES

if TYPE_CHECKING:
    from pandas import DataFrame

    from thermocline.machine.figures import Figure
    from thermocline.machine.model import Machine

TIERS = {
    "machine": TEXT,
    "tier": COUNT,  # 0: the fastest
    "name": TEXT,
    "kind": TEXT,
    "capacity_bytes": COUNT,
    "read_bytes_per_second": NUMBER,
    "write_bytes_per_second": NUMBER,
    "latency_seconds": NUMBER,
    "read_joules_per_bit": NUMBER,
    "write_joules_per_bit": NUMBER,
    "static_watts": NUMBER,
    "nodes": TEXT,  # with commas; empty: modelled
    "modelled": YES,
}

CURVES = {
    "machine": TEXT,
    "what": TEXT,
    "pattern": TEXT,
    "cpu_node": COUNT,
    "memory_node": MAYBE,
    "nodes": TEXT,
    "pages": TEXT,
    "threads": MAYBE,
    "at": NUMBER,  # in at_unit
    "at_unit": TEXT,
    "value": NUMBER,  # a median, in value_unit
    "value_unit": TEXT,
}
# Of what is measured: where, and what is found there.
UNITS = {
    "latency": ("bytes", "seconds"),
    "bandwidth": ("threads", "bytes_per_second"),
    "intensity": ("flops_per_byte", "bytes_per_second"),
    "loaded": ("bytes_per_second", "seconds"),
    "power": ("bytes_per_second", "watts"),
}


def tiers(machine: "Machine") -> "DataFrame":
    """A row a tier, the fastest first; NaN where the file does not say."""

    def value(figure: "Figure | None") -> float | None:
        return None if figure is None else figure.value

    return frames.of(
        (
            {
                "machine": machine.name,
                "tier": number,
                "name": tier.name,
                "kind": tier.kind,
                "capacity_bytes": tier.capacity_bytes,
                "read_bytes_per_second": value(tier.read_bandwidth),
                "write_bytes_per_second": value(tier.write_bandwidth),
                "latency_seconds": value(tier.latency),
                "read_joules_per_bit": value(tier.read_energy),
                "write_joules_per_bit": value(tier.write_energy),
                "static_watts": value(tier.static_watts),
                "nodes": ",".join(map(str, tier.nodes)),
                "modelled": tier.modelled,
            }
            for number, tier in enumerate(machine.tier)
        ),
        TIERS,
    )


def curves(machine: "Machine") -> "DataFrame":
    """A row a point that `machine measure` found."""
    return frames.of(
        (
            {
                "machine": machine.name,
                **curve.model_dump(exclude={"points"}),
                "at": at,
                "at_unit": UNITS[curve.what][0],
                "value": value,
                "value_unit": UNITS[curve.what][1],
            }
            for curve in machine.measured
            for at, value in zip(curve.at, curve.values, strict=True)
        ),
        CURVES,
    )
