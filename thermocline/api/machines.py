"""Of machines: files, what this host has, and what was measured of it."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from thermocline.api import arguments
from thermocline.api.arguments import AnyPath, Command

if TYPE_CHECKING:
    from pandas import DataFrame

    from thermocline.machine.calibration import Calibration
    from thermocline.machine.curves import Pages, What
    from thermocline.machine.model import Machine
    from thermocline.profiles.model import Profile
    from thermocline.translation_counters import Measured


def machine(name: str = "detect") -> "Machine":
    """A machine by a shipped file's stem, a path, or `detect` for this host."""
    return arguments.machine(name)


def machines() -> "list[Machine]":
    """All that ship, by name."""
    from thermocline.machine import model, store

    return [model.load(path) for path in store.shipped().values()]


def detect(source: AnyPath) -> "Machine":
    """A recorded host: hwloc's XML, or a folder (docs/machine-files.md)."""
    from thermocline.machine import detect as detection

    return detection.detect(Path(source)).machine


def measure(
    *,
    what: "Sequence[What]" = ("latency", "bandwidth", "intensity", "loaded", "power"),
    quick: bool = False,
    goes: int = 15,
    largest: str | int = "1GiB",
    pages: "Pages" = "huge",
    directory: AnyPath | None = None,
    cpu_nodes: Sequence[int] = (),
    memory_nodes: Sequence[int] = (),
    isa: str = "auto",
) -> "Machine":
    """Measures this host's memory; the machine's `curves()` are what was found.

    `goes`: values of each point, 6 or more.  `largest`: buffer of a latency.  `pages`: huge or
    small.  `directory`: measure a mapped file there.  `isa`: auto, sse2, avx2 or avx512.  Takes
    some minutes for each pair of processors and memory; a minute if `quick`.
    """
    from thermocline import units
    from thermocline.machine import detect as detection
    from thermocline.machine import measured, measurement, measurement_plan
    from thermocline.notes import note

    wanted = measurement_plan.Wanted(
        what=tuple(what),
        goes=goes,
        largest=units.parse_bytes(arguments.capacity(largest)),
        quick=quick,
        pages=pages,
        directory=arguments.path(directory),
        isa=isa,
        cpu_nodes=tuple(cpu_nodes),
        memory_nodes=tuple(memory_nodes),
    )
    host = detection.detect()
    runs = measurement_plan.plan(wanted, host.machine)
    found = measurement.measure(runs, wanted, lambda run: None)
    for text in (*host.notes, *found.notes):
        note(text)
    return measured.apply(host.machine, found)


def calibrate(*, machine: "Machine | str | None" = None, quick: bool = False) -> "Calibration":
    """Predicts programs' times on this host, compares with its clock, and keeps how far it is off.

    `simulate` shows that with every time from then on.  Takes some minutes, half of one if
    `quick`.  `machine`: a file of this host.
    """
    from thermocline.machine import calibration
    from thermocline.simulation import calibrate as running
    from thermocline.simulation.runner import no_bars

    known = None if machine is None else arguments.machine(machine)
    made = running.calibrate(known, quick, lambda stage: None, no_bars)
    calibration.store(made)
    return made


def roofline(machine: "Machine | str" = "detect", *, split: str | None = None) -> "DataFrame":
    """What arithmetic a machine can do at an intensity, and its power; a row each.

    `split`: of the traffic, a share a tier (`90%,10%`); without one, several that are worth a
    look.  Columns: split, bytes_per_second, ridge_flops_per_byte, flops_per_byte,
    flops_per_second, watts, memory_watts, flops_per_joule (NaN where power is not known).
    """
    from thermocline import frames
    from thermocline.models import lines, traffic

    known = arguments.machine(machine)
    chosen = lines.splits(known, split)
    columns = {
        "split": frames.TEXT,
        **dict.fromkeys(
            (
                "bytes_per_second",
                "ridge_flops_per_byte",
                "flops_per_byte",
                "flops_per_second",
                "watts",
                "memory_watts",
                "flops_per_joule",
            ),
            frames.NUMBER,
        ),
    }
    rows = (
        {
            "split": traffic.name(known, shares),
            "bytes_per_second": line["bandwidth"],
            "ridge_flops_per_byte": line["ridge"],
            **point,
            "flops_per_second": point["flops"],
        }
        for shares, line in zip(chosen, lines.to_json(known, chosen)["splits"], strict=True)
        for point in line["points"]
    )
    return frames.of(rows, columns)


def roofline_sites(profile: "Profile | AnyPath", machine: "Machine | str") -> "DataFrame":
    """A profile's sites on a machine's roofline, the heaviest first.

    Columns: key, traffic_bytes, references_per_byte, and for each tier the
    references_per_second_in_TIER that cores and memory allow, and bound_in_TIER (memory or cores).
    """
    from thermocline import frames
    from thermocline.models import roofline as roofs

    known = arguments.machine(machine)
    [found], _ = arguments.profiles(profile)
    names = [tier.name for tier in known.tier]
    rates = [f"references_per_second_in_{name}" for name in names]
    bounds = [f"bound_in_{name}" for name in names]
    columns = {
        "key": frames.TEXT,
        "traffic_bytes": frames.COUNT,
        "references_per_byte": frames.NUMBER,
        **dict.fromkeys(rates, frames.NUMBER),
        **dict.fromkeys(bounds, frames.TEXT),
    }
    rows = (
        {
            "key": site.key,
            "traffic_bytes": site.traffic_bytes,
            "references_per_byte": site.per_byte,
            **dict(zip(rates, site.rates, strict=True)),
            **dict(zip(bounds, site.bound, strict=True)),
        }
        for site in roofs.sites(known, found.sites)
    )
    return frames.of(rows, columns)


def translation(command: Command) -> "Measured":
    """Runs the command, annotated or not, and counts what address translation costs it.

    ThermoclineError where perf or the processor's counters of page walks are missing, as in most
    virtual machines.
    """
    import tempfile

    from thermocline import translation_counters

    events = translation_counters.find()
    with tempfile.TemporaryDirectory(prefix="thermocline-translation-") as scratch:
        return translation_counters.measure(events, arguments.words(command), Path(scratch))


def doctor() -> "DataFrame":
    """What this host can do; a row each: what, ok, found, remedy, needed."""
    from thermocline import frames
    from thermocline.host import examine

    columns = {
        "what": frames.TEXT,
        "ok": frames.YES,
        "found": frames.TEXT,
        "remedy": frames.TEXT,
        "needed": frames.YES,
    }
    return frames.of(map(asdict, examine()), columns)
