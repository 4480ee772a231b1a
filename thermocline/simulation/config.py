"""The simulator's configuration (docs/simulator.md) from a machine file, a scheme and a plan."""

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from thermocline.errors import Misuse
from thermocline.machine.devices import Fidelity
from thermocline.machine.figures import Count
from thermocline.machine.memories import SimulatedMemory, memories, unloaded_ps
from thermocline.machine.migration import Migration
from thermocline.machine.model import Machine, Tier
from thermocline.planning.model import Plan
from thermocline.simulation import organisations, translation
from thermocline.simulation import scale as scaling
from thermocline.simulation.organisations import PAGE
from thermocline.simulation.scheme import Scheme
from thermocline.simulation.translation import Choice

# Of a core that a machine file says nothing about: a middling out-of-order one.
_ASSUMED = {"width": 4, "window": 224, "outstanding": 12, "store_buffer": 56}
_ASSUMED_HERTZ = 2_500_000_000
_ASSUMED_CYCLES = (4, 14, 50, 60)  # of levels
_ASSUMED_REMOTE_PS = 75_000
# Ryoo 2017, sections 4.1.3 and 5.2.1: an epoch of HMA, and the slice that it is a part of.
_EPOCH_CYCLES = 100_000_000
_SLICE_INSTRUCTIONS = 1_000_000_000
_SWEEP_PS = 10_000  # of each page at its end: assumed


@dataclass(frozen=True)
class Setting:
    """What all simulations of one command share."""

    machine: Machine
    threads: int
    touched_bytes: int  # by the trace
    instructions: int = 0  # recorded, of all threads
    references: int = 0  # the same
    near_bytes: int | None = None  # a limit of tier 0 below the machine's own
    fidelity: Fidelity = "faithful"
    prefetcher: bool = True
    budget: int = 0  # references of each thread
    limit: float = 0.0  # simulated seconds, after which no reference begins; 0: none
    warm: int = 0  # references before which pages migrate at no cost
    seed: int = 0
    whole: bool = False  # the machine isn't made smaller
    region: dict[str, Any] = field(default_factory=dict)
    translation: Choice | None = None  # None: addresses cost nothing


@dataclass(frozen=True)
class Configured:
    """A configuration, and what a person should know of it."""

    json: dict[str, Any]
    scale: scaling.Scale
    assumed: list[str]


def configure(setting: Setting, trace: Path, scheme: Scheme, plan: Plan | None) -> Configured:
    """Everything that the simulator needs for one run."""
    machine = setting.machine
    scale = scaling.fit(machine, setting.threads, setting.whole, scheme.one_socket)
    assumed: list[str] = []
    hertz = _hertz(machine, assumed)
    caches = _caches(machine, scale, hertz, assumed)
    bytes_of = _tier_bytes(setting, scheme, scale)
    devices, tiers = _memories(setting, scale, bytes_of, caches[-1]["latency_ps"])
    if scheme.needs_plan:
        _check_plan(machine, scheme, plan)
    json = {
        "trace": str(trace),
        "budget": setting.budget,
        "seed": setting.seed,
        "threads": setting.threads,
        "thread_cores": list(range(setting.threads)),
        "cpu": _cpu(machine, scale, hertz, assumed),
        "caches": caches,
        "prefetcher": {"on": setting.prefetcher},
        "memories": devices,
        "tiers": tiers,
        "placement": _placement(setting, scheme, plan, hertz),
        "organisation": organisations.options(
            machine, scheme, scale, setting.fidelity, devices, plan
        ),
    }
    if setting.limit:
        json["limit_ps"] = round(setting.limit * 1e12)
    if setting.region:
        json["region"] = setting.region
    if setting.translation:
        json["translation"], more = translation.configuration(
            setting.translation,
            machine,
            hertz,
            setting.touched_bytes,
            [tier["nodes"][0]["bytes"] for tier in tiers],
        )
        assumed += more
    return Configured(json, scale, assumed)


def _hertz(machine: Machine, assumed: list[str]) -> int:
    if machine.cpu.frequency is None:
        assumed.append(f"{_ASSUMED_HERTZ / 1e9:g} GHz")
        return _ASSUMED_HERTZ
    return int(machine.cpu.frequency.value)


