"""A machine file as tables, or as JSON."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thermocline.machine.model import Machine


def to_json(machine: "Machine") -> dict[str, Any]:
    """The machine in SI base units."""
    data: dict[str, Any] = machine.model_dump(mode="json", exclude_none=True)
    return data


def print_machine(machine: "Machine") -> None:
    """Tables of tiers, caches and sources."""
    from thermocline import units
    from thermocline.cli import output

    cpu = machine.cpu
    clock = f", {cpu.frequency.value / 1e9:.3g} GHz" if cpu.frequency else ""
    print(f"{machine.name}: {machine.description}")
    print(f"{cpu.model}: {cpu.sockets} socket(s), {cpu.cores} cores x {cpu.smt}{clock}\n")
    column = output.Column
    output.table(
        [
            column("tier", True),
            column("name"),
            column("kind"),
            column("capacity", True),
            column("read", True),
            column("write", True),
            column("latency", True),
            column("where"),
        ],
        [
            [
                str(index),
                tier.name,
                tier.kind,
                units.format_bytes(tier.capacity_bytes),
                units.format_bandwidth(tier.read_bandwidth.value) if tier.read_bandwidth else "-",
                units.format_bandwidth(tier.write_bandwidth.value) if tier.write_bandwidth else "-",
                units.format_time(tier.latency.value) if tier.latency else "-",
                (
                    "modelled"
                    if tier.modelled
                    else "nodes " + ",".join(str(node) for node in tier.nodes)
                )
                + (
                    f", shares a channel with {', '.join(tier.shares_channel_with)}"
                    if tier.shares_channel_with
                    else ""
                ),
            ]
            for index, tier in enumerate(machine.tier)
        ],
    )
    print()
    output.table(
        [column("cache", True), column("size", True), column("ways", True), column("shared by")],
        [
            [
                f"L{cache.level}",
                units.format_bytes(int(cache.bytes.value)),
                str(cache.ways),
                f"{cache.shared_by} core(s)",
            ]
            for cache in machine.cache
        ],
    )
    sources = _sources(machine)
    if sources:
        print()
        output.table([column("of"), column("number"), column("source")], sources)
    print()


def _sources(machine: "Machine") -> list[list[str]]:
    """Where each number comes from."""
    cpu = machine.cpu
    figures = [
        ("cpu", "clock", cpu.frequency),
        ("cpu", "width", cpu.width),
        ("cpu", "window", cpu.window),
        ("cpu", "outstanding", cpu.outstanding),
        ("cpu", "store buffer", cpu.store_buffer),
        ("cpu", "flops a cycle", cpu.flops_per_cycle),
        ("cpu", "core watts", cpu.core_watts),
        ("cpu", "remote", cpu.remote_latency),
        ("cpu", "links", cpu.link_bandwidth),
    ]
    for cache in machine.cache:
        figures += [
            (f"L{cache.level}", "size", cache.bytes),
            (f"L{cache.level}", "cycles", cache.cycles),
        ]
    for tier in machine.tier:
        figures += [
            (tier.name, "capacity", tier.capacity),
            (tier.name, "read", tier.read_bandwidth),
            (tier.name, "write", tier.write_bandwidth),
            (tier.name, "latency", tier.latency),
            (tier.name, "read energy", tier.read_energy),
            (tier.name, "write energy", tier.write_energy),
            (tier.name, "static watts", tier.static_watts),
        ]
    return [
        [of, number, ("input: " if figure.input else "") + figure.source]
        for of, number, figure in figures
        if figure is not None and figure.source
    ]
