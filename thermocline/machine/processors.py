"""This host's processors and memory, node by node, as the kernel lists them."""

import os
from pathlib import Path

from thermocline.machine.topology import parse_list

NODES = Path("/sys/devices/system/node")
PROCESSORS = Path("/sys/devices/system/cpu")


def by_node() -> dict[int, list[int]]:
    """Node -> one processor of each of its cores, of those that this process may use."""
    allowed = os.sched_getaffinity(0)
    found: dict[int, list[int]] = {}
    for directory in sorted(NODES.glob("node[0-9]*"), key=_number):
        cores: dict[frozenset[int], int] = {}
        for cpu in parse_list(_text(directory / "cpulist")):
            if cpu in allowed:
                cores.setdefault(_siblings(cpu), cpu)
        if cores:
            found[_number(directory)] = sorted(cores.values())
    return found or {0: sorted(allowed)}


def nearest(node: int, others: list[int]) -> int:
    """Of the nodes with processors, the one that the kernel says is least far from this one."""
    # Distances stand in the order of online nodes.
    online = sorted(parse_list(_text(NODES / "online")))
    far = dict(
        zip(online, map(int, _text(NODES / f"node{node}" / "distance").split()), strict=False)
    )
    return min(others, key=lambda other: (far.get(other, 255), other))


def free_bytes() -> dict[int, int]:
    """Node -> bytes that can be had there without swapping."""
    found = {}
    for directory in NODES.glob("node[0-9]*"):
        kib = {}
        for line in _text(directory / "meminfo").splitlines():
            words = line.split()
            if len(words) >= 4 and words[3].isdigit():
                kib[words[2].rstrip(":")] = int(words[3])
        if kib.get("MemTotal"):
            found[_number(directory)] = 1024 * (
                kib.get("MemFree", 0) + kib.get("Inactive(file)", 0)
            )
    return found or {0: os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")}


def _number(directory: Path) -> int:
    return int(directory.name.removeprefix("node"))


def _siblings(cpu: int) -> frozenset[int]:
    text = _text(PROCESSORS / f"cpu{cpu}" / "topology" / "thread_siblings_list")
    return frozenset(parse_list(text)) or frozenset([cpu])


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return ""