def _cpu(machine: Machine, scale: scaling.Scale, hertz: int, assumed: list[str]) -> dict[str, Any]:
    cpu = machine.cpu
    json: dict[str, Any] = {"hertz": hertz, "cores": scale.cores, "sockets": scale.sockets}
    for name, otherwise in _ASSUMED.items():
        json[name] = _count(getattr(cpu, name), otherwise, name.replace("_", " "), assumed)
    if cpu.core_watts is not None:
        json["core_watts"] = cpu.core_watts.value
    if scale.sockets > 1:
        if cpu.remote_latency is None:
            assumed.append(f"{_ASSUMED_REMOTE_PS / 1000:g} ns to the other socket")
        seconds = cpu.remote_latency.value if cpu.remote_latency else _ASSUMED_REMOTE_PS / 1e12
        json["remote_ps"] = round(seconds * 1e12)
        if cpu.link_bandwidth is not None:
            json["link_bandwidth"] = cpu.link_bandwidth.value * float(scale.factor)
    return json


def _count(figure: Count | None, otherwise: int, what: str, assumed: list[str]) -> int:
    if figure is not None:
        return int(figure.value)
    assumed.append(f"{what} {otherwise}")
    return otherwise


def _caches(
    machine: Machine, scale: scaling.Scale, hertz: int, assumed: list[str]
) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for cache in machine.cache:
        what = f"level {cache.level} in cycles:"
        cycles = _count(cache.cycles, _ASSUMED_CYCLES[cache.level - 1], what, assumed)
        size, shared_by = scaling.shared_cache(
            int(cache.bytes.value), cache.ways, cache.line, cache.shared_by, scale
        )
        made.append(
            {
                "bytes": size,
                "ways": cache.ways,
                "line": cache.line,
                "shared_by": shared_by,
                "latency_ps": round(cycles * 1e12 / hertz),
            }
        )
    return made


