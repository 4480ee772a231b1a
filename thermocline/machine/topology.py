"""Reading what hwloc and the kernel say about a host, live or recorded.

A recording is an hwloc XML file, with a copy of the parts of /sys that are read here
(`sys/devices/...`) in a directory NAME.sysfs beside it; or a directory with both, the XML named
`topology.xml`.
"""

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree

from thermocline.errors import BadFile, ThermoclineError
from thermocline.files import read_text

MIB = 2**20
NS = 10**9
_LSTOPO = ("lstopo-no-graphics", "--of", "xml", "--no-io")


@dataclass
class Node:
    """A NUMA node with memory."""

    index: int
    bytes: int
    subtype: str = ""
    info: dict[str, str] = field(default_factory=dict)
    read_bandwidth: float | None = None  # bytes a second, from the nearest initiator
    write_bandwidth: float | None = None
    latency: float | None = None  # seconds
    figures_from: str = ""
    memory_tier: int | None = None  # the kernel's rank, lower is faster
    has_cpus: bool | None = None  # None: unknown


@dataclass
class CacheLevel:
    """One level, told by its first instance."""

    level: int
    bytes: int
    ways: int
    line: int
    shared_by: int


@dataclass
class Topology:
    """What a host has."""

    model: str
    sockets: int
    cores: int
    threads: int
    caches: list[CacheLevel]
    nodes: list[Node]
    memory_side_cache_bytes: int = 0


def read(source: Path | None) -> Topology:
    """This host (None), an hwloc XML file, or a recorded directory."""
    recorded = os.environ.get("HWLOC_XMLFILE")
    if source is None and recorded:  # lstopo would obey it, and /sys would be another host's
        source = Path(recorded)
    if source is None:
        return parse(_live(), "lstopo", Path("/sys"))
    if source.is_dir():
        return parse(read_text(source / "topology.xml", 2**26), source, source / "sys")
    beside = source.with_suffix(".sysfs") / "sys"
    return parse(read_text(source, 2**26), source, beside if beside.is_dir() else None)


