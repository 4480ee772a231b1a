"""Events that sample memory accesses with their addresses: which there are on this host.

The kernel's sysfs says what each processor's monitoring unit is called and how its events are
written (Documentation/ABI/testing/sysfs-bus-event_source-devices-*); libpfm4, where it is
installed, knows the events that sysfs does not list.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from thermocline.errors import Misuse
from thermocline.methods import libpfm

DEVICES = Path("/sys/bus/event_source/devices")
IDENTIFICATION = Path("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1")

# What one occurrence of an event is: runtime/sample/events.h.
NOTHING, MISSES, REFERENCES = 0, 1, 2

SOFTWARE, BREAKPOINT = 1, 5  # PERF_TYPE_*
PAGE_FAULTS = 2  # PERF_COUNT_SW_PAGE_FAULTS

# Loads that missed the last cache, on Intel's processors since Sandy Bridge and on Knights
# Landing, whose last cache is the second.  Olson et al. 2018 (IV.C) sampled these.
_LOAD_MISSES = (
    "MEM_LOAD_RETIRED:L3_MISS",
    "MEM_LOAD_UOPS_RETIRED:L3_MISS",
    "MEM_LOAD_UOPS_RETIRED:LLC_MISS",
    "MEM_UOPS_RETIRED:L2_MISS_LOADS",
)
_NEOVERSE_PARTS = {0xD0C, 0xD40, 0xD49, 0xD4F}  # N1, V1, N2, V2
_NEOVERSE_DRAM = 0x0E  # in their data-source packets
_IBS_STEP = 16  # its periods are multiples
_LATENCY_CYCLES = 30  # loads that took longer, where no event counts misses alone


@dataclass(frozen=True)
class Event:
    """One event as perf_event_open takes it, and what its samples mean."""

    name: str
    counts: int
    type: int
    config: int = 0
    config1: int = 0
    config2: int = 0
    precise: int = 0
    user: bool = True  # leaves the kernel out
    weight: bool = False  # its samples carry a latency
    area: bool = False  # they come in an AUX area
    memory_source: int | None = None
    step: int = 1  # periods are multiples of this
    fixed: int | None = None  # a period where the kernel can't hold a number a second

    def option(self, period: int | None, frequency: int) -> str:
        """As the runtime reads it (runtime/sample/events.h); no period: samples a second."""
        if period is None:
            period = self.fixed
        fields = {
            "counts": self.counts,
            "type": self.type,
            "config": self.config,
            "config1": self.config1,
            "config2": self.config2,
            "precise": self.precise,
            "user": int(self.user),
            "weight": int(self.weight),
            "area": int(self.area),
        }
        if self.memory_source is not None:
            fields["memory-source"] = self.memory_source
        if period is None:
            fields["frequency"] = frequency
        else:
            fields["period"] = -(-period // self.step) * self.step
        return ",".join(f"{key}={value}" for key, value in fields.items()) + f",name={self.name}"


def automatic(devices: Path = DEVICES, identification: Path = IDENTIFICATION) -> list[Event]:
    """What this host's processor can sample of its memory accesses, or nothing."""
    return _intel(devices) or _amd(devices) or _arm(devices, identification)


def named(text: str, devices: Path = DEVICES) -> list[Event]:
    """The event that --event names."""
    if not text or len(text) > 200 or any(not c.isprintable() or c == " " for c in text):
        raise Misuse(f"--event {text!r}: an event's name has no blanks")
    if text == "page-faults":
        return [Event(text, NOTHING, SOFTWARE, PAGE_FAULTS)]
    if text.startswith("mem:"):
        return [_breakpoint(text)]
    if match := re.fullmatch(r"([\w.-]+)/([\w=,.-]*)/", text):
        return [_of_unit(devices / match[1], match[2], text)]
    for unit in _core_units(devices):
        file = unit / "events" / text
        if "/" not in text and file.is_file():
            return [_memory_event(unit, text)]
    if found := libpfm.encode(text):
        return [Event(text, MISSES if "MISS" in text else REFERENCES, *found, precise=2)]
    raise Misuse(
        f"no event {text!r}: name one of {devices}/*/events, UNIT/event=..,umask=../, "
        "page-faults, or mem:ADDRESS/BYTES:rw"
    )