def _tier_bytes(setting: Setting, scheme: Scheme, scale: scaling.Scale) -> list[int]:
    """Of one socket's part of each tier."""
    sizes = [tier.capacity_bytes for tier in setting.machine.tier]
    if setting.near_bytes is not None:
        sizes[0] = min(sizes[0], setting.near_bytes)
    if scheme.unlimited:
        sizes[0] = max(sizes[0], setting.touched_bytes + PAGE * scale.sockets)
    if setting.near_bytes is not None and scheme.swaps:
        organisations.limit_far(sizes, setting.touched_bytes)
    return [max(PAGE, size // scale.sockets // PAGE * PAGE) for size in sizes]


def _memories(
    setting: Setting, scale: scaling.Scale, bytes_of: list[int], cache_ps: int
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    machine = setting.machine
    kept = translation.kept_bytes(setting.translation, setting.touched_bytes, len(bytes_of))
    whole = [size + beside for size, beside in zip(bytes_of, kept, strict=True)]
    devices: list[dict[str, Any]] = []
    tiers: dict[int, dict[str, Any]] = {}
    for memory in memories(machine, setting.fidelity):
        json = scaling.memory(memory.json, scale)
        base = _bases(memory, whole)
        if "nvm" in json and max(base.values()) > 0:
            json["nvm_base"] = max(base.values())
        first = len(devices)
        devices += [json] * scale.sockets
        added = scaling.added_ps(memory.json, json)
        for number in memory.tiers:
            tier = machine.tier[number]
            nodes = [
                {"memory": first + socket, "base": base[number], "bytes": bytes_of[number]}
                for socket in range(scale.sockets)
            ]
            tiers[number] = {
                "name": tier.name,
                "nvm": "nvm" in json and base[number] == json["nvm_base"],
                "path_ps": _path_ps(machine, tier, json, cache_ps + added),
                "nodes": nodes,
            }
    return devices, [tiers[number] for number in sorted(tiers)]


def _bases(memory: SimulatedMemory, bytes_of: list[int]) -> dict[int, int]:
    """Where each tier begins in a memory that two may share; the second on a large boundary."""
    if len(memory.tiers) == 1:
        return dict.fromkeys(memory.tiers, 0)
    near = next(number for number, base in memory.tiers.items() if base == 0)
    after = 1 << math.ceil(math.log2(bytes_of[near]))
    return {number: 0 if number == near else after for number in memory.tiers}


def _path_ps(machine: Machine, tier: Tier, json: dict[str, Any], inside_ps: int) -> int:
    """What lies between the last cache and the device: the rest of the measured latency."""
    if tier.latency is None:
        return 0
    link = json.get("link", {})
    known = inside_ps + unloaded_ps(machine, tier)
    known += link.get("request_ps", 0) + link.get("response_ps", 0)
    return max(0, round(tier.latency.value * 1e12) - int(known))


def _placement(setting: Setting, scheme: Scheme, plan: Plan | None, hertz: int) -> dict[str, Any]:
    machine = setting.machine
    json: dict[str, Any] = {"name": scheme.placement.name, **scheme.placement.options}
    if "random" in (json["name"], json.get("start")) and setting.near_bytes is not None:
        json["weights"] = _filled(setting)
    if json["name"] == "hma":
        whole = _EPOCH_CYCLES * 1e12 / hertz
        json.setdefault("epoch_ps", max(1_000_000, round(whole * _slice_share(setting))))
        json.setdefault("sweep_ps", round(_SWEEP_PS * min(1.0, json["epoch_ps"] / whole)))
    if json["name"] == "migrate":
        _migration(machine, json)
        if setting.warm:
            json["warm"] = setting.warm
    if scheme.placement.name == "interleave" and "weights" not in json:
        json["weights"] = _weights(machine)
    if plan is None or not scheme.guided:
        return json
    json["default_tier"] = plan.default_tier
    # "none" leaves it to the kernel: first touch.
    json["nonheap_tier"] = 0 if plan.nonheap_tier == "none" else plan.nonheap_tier
    json["sites"] = {site.key: site.tier for site in plan.sites}
    json["shares"] = {site.key: site.shares for site in plan.sites if site.shares}
    if spread := [site.key for site in plan.sites if site.spread]:
        json["spread"] = spread
    return json


def _migration(machine: Machine, json: dict[str, Any]) -> None:
    """What a chunk's move costs, where the scheme does not say it."""
    costs = machine.migration or Migration()
    for name in ("fault", "operation", "page", "shootdown"):
        json.setdefault(f"{name}_ps", round(getattr(costs, name).value * 1e12))
    near, far = (machine.tier[number].latency for number in (0, -1))
    if near and far:
        json["far_ps"] = max(0, round((far.value - near.value) * 1e12))


def _check_plan(machine: Machine, scheme: Scheme, plan: Plan | None) -> None:
    if plan is None:
        raise Misuse(f"scheme {scheme.name} needs a plan: give --plan (see 'thermocline plan')")
    if plan.tiers > len(machine.tier):
        raise Misuse(
            f"the plan names {plan.tiers} tiers, {machine.name} has {len(machine.tier)}:"
            " make a plan for this machine"
        )


def _slice_share(setting: Setting) -> float:
    """How long what is simulated is against the slice that an epoch belongs to; 1 at most."""
    each = setting.instructions / setting.threads
    if setting.budget and setting.references:
        each *= min(1.0, setting.budget * setting.threads / setting.references)
    return min(1.0, each / _SLICE_INSTRUCTIONS) if each else 1.0


def _filled(setting: Setting) -> list[int]:
    """What each tier would hold if all memory together were as large as the program."""
    left = setting.touched_bytes
    filled = []
    for number, tier in enumerate(setting.machine.tier):
        size = tier.capacity_bytes
        if number == 0 and setting.near_bytes is not None:
            size = min(size, setting.near_bytes)
        filled.append(min(size, left))
        left -= filled[-1]
    return filled


def _weights(machine: Machine) -> list[int]:
    """Small whole numbers that go as the tiers' read bandwidths."""
    rates = [tier.read_bandwidth.value if tier.read_bandwidth else 0.0 for tier in machine.tier]
    if min(rates) <= 0:
        return [1] * len(rates)
    return [max(1, round(4 * rate / min(rates))) for rate in rates]