def _live() -> str:
    try:
        done = subprocess.run(_LSTOPO, capture_output=True, text=True, check=False, timeout=60)
    except FileNotFoundError as error:
        raise ThermoclineError(
            "machine detect needs hwloc's lstopo-no-graphics: install it (apt install hwloc)"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise ThermoclineError("lstopo-no-graphics does not answer") from error
    if done.returncode != 0:
        raise ThermoclineError(f"lstopo-no-graphics failed: {done.stderr.strip()[:200]}")
    return done.stdout


def parse(xml: str, path: object, sysfs: Path | None) -> Topology:
    """hwloc's XML (2.x), completed from a sysfs tree."""
    if "<!ENTITY" in xml:  # entities can grow without bound
        raise BadFile(path, "not an hwloc topology: it declares entities")
    try:
        root = ElementTree.fromstring(xml)
        return _topology(root, path, sysfs)
    except ElementTree.ParseError as error:
        raise BadFile(path, f"not XML: {error}") from error
    except (KeyError, ValueError) as error:
        raise BadFile(path, f"not an hwloc 2 topology: {error!r}") from error


def _topology(root: ElementTree.Element, path: object, sysfs: Path | None) -> Topology:
    objects = list(root.iter("object"))
    if root.tag != "topology" or not any(o.get("type") == "Machine" for o in objects):
        raise BadFile(path, "not an hwloc 2 topology: make one with 'lstopo --of xml FILE'")
    by_index: dict[str, Node] = {}
    for element in objects:
        if element.get("type") == "NUMANode" and int(element.get("local_memory", "0")) > 0:
            by_index[element.attrib["gp_index"]] = Node(
                index=int(element.attrib["os_index"]),
                bytes=int(element.attrib["local_memory"]),
                subtype=element.get("subtype", ""),
                info={i.attrib["name"]: i.attrib["value"] for i in element.findall("info")},
            )
    if not by_index:
        raise BadFile(path, "no NUMA node has memory in it")
    _memory_attributes(root, by_index)
    nodes = sorted(by_index.values(), key=lambda node: node.index)
    if sysfs is not None:
        for node in nodes:
            _complete(node, sysfs)
    return Topology(
        model=_model(objects),
        sockets=max(1, _count(objects, "Package")),
        cores=max(1, _count(objects, "Core") or _count(objects, "PU")),
        threads=max(1, _count(objects, "PU")),
        caches=_caches(objects),
        nodes=nodes,
        memory_side_cache_bytes=sum(
            int(o.get("cache_size", "0")) for o in objects if o.get("type") == "MemCache"
        ),
    )


def _count(objects: list[ElementTree.Element], kind: str) -> int:
    return sum(1 for o in objects if o.get("type") == kind)


def _model(objects: list[ElementTree.Element]) -> str:
    for element in objects:
        for info in element.findall("info"):
            if info.get("name") == "CPUModel" and info.get("value"):
                return " ".join(info.attrib["value"].split())
    return "unknown"


def _caches(objects: list[ElementTree.Element]) -> list[CacheLevel]:
    levels: dict[int, CacheLevel] = {}
    for element in objects:
        if element.get("type") not in ("L1Cache", "L2Cache", "L3Cache", "L4Cache"):
            continue
        level, size = int(element.attrib["depth"]), int(element.get("cache_size", "0"))
        if level in levels or size <= 0:
            continue
        cores = sum(1 for o in element.iter("object") if o.get("type") == "Core")
        line = max(16, int(element.get("cache_linesize", "0")) or 64)
        ways = _ways(size, line, int(element.get("cache_associativity", "0")))
        levels[level] = CacheLevel(level, size - size % (ways * line), ways, line, max(1, cores))
    return [levels[level] for level in sorted(levels)]


def _ways(size: int, line: int, told: int) -> int:
    """hwloc says 0 for unknown and -1 for fully associative: 16 ways then."""
    return told if 0 < told <= 1024 and size >= told * line else min(16, max(1, size // line))


def _memory_attributes(root: ElementTree.Element, by_index: dict[str, Node]) -> None:
    """The best initiator's value: what a local core gets."""
    scale: dict[str, tuple[str, Fraction, Callable[[float, float], float]]] = {
        "Bandwidth": ("read_bandwidth", Fraction(MIB), max),
        "ReadBandwidth": ("read_bandwidth", Fraction(MIB), max),
        "WriteBandwidth": ("write_bandwidth", Fraction(MIB), max),
        "Latency": ("latency", Fraction(1, NS), min),
        "ReadLatency": ("latency", Fraction(1, NS), min),
    }
    for attribute in root.iter("memattr"):
        known = scale.get(attribute.get("name", ""))
        if not known:
            continue
        name, unit, best = known
        for entry in attribute.findall("memattr_value"):
            node = by_index.get(entry.get("target_obj_gp_index", ""))
            value = float(int(entry.get("value", "0")) * unit)
            if node is None or value <= 0:
                continue
            old = getattr(node, name)
            setattr(node, name, value if old is None else best(old, value))
            node.figures_from = "hwloc memory attributes"


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text(encoding="ascii").strip())
    except (OSError, ValueError):
        return None


def _complete(node: Node, sysfs: Path) -> None:
    """HMAT's figures for the nearest initiators, the kernel's memory tier, CPUs."""
    directory = sysfs / "devices/system/node" / f"node{node.index}"
    near = directory / "access0/initiators"
    for name, unit in (
        ("read_bandwidth", MIB),
        ("write_bandwidth", MIB),
        ("read_latency", Fraction(1, NS)),
    ):
        value = _number(near / name)
        if value:
            setattr(node, name.replace("read_latency", "latency"), float(value * unit))
            node.figures_from = f"HMAT, node{node.index}/access0/initiators"
    try:
        cpus = (directory / "cpulist").read_text(encoding="ascii").strip()
        node.has_cpus = bool(cpus)
    except (OSError, ValueError):
        pass
    for tier in sorted((sysfs / "devices/virtual/memory_tiering").glob("memory_tier*")):
        try:
            rank = int(tier.name.removeprefix("memory_tier"))
            if node.index in parse_list((tier / "nodelist").read_text(encoding="ascii")):
                node.memory_tier = rank
        except (OSError, ValueError):
            continue


def parse_list(text: str) -> set[int]:
    """The kernel's list format: `0-2,5`."""
    numbers: set[int] = set()
    for part in text.strip().split(","):
        if part:
            first, _, last = part.partition("-")
            if int(last or first) > 65536:
                raise ValueError("list too long")
            numbers.update(range(int(first), int(last or first) + 1))
    return numbers
