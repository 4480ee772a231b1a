"""The memory configurations of Peng et al. 2019, Table 2, by name.

DRAM is a machine's fastest tier, PMM its big one.  `-local` and `-remote` run on one socket with
its own or the other socket's memory; without either, on all sockets.  For a program, fsdax (data in
a mapped file of PMM) differs from numa (PMM as memory of nodes) in how it asks for memory only.
"""

import difflib
from dataclasses import dataclass
from typing import Literal

from thermocline.errors import Misuse

Memory = Literal["near", "far", "interleave", "cache"]
Sockets = Literal["local", "remote", "all"]


@dataclass(frozen=True)
class Configuration:
    """One row of the table."""

    name: str
    memory: Memory
    sockets: Sockets
    fsdax: bool = False

    @property
    def scheme(self) -> str:
        """The same for the simulator."""
        if self.memory == "interleave":
            return "interleave:weights=1/1:socket=in-turn*flat"
        where = "" if self.sockets == "all" else f":socket={self.sockets}"
        organisation = "memory-cache" if self.memory == "cache" else "flat"
        return f"one-tier:tier={0 if self.memory == 'near' else 1}{where}*{organisation}"


ALL = (
    Configuration("DRAM-local", "near", "local"),
    Configuration("DRAM-remote", "near", "remote"),
    Configuration("PMM-numa-local", "far", "local"),
    Configuration("PMM-numa-remote", "far", "remote"),
    Configuration("PMM-fsdax-local", "far", "local", fsdax=True),
    Configuration("PMM-fsdax-remote", "far", "remote", fsdax=True),
    Configuration("MemoryMode-local", "cache", "local"),
    Configuration("MemoryMode-remote", "cache", "remote"),
    Configuration("DRAM", "near", "all"),
    Configuration("PMM", "far", "all"),
    Configuration("DRAM-PMM-interleave", "interleave", "all"),
    Configuration("MemoryMode", "cache", "all"),
)
SCHEMES = {each.name: each.scheme for each in ALL}


def find(name: str) -> Configuration:
    """By name, in any case."""
    for each in ALL:
        if each.name.lower() == name.lower():
            return each
    names = [each.name for each in ALL]
    close = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {close[0]}? " if close else ""
    raise Misuse(f"no configuration {name!r}: {hint}there are {', '.join(names)}")
