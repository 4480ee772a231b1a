"""Runs a command under one of Peng et al.'s configurations: its processors, its memory's nodes.

The kernel does it (sched_setaffinity and set_mempolicy, as numactl does), and what the command
starts inherits it.  A configuration that this host or its firmware isn't set up for is refused with
what is missing.
"""

import ctypes
import os
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from thermocline.errors import ThermoclineError
from thermocline.machine import processors, topology
from thermocline.machine.configurations import Configuration
from thermocline.machine.detect import detect

_SET_MEMPOLICY = {"x86_64": 238, "aarch64": 237}
_GET_MEMPOLICY = {"x86_64": 239, "aarch64": 236}
_BIND, _INTERLEAVE = 2, 3
_MOST_NODES = 1024
_BITS = ctypes.c_ulong(_MOST_NODES + 1)
_NOWHERE, _NO_FLAGS = ctypes.c_void_p(), ctypes.c_ulong()
Mask = ctypes.Array[ctypes.c_ulong]


@dataclass(frozen=True)
class Host:
    """A host's nodes."""

    processors: dict[int, tuple[int, ...]]  # by node; one of each core
    memory: tuple[int, ...]
    near: tuple[int, ...]  # of tier 0
    far: tuple[int, ...]
    home: dict[int, int]  # node with memory -> the nearest node with processors
    memory_mode: bool  # fast memory works as a cache


@dataclass(frozen=True)
class Binding:
    """What a command gets."""

    processors: tuple[int, ...]
    nodes: tuple[int, ...]
    interleave: bool  # pages go to the nodes in turn; else wherever there is room among them


def this_host() -> Host:
    """As the kernel and hwloc show it."""
    machine = detect().machine
    cpus = {node: tuple(each) for node, each in processors.by_node().items()}
    near = tuple(machine.tier[0].nodes)
    far = tuple(node for tier in machine.tier[1:] for node in tier.nodes)
    memory = tuple(sorted((*near, *far)))
    home = {node: processors.nearest(node, list(cpus)) for node in memory}
    cached = topology.read(None).memory_side_cache_bytes > 0
    return Host(cpus, memory, near, far, home, cached)


def bind(configuration: Configuration, host: Host) -> Binding:
    """Where a command goes; an error says what the host lacks for it."""
    name = configuration.name
    if configuration.fsdax:
        raise ThermoclineError(
            f"{name}: a program that knows nothing of files can't have its memory in them: make an "
            "fsdax namespace (ndctl create-namespace --mode=fsdax), mount it with -o dax, and "
            f"allocate there, or take {name.replace('fsdax', 'numa')}"
        )
    if configuration.memory == "cache" and not host.memory_mode:
        raise ThermoclineError(
            f"{name}: this host's fast memory is no cache: that is a setting of the firmware "
            "(ipmctl create -goal MemoryMode=100, then reboot; on KNL, cache mode)"
        )
    if configuration.memory != "cache" and host.memory_mode:
        raise ThermoclineError(
            f"{name}: this host's fast memory works as a cache: set it to memory in the firmware "
            "(ipmctl create -goal MemoryMode=0 PersistentMemoryType=AppDirect, then reboot)"
        )
    if configuration.memory in ("far", "interleave") and not host.far:
        raise ThermoclineError(
            f"{name}: this host shows no second kind of memory: make it memory of a node "
            "(daxctl reconfigure-device --mode=system-ram all)"
        )
    return _place(configuration, host)


def _place(configuration: Configuration, host: Host) -> Binding:
    kinds = {"near": host.near, "far": host.far, "interleave": host.memory, "cache": host.memory}
    nodes = kinds[configuration.memory]
    sockets = sorted(host.processors)
    if configuration.sockets == "all":
        cpus = tuple(cpu for node in sockets for cpu in host.processors[node])
        return Binding(cpus, nodes, interleave=True)
    if len(sockets) < 2 and configuration.sockets == "remote":
        raise ThermoclineError(
            f"{configuration.name}: remote memory wants two sockets, this host has one"
        )
    wanted = sockets[0 if configuration.sockets == "local" else 1]
    there = tuple(node for node in nodes if host.home[node] == wanted)
    if not there:
        kind = "big memory" if configuration.memory == "far" else "memory"
        raise ThermoclineError(f"{configuration.name}: there is no {kind} next to node {wanted}")
    return Binding(host.processors[sockets[0]], there, interleave=False)


@contextmanager
def applied(binding: Binding) -> Iterator[None]:
    """Binds this thread, and so all that it starts meanwhile; afterwards it is as it was."""
    processors = os.sched_getaffinity(0)
    before = _policy()
    mask = (ctypes.c_ulong * (_MOST_NODES // 64))()
    for node in binding.nodes:
        mask[node // 64] |= 1 << node % 64
    _set_policy(_INTERLEAVE if binding.interleave else _BIND, mask)
    try:
        os.sched_setaffinity(0, binding.processors)
        yield
    finally:
        os.sched_setaffinity(0, processors)
        _set_policy(*before)


def _policy() -> tuple[int, Mask]:
    """This thread's mode and nodes."""
    mode, mask = ctypes.c_int(), (ctypes.c_ulong * (_MOST_NODES // 64))()
    _call(_GET_MEMPOLICY, ctypes.byref(mode), ctypes.byref(mask), _BITS, _NOWHERE, _NO_FLAGS)
    return mode.value, mask


def _set_policy(mode: int, mask: Mask) -> None:
    _call(_SET_MEMPOLICY, ctypes.c_int(mode), ctypes.byref(mask) if any(mask) else None, _BITS)


def _call(numbers: Mapping[str, int], *arguments: object) -> None:
    number = numbers.get(platform.machine())
    if number is None:
        raise ThermoclineError(f"set_mempolicy's number on {platform.machine()} is not known to us")
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(ctypes.c_long(number), *arguments) != 0:
        raise ThermoclineError(
            f"memory can't be bound: {os.strerror(ctypes.get_errno())} (in a container, allow it "
            "with --cap-add SYS_NICE)"
        )
