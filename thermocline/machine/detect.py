"""From a topology to a machine file: which nodes are one tier, and which tier is faster."""

import os
import platform
import re
from dataclasses import dataclass
from pathlib import Path

from thermocline.machine import topology
from thermocline.machine.figures import Figure
from thermocline.machine.model import Cache, Cpu, Kind, Machine, Tier
from thermocline.machine.topology import Node, Topology

# Slower kinds later; used only where bandwidth is not known for every tier.
_ORDER: tuple[Kind, ...] = ("HBM", "MCDRAM", "DRAM", "GPU", "unknown", "CXL-DRAM", "NVM")
_SUBTYPES: dict[str, Kind] = {
    "MCDRAM": "MCDRAM",
    "HBM": "HBM",
    "DRAM": "DRAM",
    "CXL-DRAM": "CXL-DRAM",
    "NVM": "NVM",
    "CXL-NVM": "NVM",
    "GPUMemory": "GPU",
}


@dataclass
class Detection:
    """The machine, and what a person should know about how it was found."""

    machine: Machine
    notes: list[str]


@dataclass
class _Group:
    kind: Kind
    nodes: list[Node]

    def bandwidth(self) -> float | None:
        values = [node.read_bandwidth for node in self.nodes]
        known = [value for value in values if value is not None]
        return min(known) if len(known) == len(values) else None


def detect(source: Path | None = None) -> Detection:
    """This host (None) or a recorded one."""
    found = topology.read(source)
    notes: list[str] = []
    groups = _ordered(_groups(found, notes))
    _name_by_rank(groups)
    if len(groups) == 1:
        notes.append(
            "this machine has one kind of memory: one tier, nothing to place between; "
            "plans for other machines run here with modelled tiers"
        )
    if found.memory_side_cache_bytes:
        size = found.memory_side_cache_bytes / 2**30
        notes.append(
            f"{size:.4g} GiB of fast memory works as a cache of slower memory; "
            "it is no tier, and its hits are not modelled"
        )
    recorded = source or (Path(x) if (x := os.environ.get("HWLOC_XMLFILE")) else None)
    name = platform.node() if recorded is None else recorded.stem
    machine = Machine(
        format=1,
        name=re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("._-")[:60] or "host",
        description="made by 'thermocline machine detect'",
        cpu=Cpu(
            model=found.model,
            sockets=found.sockets,
            cores=found.cores,
            smt=max(1, min(16, found.threads // found.cores)),
            source="hwloc",
        ),
        cache=_caches(found, notes),
        tier=_tiers(groups),
    )
    return Detection(machine, notes)


def _kind(node: Node) -> Kind | None:
    """What hwloc or the kernel's driver says the node is; None where neither does."""
    if node.subtype in _SUBTYPES:
        return _SUBTYPES[node.subtype]
    if node.info.get("DAXType") == "NVM":
        return "NVM"
    if "CXLDevice" in node.info:
        return "CXL-DRAM"
    return None


def _alike(first: Node, second: Node) -> bool:
    """Same figures within a fifth, and the same rank for the kernel."""
    if first.memory_tier != second.memory_tier:
        return False
    for one, other in (
        (first.read_bandwidth, second.read_bandwidth),
        (first.latency, second.latency),
    ):
        if (one is None) != (other is None):
            return False
        if one is not None and other is not None and max(one, other) > 1.2 * min(one, other):
            return False
    # With no figures at all, memory that has no CPUs is another kind of memory.
    return first.read_bandwidth is not None or first.has_cpus == second.has_cpus


def _groups(found: Topology, notes: list[str]) -> list[_Group]:
    groups: list[_Group] = []
    for node in found.nodes:
        kind = _kind(node)
        for group in groups:
            same = group.kind == kind if kind else _alike(group.nodes[0], node)
            if same and (kind or group.kind == "unknown"):
                group.nodes.append(node)
                break
        else:
            groups.append(_Group(kind or "unknown", [node]))
    anonymous = [group for group in groups if group.kind == "unknown"]
    for group in anonymous:
        if group.nodes[0].has_cpus is not False or len(groups) == 1:
            group.kind = "DRAM"
        elif group.bandwidth() is None and group.nodes[0].memory_tier is None:
            listed = ", ".join(str(node.index) for node in group.nodes)
            notes.append(
                f"node {listed} has no CPUs and nothing tells its speed: taken as slower than "
                "DRAM; change the order in the file if that is wrong"
            )
    return groups


def _ordered(groups: list[_Group]) -> list[_Group]:
    """By bandwidth where every group has it, else by the kernel's rank, else by kind."""
    bandwidths = [group.bandwidth() for group in groups]
    ranks = [group.nodes[0].memory_tier for group in groups]
    if all(value is not None for value in bandwidths):
        return sorted(groups, key=lambda group: (-(group.bandwidth() or 0), group.nodes[0].index))
    if all(rank is not None for rank in ranks) and len(set(ranks)) == len(groups):
        return sorted(groups, key=lambda group: group.nodes[0].memory_tier or 0)
    return sorted(groups, key=lambda group: (_ORDER.index(group.kind), group.nodes[0].index))


def _name_by_rank(groups: list[_Group]) -> None:
    """An unknown kind that is faster than DRAM and has no CPUs is on-package memory."""
    dram = next((i for i, group in enumerate(groups) if group.kind == "DRAM"), None)
    for rank, group in enumerate(groups):
        if group.kind == "unknown" and dram is not None and rank < dram:
            group.kind = "HBM"


def _figure(value: float | None, node: Node) -> Figure | None:
    return None if value is None else Figure(value=value, source=node.figures_from)


def _tiers(groups: list[_Group]) -> list[Tier]:
    tiers = []
    names: dict[str, int] = {}
    for group in groups:
        stem = group.kind.lower() if group.kind != "unknown" else "slow"
        names[stem] = names.get(stem, 0) + 1
        name = stem if names[stem] == 1 else f"{stem}{names[stem]}"
        first = group.nodes[0]
        count = len(group.nodes)
        write = [node.write_bandwidth for node in group.nodes]
        tiers.append(
            Tier(
                name=name,
                kind=group.kind,
                capacity=Figure(value=sum(node.bytes for node in group.nodes), source="hwloc"),
                read_bandwidth=_figure(
                    None if group.bandwidth() is None else count * (group.bandwidth() or 0), first
                ),
                write_bandwidth=_figure(
                    None if None in write else sum(value or 0 for value in write), first
                ),
                latency=_figure(first.latency, first),
                nodes=[node.index for node in group.nodes],
            )
        )
    return tiers


def _caches(found: Topology, notes: list[str]) -> list[Cache]:
    if not found.caches:
        notes.append("the host tells no cache sizes: 32 KiB and 1 MiB are assumed")
        return [
            Cache(level=1, bytes=Figure(value=2**15, source="assumed"), ways=8),
            Cache(level=2, bytes=Figure(value=2**20, source="assumed"), ways=16),
        ]
    return [
        Cache(
            level=level.level,
            bytes=Figure(value=level.bytes, source="hwloc"),
            ways=level.ways,
            line=level.line,
            shared_by=level.shared_by,
        )
        for level in found.caches
    ]
