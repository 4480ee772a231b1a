"""Writes the file that THERMOCLINE_CONFIG names; its reader is runtime/config.cpp."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from thermocline.errors import Misuse, ThermoclineError
from thermocline.machine.model import Cache, Machine
from thermocline.machine.topology import parse_list
from thermocline.planning.model import Plan
from thermocline.run import classes

INTERVAL_MS = 100
PAGE = 4096


@dataclass(frozen=True)
class RunTier:
    """A tier as a run sees it: no nodes means modelled only, no limit means all there is."""

    name: str
    nodes: tuple[int, ...]
    limit: int | None


@dataclass(frozen=True)
class Setting:
    """The tiers of a run, the machine whose caches go with them, and whether it is all books."""

    tiers: list[RunTier]
    machine: Machine
    modelled: bool


def _path(path: Path) -> str:
    text = str(path.absolute())
    if not text.isprintable():
        raise Misuse(f"{text!r}: choose a name without control characters")
    return text


def _caches(caches: Sequence[Cache]) -> list[str]:
    """One instance of each level: what one core, or the cores that share it, can use."""
    return [
        f"cache {cache.level} bytes {int(cache.bytes.value)} ways {cache.ways} line {cache.line} "
        f"{'private' if cache.shared_by == 1 else 'shared'}"
        for cache in caches
    ]


def _preload(context: int | None) -> list[str]:
    return [] if context is None else [f"preload {context}"]


def for_profile(
    prefix: Path, machine: Machine, sampler: Sequence[str], context: int | None = None
) -> str:
    """A profile into PREFIX.PID.profile; `sampler`: the method's own lines.

    `context`: of a preloaded run.
    """
    lines = [
        "thermocline-config 1",
        "heap sites",
        *sampler,
        *_preload(context),
        f"profile {_path(prefix)}",
        f"interval-ms {INTERVAL_MS}",
        *_caches(machine.cache),
    ]
    return "\n".join(lines) + "\n"


_LAST_NS = 2**60  # the runtime's greatest


@dataclass(frozen=True)
class Part:
    """What of a run is recorded, as far as the budget (references of a process) goes."""

    budget: int
    functions: tuple[str, ...] = ()  # whose entering and leaving the trace tells
    from_ns: int = 0  # since a process's recording began
    to_ns: int | None = None  # None: to its end
    only_functions: bool = False  # and what runs outside of them is left out


def for_recording(socket: Path, machine: Machine, part: Part) -> str:
    """References to the collector behind the socket."""
    lines = [
        "thermocline-config 1",
        "heap sites",
        "sampler trace",
        f"stream {_path(socket)}",
        f"stream-budget {part.budget}",
        *(f"stream-function {name}" for name in part.functions),
        *_time(part),
        *(["stream-only-functions"] if part.only_functions else []),
        *_caches(machine.cache),
    ]
    return "\n".join(lines) + "\n"


def _time(part: Part) -> list[str]:
    if not part.from_ns and part.to_ns is None:
        return []
    return [f"stream-time {part.from_ns} {_LAST_NS if part.to_ns is None else part.to_ns}"]


def for_run(
    prefix: Path, plan: Plan, setting: Setting, trace: bool, context: int | None = None
) -> str:
    """A guided run that reports to PREFIX.PID.json; `context`: of a preloaded one."""
    lines = [
        "thermocline-config 1",
        "heap guided",
        f"sampler {'trace' if trace else 'none'}",
        *_preload(context),
        f"report {_path(prefix)}",
        f"interval-ms {INTERVAL_MS}",
    ]
    lines += tier_lines(plan, setting)
    nonheap = "-" if plan.nonheap_tier == "none" else str(plan.nonheap_tier)
    lines.append(f"nonheap-tier {nonheap}")
    if trace:
        lines += _caches(setting.machine.cache)
    several_nodes = any(len(tier.nodes) > 1 for tier in setting.tiers)
    found = classes.of(plan, len(setting.tiers), several_nodes)
    for number, shares in enumerate(found.splits, start=len(setting.tiers)):
        spread = " spread" if number in found.spread else ""
        huge = " huge" if number in found.huge else ""
        lines.append(f"class {number} shares {','.join(map(str, shares))}{spread}{huge}")
    placed = [(found.numbers[site.key], site) for site in plan.sites]
    lines += [f"site {number} {site.key}" for number, site in placed]
    if context is not None:
        lines += [f"site {number} {path}" for number, site in placed for path in site.paths]
    return "\n".join(lines) + "\n"


def for_online(
    prefix: Path,
    plan: Plan,
    setting: Setting,
    sampler: Sequence[str],
    context: int | None = None,
) -> str:
    """A run whose sites' tiers change: profiled, with the moves in PREFIX.PID.moves."""
    lines = [
        "thermocline-config 1",
        "heap sites",
        *sampler,
        f"profile {_path(prefix)}",
        f"moves {_path(prefix)}",
        *_preload(context),
        f"interval-ms {INTERVAL_MS}",
        *tier_lines(plan, setting),
        *_caches(setting.machine.cache),
        *(f"site {site.tier} {site.key}" for site in plan.sites),
    ]
    return "\n".join(lines) + "\n"