def _breakpoint(text: str) -> Event:
    match = re.fullmatch(r"mem:(0x[0-9a-f]+)(?:/([1248]))?(?::(r|w|rw))?", text)
    if not match:
        raise Misuse(f"--event {text!r}: write it like mem:0x404040/8:w")
    kind = {"r": 1, "w": 2, "rw": 3}[match[3] or "rw"]  # HW_BREAKPOINT_R, _W
    return Event(text, NOTHING, BREAKPOINT, kind, int(match[1], 16), int(match[2] or "8"))


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""


def _core_units(devices: Path) -> list[Path]:
    """The processors' own: several where there are several kinds of cores."""
    return [unit for name in ("cpu", "cpu_core", "cpu_atom") if (unit := devices / name).is_dir()]


def _of_unit(unit: Path, terms: str, name: str, counts: int = REFERENCES) -> Event:
    """`event=0xcd,umask=0x1` in the words of this unit's format."""
    kind = _read(unit / "type")
    if not kind.isdecimal():
        raise Misuse(f"--event {name}: this host has no {unit}")
    words = {"config": 0, "config1": 0, "config2": 0}
    for term in filter(None, terms.split(",")):
        key, _, value = term.partition("=")
        try:
            _place(words, _read(unit / "format" / key) or f"{key}:0-63", int(value or "1", 0))
        except (ValueError, KeyError) as error:
            raise Misuse(f"--event {name}: {unit.name} has no {term!r}") from error
    return Event(name, counts, int(kind), words["config"], words["config1"], words["config2"])


def _place(words: dict[str, int], form: str, value: int) -> None:
    """Puts a value where `config:0-7,32` says, its low bits first."""
    word, _, ranges = form.partition(":")
    if word not in words:
        raise KeyError(word)
    for part in ranges.split(","):
        low, _, high = part.partition("-")
        width = int(high or low) - int(low) + 1
        words[word] |= (value & ((1 << width) - 1)) << int(low)
        value >>= width
    if value:
        raise ValueError("it does not fit")


def _memory_event(unit: Path, name: str) -> Event:
    terms = re.sub(r"ldlat=\w+", f"ldlat={_LATENCY_CYCLES}", _read(unit / "events" / name))
    event = _of_unit(unit, terms, name if unit.name == "cpu" else f"{unit.name}/{name}")
    return replace(event, precise=2, weight="ldlat" in terms)


def _intel(devices: Path) -> list[Event]:
    """PEBS.  Loads that missed where libpfm knows the event, else loads that took long; stores."""
    events: list[Event] = []
    units = _core_units(devices)
    for unit in units:
        listed = [name for name in ("mem-loads", "mem-stores") if (unit / "events" / name).exists()]
        if not listed:
            continue
        misses = next((e for e in map(_load_miss, _LOAD_MISSES) if e), None)
        if misses and len(units) == 1:
            events.append(misses)
        elif "mem-loads" in listed and not (unit / "events" / "mem-loads-aux").exists():
            events.append(_memory_event(unit, "mem-loads"))
        if "mem-stores" in listed and events:
            events.append(_memory_event(unit, "mem-stores"))
    return events


def _load_miss(name: str) -> Event | None:
    found = libpfm.encode(name)
    return Event(name, MISSES, *found, precise=2) if found else None


def _amd(devices: Path) -> list[Event]:
    """Instruction-based sampling of operations."""
    unit = devices / "ibs_op"
    if not unit.is_dir():
        return []
    # It can't leave the kernel out by itself; from Linux 6.14 on the kernel drops its samples.
    filtered = (unit / "format" / "swfilt").exists()
    terms = "cnt_ctl=1,swfilt=1" if filtered else "cnt_ctl=1"
    event = _of_unit(unit, terms, "ibs_op")
    return [replace(event, user=filtered, weight=True, step=_IBS_STEP)]


def _arm(devices: Path, identification: Path) -> list[Event]:
    """The Statistical Profiling Extension: loads and stores."""
    for unit in sorted(devices.glob("arm_spe_*")):
        event = _of_unit(unit, "load_filter=1,store_filter=1,jitter=1", unit.name)
        part = int(_read(identification) or "0", 16) >> 4 & 0xFFF
        source = _NEOVERSE_DRAM if part in _NEOVERSE_PARTS else None
        least = _read(unit / "caps" / "min_interval")
        # The kernel can't hold a number a second here.
        fixed = max(65536, int(least) if least.isdecimal() else 0)
        return [replace(event, area=True, memory_source=source, fixed=fixed)]
    return []


def describe(events: Sequence[Event]) -> str:
    """Their names."""
    return ", ".join(event.name for event in events)
