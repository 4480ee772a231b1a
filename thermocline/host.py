"""What this host has of what Thermocline needs."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from thermocline import paths
from thermocline.errors import ThermoclineError
from thermocline.sites import symbolizer


@dataclass(frozen=True)
class Check:
    """One thing; `remedy` is empty where there is nothing to do."""

    what: str
    ok: bool
    found: str
    remedy: str
    needed: bool


def _program(what: str, names: tuple[str, ...], package: str, needed: bool) -> Check:
    for name in names:
        path = shutil.which(name)
        if path:
            return Check(what, True, path, "", needed)
    return Check(what, False, "not found", f"apt install {package}", needed)


def _native(what: str, path: Path) -> Check:
    remedy = "" if path.exists() else "run make build, or set THERMOCLINE_PREFIX"
    return Check(what, path.exists(), str(path), remedy, True)


def _perf() -> Check:
    try:
        level = int(Path("/proc/sys/kernel/perf_event_paranoid").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return Check(
            "perf events",
            False,
            "the kernel has none",
            "use a kernel with CONFIG_PERF_EVENTS",
            False,
        )
    ok = level <= 2
    remedy = "" if ok else "sysctl kernel.perf_event_paranoid=2 (as root)"
    return Check("perf events (unseen share)", ok, f"perf_event_paranoid {level}", remedy, False)


def _power() -> Check:
    from thermocline.machine import powercap

    lacking = powercap.lacks()
    found = lacking or "energy counters of memory are readable"
    remedy = "none needed: power is modelled" if lacking else ""
    return Check("memory's power (RAPL)", not lacking, found, remedy, False)


def _methods() -> list[Check]:
    from thermocline import methods

    return [
        Check(
            f"profile --method {name}",
            not lacks,
            "not on this host" if lacks else method.summary,
            lacks,
            False,
        )
        for name, method in methods.registry().items()
        for lacks in [method.lacks()]
    ]


def _memory() -> list[Check]:
    from thermocline.machine.detect import detect

    try:
        machine = detect().machine
    except ThermoclineError as error:
        return [Check("topology (hwloc)", False, str(error), "apt install hwloc", False)]
    listed = ", ".join(
        f"{tier.name} on node {','.join(map(str, tier.nodes))}" for tier in machine.tier
    )
    several = len(machine.tier) > 1
    remedy = "" if several else "none needed: plan with --machine knl-7230; runs model the tiers"
    return [Check("several kinds of memory", several, listed, remedy, False)]


def examine() -> list[Check]:
    """All checks."""
    return [
        _program("C and C++ compiler", ("clang-22", "clang-19"), "clang-22", True),
        _program("linker with LTO", ("ld.lld-22", "ld.lld-19"), "lld-22", True),
        _program("Fortran compiler", ("flang-22", "flang-new-19"), "flang-22", False),
        _program("names of call paths (--preload)", symbolizer.PROGRAMS, "llvm-22", False),
        _native("compiler wrapper", paths.wrapper()),
        _native("compiler plugin", paths.library("thermocline-plugin.so")),
        _native("runtime library", paths.library("libthermocline.so")),
        _native("measuring program", paths.library("thermocline-measure")),
        _perf(),
        _power(),
        *_methods(),
        *_memory(),
    ]
