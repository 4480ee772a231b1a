"""Energy counters of the processors' packages and their memory: RAPL, through Linux's powercap.

Counters are in microjoules and wrap around.  Since 2020 only root may read them, and virtual
machines have none.  AMD's have no memory domain.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path("/sys/class/powercap")
PROCESSORS = Path("/sys/devices/system/cpu")
_PACKAGE = "package-"


@dataclass(frozen=True)
class Domain:
    """One counter: of a package's memory, or of all else in it."""

    package: int
    memory: bool
    folder: Path
    wraps_at: int  # microjoules

    def microjoules(self) -> int:
        """The counter as it is now."""
        return _number(self.folder / "energy_uj")


@dataclass(frozen=True)
class Reading:
    """All counters at one moment."""

    seconds: float
    microjoules: Mapping[Domain, int]


def domains() -> list[Domain]:
    """Those that can be read."""
    found = []
    for folder in sorted(ROOT.glob("intel-rapl:*")):
        package = _package(folder)
        name = _text(folder / "name")
        if package is None or (name != "dram" and not name.startswith(_PACKAGE)):
            continue
        domain = Domain(package, name == "dram", folder, _limit(folder))
        try:
            domain.microjoules()
        except (OSError, ValueError):
            continue
        found.append(domain)
    return found


def lacks() -> str:
    """Why there is no measured power of memory, and what helps; empty where there is some."""
    if not list(ROOT.glob("intel-rapl:*")):
        return "this host shows no energy counters (no RAPL in /sys/class/powercap)"
    readable = domains()
    if not readable:
        return "its energy counters are root's: run as root, or chmod a+r energy_uj"
    if not any(domain.memory for domain in readable):
        return "its energy counters have no memory domain"
    return ""


def read(of: list[Domain]) -> Reading:
    """All of them, now."""
    return Reading(time.monotonic(), {domain: domain.microjoules() for domain in of})


def watts(before: Reading, after: Reading, memory: bool) -> dict[int, float]:
    """Package -> watts between two readings."""
    elapsed = after.seconds - before.seconds
    found: dict[int, float] = {}
    for domain, last in after.microjoules.items():
        if domain.memory == memory:
            used = last - before.microjoules[domain]
            used += domain.wraps_at if used < 0 else 0
            found[domain.package] = found.get(domain.package, 0.0) + used * 1e-6 / elapsed
    return found


def sample(of: list[Domain], running: Callable[[], bool], step: float = 0.05) -> list[Reading]:
    """Readings every `step` seconds while something runs."""
    readings = [read(of)]
    while running():
        time.sleep(step)
        readings.append(read(of))
    return readings


def package_of(cpu: int) -> int:
    """The package that a processor is in."""
    try:
        return _number(PROCESSORS / f"cpu{cpu}" / "topology" / "physical_package_id")
    except (OSError, ValueError):
        return 0


def _package(folder: Path) -> int | None:
    """`intel-rapl:1` and its parts `intel-rapl:1:0` belong to the package that its name says."""
    top = folder.parent / ":".join(folder.name.split(":")[:2])
    name = _text(top / "name")
    number = name.removeprefix(_PACKAGE).split("-")[0]
    return int(number) if name.startswith(_PACKAGE) and number.isdigit() else None


def _limit(folder: Path) -> int:
    try:
        return _number(folder / "max_energy_range_uj")
    except (OSError, ValueError):
        return 0


def _number(path: Path) -> int:
    return int(path.read_text(encoding="ascii"))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return ""
