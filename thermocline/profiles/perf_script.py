"""What `perf script` prints of memory samples, a line each.

    PROGRAM  3603/3603  [020]   122.463754:   1   cpu/mem-loads/P:   7ffdf1391b0c   8688000842 |OP
    LOAD|LVL L3 or L3 hit|SNP N/A|TLB Walker hit|LCK No|BLK  N/A   43   aaaac17c3e88 f (/bin/x)

Command, processor, data source, weight and what follows may be missing.  Lines of another form
(call chains, comments) are skipped.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

# perf's numbers of PERF_SAMPLE_DATA_SRC (linux/perf_event.h), as runtime/sample/data_source.cpp.
_LOAD, _STORE = 0x02, 0x04
_MISS, _L3 = 0x04, 0x40
_CACHES = 0x08 | 0x10 | 0x20 | 0x40 | 0x400 | 0x800  # L1, LFB, L2, L3, remote caches
_RAM = 0x80 | 0x100 | 0x200  # local, remote
_CACHE_NUMBERS = range(0x01, 0x05), range(0x0B, 0x0D)  # L1 to L4; any cache, LFB
_MEMORY_NUMBERS = (0x09, 0x0D, 0x0E)  # CXL, RAM, PMEM

Served = Literal["", "cache", "memory"]

_LINE = re.compile(
    r"(?:^|\s)(?P<pid>[0-9]{1,10})(?:/(?P<tid>[0-9]{1,10}))?\s+(?:\[[0-9]{1,6}\]\s+)?"
    r"(?P<seconds>[0-9]{1,12})\.(?P<fraction>[0-9]{6}|[0-9]{9}):\s+(?P<period>[0-9]{1,18})\s+"
    r"(?P<event>\S{1,400}):\s+(?P<address>[0-9a-f]{1,16})"
    r"(?:\s+(?P<source>[0-9a-f]{1,16})\s+(?P<words>\|OP .*))?(?:\s|$)"
)
# Behind the words of the data source: a weight, which more numbers or nothing may follow.
_WEIGHT = re.compile(r"\s([0-9]{1,9})(?:\s+[0-9a-f]{1,16}\b.*)?\s*$")
_LONGEST = 4096


@dataclass(frozen=True)
class Sample:
    """One access; `load` and `store` are both false where the event doesn't say."""

    pid: int
    nanoseconds: int
    event: str
    period: int
    address: int
    load: bool = False
    store: bool = False
    served: Served = ""
    weight: int = 0  # cycles; 0: unknown


def samples(lines: Iterable[str]) -> Iterator[Sample]:
    """Of the lines that are samples; the others say nothing."""
    for line in lines:
        if len(line) <= _LONGEST and (found := _LINE.search(line)):
            yield _sample(found)


def _sample(found: re.Match[str]) -> Sample:
    # 0 says nothing of an access: perf prints a source of events that have none, too.
    load, store, served = data_source(int(found["source"] or "0", 16))
    told = _WEIGHT.search((found["words"] or "").rpartition("|")[2])
    return Sample(
        pid=int(found["pid"]),
        nanoseconds=int(found["seconds"]) * 10**9 + int(found["fraction"].ljust(9, "0")),
        event=found["event"],
        period=int(found["period"]),
        address=int(found["address"], 16),
        load=load,
        store=store,
        served=served,
        weight=int(told[1]) if told else 0,
    )


def data_source(word: int) -> tuple[bool, bool, Served]:
    """Whether it was a load, whether a store, and who served it."""
    operation, level = word & 0x1F, word >> 5 & 0x3FFF
    number = word >> 33 & 0xF
    missed = bool(level & _MISS)
    served: Served = ""
    if (level & _RAM and not missed) or (missed and level & _L3):
        served = "memory"  # "L3 miss": the source is unknown, but it is no cache
    elif missed:
        pass
    elif level & _CACHES or any(number in numbers for numbers in _CACHE_NUMBERS):
        served = "cache"
    elif number in _MEMORY_NUMBERS:
        served = "memory"
    return bool(operation & _LOAD), bool(operation & _STORE), served