def tier_lines(plan: Plan, setting: Setting) -> list[str]:
    """The tiers, and where the plan puts what it does not name."""
    lines = []
    for index, tier in enumerate(setting.tiers):
        nodes = ",".join(str(node) for node in tier.nodes) or "-"
        limit = tier.limit or 0
        if limit and index == plan.nonheap_tier:
            # The runtime limits the heap; the rest of the process shares the tier with it.
            limit = max(PAGE, limit - plan.nonheap_bytes)
        lines.append(f"tier {index} nodes {nodes} capacity {limit}")
    return [*lines, f"default-tier {plan.default_tier}"]


def check_nodes(setting: Setting) -> None:
    """A machine file of another host must not bind memory here."""
    try:
        online = parse_list(Path("/sys/devices/system/node/online").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return
    missing = sorted({node for tier in setting.tiers for node in tier.nodes} - online)
    if missing:
        raise ThermoclineError(
            f"machine {setting.machine.name} names node {missing[0]}, which this host does not "
            "have: use --machine detect, or modelled = true in the file"
        )


def tiers_for(
    plan: Plan, host: Machine, plan_machine: Machine | None, limit: int | None
) -> Setting:
    """The host's tiers where it has as many as the plan speaks of, else modelled ones.

    A modelled tier exists in the books only: what a host with one kind of memory can do.  Its
    machine's caches are modelled with it, so that traffic means the same as in the profile.
    """
    usable = host if len(host.tier) >= plan.tiers and len(host.tier) > 1 else plan_machine
    if usable is None:
        if plan.tiers > 2:
            raise ThermoclineError(
                f"the plan needs {plan.tiers} tiers, but {host.name} has {len(host.tier)}: "
                "name the machine it was made for with --machine"
            )
        return Setting([RunTier("fast", (), limit), RunTier("slow", (), None)], host, True)
    if len(usable.tier) < plan.tiers:
        raise ThermoclineError(
            f"the plan needs {plan.tiers} tiers, but machine {usable.name} has "
            f"{len(usable.tier)}: make the plan again with --machine {usable.name}"
        )
    tiers = []
    for index, tier in enumerate(usable.tier):
        bound = tuple(tier.nodes) if usable is host and not tier.modelled else ()
        if index == 0:
            capacity = tier.capacity_bytes if not bound else None
            known = [value for value in (limit, capacity) if value is not None]
            tiers.append(RunTier(tier.name, bound, min(known) if known else None))
        else:
            last = index == len(usable.tier) - 1
            tiers.append(RunTier(tier.name, bound, None if bound or last else tier.capacity_bytes))
    return Setting(tiers, usable, any(not tier.nodes for tier in tiers))
