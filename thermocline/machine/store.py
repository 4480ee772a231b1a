"""Finding a machine by name, writing one, and telling what it is."""

import difflib
from pathlib import Path

from thermocline import paths, toml_writer, units
from thermocline.errors import Misuse
from thermocline.machine import curves
from thermocline.machine.figures import Figure
from thermocline.machine.migration import Migration
from thermocline.machine.model import Cache, Machine, Tier, load
from thermocline.machine.translation import Buffer, Translation

DETECT = "detect"


def shipped() -> dict[str, Path]:
    """Name -> file, of all machines that ship."""
    found: dict[str, Path] = {}
    for directory in paths.machine_directories():
        for path in sorted(directory.glob("*.toml")):
            found.setdefault(path.stem, path)
    return found


def find(name: str) -> Machine:
    """A machine by a shipped file's stem, a path, or `detect` for this host."""
    if name == DETECT:
        from thermocline.machine.detect import detect

        return detect().machine
    if name in shipped():
        return load(shipped()[name])
    if "/" in name or name.endswith(".toml") or Path(name).is_file():
        return load(Path(name))
    close = difflib.get_close_matches(name, shipped(), n=1)
    hint = f"did you mean {close[0]}? " if close else ""
    raise Misuse(f"no machine {name!r}: {hint}see 'thermocline machine list'")


def _figure(figure: Figure, text: str) -> str:
    if not figure.source and not figure.input:
        return toml_writer.string(text)
    table: dict[str, toml_writer.Value] = {"value": text}
    if figure.source:
        table["source"] = figure.source
    if figure.input:
        table["input"] = True
    return toml_writer.inline(table)


def _cache(cache: Cache) -> str:
    return (
        "\n[[cache]]\n"
        f"level = {cache.level}\n"
        f"bytes = {_figure(cache.bytes, units.exact_bytes(int(cache.bytes.value)))}\n"
        + toml_writer.pairs({"ways": cache.ways, "line": cache.line, "shared_by": cache.shared_by})
        + (f"cycles = {_count(cache.cycles)}\n" if cache.cycles else "")
    )


def _count(figure: Figure) -> str:
    whole = figure.value == int(figure.value)
    number = int(figure.value) if whole else figure.value
    if not figure.source and not figure.input:
        return toml_writer.value(number)
    table: dict[str, toml_writer.Value] = {"value": number}
    if figure.source:
        table["source"] = figure.source
    if figure.input:
        table["input"] = True
    return toml_writer.inline(table)


def _tier(tier: Tier) -> str:
    lines = ["\n[[tier]]", f"name = {toml_writer.string(tier.name)}", f'kind = "{tier.kind}"']
    lines.append(f"capacity = {_figure(tier.capacity, units.exact_bytes(tier.capacity_bytes))}")
    for name, bandwidth in (
        ("read_bandwidth", tier.read_bandwidth),
        ("write_bandwidth", tier.write_bandwidth),
    ):
        if bandwidth:
            lines.append(f"{name} = {_figure(bandwidth, units.format_bandwidth(bandwidth.value))}")
    if tier.latency:
        lines.append(f"latency = {_figure(tier.latency, units.format_time(tier.latency.value))}")
    for name, energy in (("read_energy", tier.read_energy), ("write_energy", tier.write_energy)):
        if energy:
            lines.append(f"{name} = {_figure(energy, f'{energy.value * 1e12:.6g}pJ/bit')}")
    if tier.static_watts:
        lines.append(f"static_watts = {_count(tier.static_watts)}")
    if tier.nodes:
        lines.append(f"nodes = {toml_writer.value(tier.nodes)}")
    if tier.modelled:
        lines.append("modelled = true")
    if tier.shares_channel_with:
        lines.append(f"shares_channel_with = {toml_writer.value(tier.shares_channel_with)}")
    if tier.device:
        lines.append(f"device = {toml_writer.inline(tier.device.model_dump(exclude_none=True))}")
    return "\n".join(lines) + "\n"


def _translation(translation: Translation) -> str:
    lines = ["\n[translation]"]
    for name in sorted(translation.model_fields_set):
        field = getattr(translation, name)
        if isinstance(field, Buffer):
            text = toml_writer.inline(field.model_dump(exclude_unset=True))
        elif isinstance(field, Figure):
            text = _count(field)
        elif isinstance(field, list):
            each = [toml_writer.inline(one.model_dump(exclude_unset=True)) for one in field]
            text = f"[{', '.join(each)}]"
        else:
            text = toml_writer.value(field)
        lines.append(f"{name} = {text}")
    return "\n".join(lines) + "\n"


def _migration(migration: Migration) -> str:
    lines = ["\n[migration]"]
    for name in sorted(migration.model_fields_set):
        figure = getattr(migration, name)
        lines.append(f"{name} = {_figure(figure, units.format_time(figure.value))}")
    return "\n".join(lines) + "\n"


def to_toml(machine: Machine) -> str:
    """The machine as a file's text."""
    head = toml_writer.pairs(
        {"format": machine.format, "name": machine.name, "description": machine.description}
    )
    cpu = "\n[cpu]\n" + toml_writer.pairs(
        {
            "model": machine.cpu.model,
            "sockets": machine.cpu.sockets,
            "cores": machine.cpu.cores,
            "smt": machine.cpu.smt,
        }
    )
    if machine.cpu.frequency:
        text = f"{machine.cpu.frequency.value / 1e9:.6g}GHz"
        cpu += f"frequency = {_figure(machine.cpu.frequency, text)}\n"
    for name in ("width", "window", "outstanding", "store_buffer", "flops_per_cycle", "core_watts"):
        count = getattr(machine.cpu, name)
        if count:
            cpu += f"{name} = {_count(count)}\n"
    if machine.cpu.remote_latency:
        figure = machine.cpu.remote_latency
        cpu += f"remote_latency = {_figure(figure, units.format_time(figure.value))}\n"
    if machine.cpu.link_bandwidth:
        figure = machine.cpu.link_bandwidth
        cpu += f"link_bandwidth = {_figure(figure, units.format_bandwidth(figure.value))}\n"
    if machine.cpu.source:
        cpu += toml_writer.pairs({"source": machine.cpu.source})
    return (
        head
        + cpu
        + "".join(_cache(cache) for cache in machine.cache)
        + "".join(_tier(tier) for tier in machine.tier)
        + (_translation(machine.translation) if machine.translation else "")
        + (_migration(machine.migration) if machine.migration else "")
        + "".join(curves.to_toml(curve) for curve in machine.measured)
    )
