"""The paper's kernels as traces: a few streams over arrays, and chains of loads.

They are written from what the paper says of them, line by line, so that a point of a figure is a
known number of reads and writes in a known order; a compiled program would add its own.

An array's pages go round the sockets and each thread works on its own socket's: the paper's block
allocation, with threads to match (section 5).  The first pass touches them.
"""

import json
import struct
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from thermocline.errors import ThermoclineError, one_line
from thermocline.reproduce.tail import END, HEADER, MAGIC, OWNERS, RECORD, RECORDS
from thermocline.traces import PREFIX, tool

META, STATICS = 1, 2
PAGE, LINE = 4096, 64
LINES = PAGE // LINE
MOST = 2000  # records of a chunk
ALONE, CHAINED = 0, 1  # static instructions: a chained one waits for the one before
Records = npt.NDArray[np.void]

# Which arrays a line's work reads and writes, in order; as in docs/measure.md.
KERNELS: dict[str, tuple[tuple[str, bool], ...]] = {
    "read": (("a", False),),
    "nt-write": (("a", True),),
    "nt-copy": (("b", False), ("a", True)),
    "1r1w": (("a", False), ("a", True)),
    "2r1w": (("b", False), ("a", False), ("a", True)),
    "3r1w": (("c", False), ("b", False), ("a", False), ("a", True)),
    "copy": (("a", False), ("c", True)),
}
CHASES = ("sequential", "random")
CHASED = 16384  # loads of a chain
WINDOWS = 64  # of a sequential one, strewn over the array


@dataclass(frozen=True)
class Pattern:
    """A kernel over arrays of so many pages a thread; a chase has one thread."""

    kernel: str
    threads: int
    sockets: int
    pages: int  # of each array and thread
    passes: int
    gap: int = 1  # instructions between references

    @property
    def arrays(self) -> tuple[str, ...]:
        """By name."""
        if self.kernel in CHASES:
            return ("a",)
        return tuple(sorted({array for array, _ in KERNELS[self.kernel]}))

    @property
    def references(self) -> int:
        """Of a thread's pass."""
        return len(KERNELS.get(self.kernel, CHASES)) * self.pages * LINES

    @property
    def bytes(self) -> int:
        """That the program reads and writes in a pass: a line that is updated counts twice."""
        return self.threads * self.references * LINE

    @property
    def touched(self) -> int:
        """All arrays."""
        return len(self.arrays) * self.threads * self.pages * PAGE


def key(array: str) -> str:
    """An array's site."""
    return f"kernels!{array}@kernels.c:1"


CHAIN = "(chain)"  # owns the loads of a chase


def write(pattern: Pattern, out: Path) -> None:
    """The trace."""
    owners = [*(key(array) for array in pattern.arrays), CHAIN]
    with tempfile.TemporaryFile() as raw:
        raw.write(_chunk(META, json.dumps({"command": [pattern.kernel]}).encode(), 1))
        raw.write(_chunk(STATICS, _statics(), 2))
        raw.write(_chunk(OWNERS, _names(owners), len(owners)))
        ends = b""
        for thread in range(pattern.threads):
            executed = references = 0
            for records in _records(pattern, thread):
                for begin in range(0, len(records), MOST):
                    part = records[begin : begin + MOST]
                    raw.write(_chunk(RECORDS, part.tobytes(), len(part), thread, executed))
                    executed += int(part["gap"].sum()) + len(part)
                references += len(records)
            ends += struct.pack("<QQQQ", thread, executed, references, 0)
        raw.write(_chunk(END, ends, pattern.threads))
        raw.seek(0)
        command = [str(tool()), "collect", "--fd", str(raw.fileno()), "-o", str(out), "--force"]
        done = subprocess.run(
            command, pass_fds=[raw.fileno()], capture_output=True, text=True, check=False
        )
    if done.returncode != 0:
        said = one_line((done.stderr.splitlines() or ["?"])[-1].removeprefix(PREFIX))
        raise ThermoclineError(f"{out} was not written: {said}")


def _records(pattern: Pattern, thread: int) -> Iterator[Records]:
    if pattern.kernel in CHASES:
        yield from _chase(pattern)
        return
    # This thread's pages: those of its socket that are its turn.
    each = pattern.threads // pattern.sockets
    socket, place = divmod(thread, each)
    pages = socket + pattern.sockets * (place * pattern.pages + np.arange(pattern.pages))
    kernel = KERNELS[pattern.kernel]
    one = np.empty((len(pages) * LINES, len(kernel)), RECORD)
    for number, (array, store) in enumerate(kernel):
        index = pattern.arrays.index(array)
        one[:, number] = _references(_lines(index, pages), index, store, pattern.gap)
    for _ in range(pattern.passes):
        yield one.reshape(-1)


def _chase(pattern: Pattern) -> Iterator[Records]:
    """A pass that touches all, and then a chain of loads.

    A sequential chain is a second pass of which windows are chained: what lies in a cache by then
    is what a chain over everything would find.
    """
    lines = _lines(0, np.arange(pattern.pages))
    stream = _references(lines, 0, False, 0)
    yield stream
    if pattern.kernel == "random":
        chosen = np.random.default_rng(2019).integers(0, len(lines), CHASED)
        yield _references(lines[chosen], 1, False, 0, CHAINED)
        return
    length = min(CHASED, len(lines)) // WINDOWS
    for window in range(WINDOWS):
        begin, end = (len(lines) * each // WINDOWS for each in (window, window + 1))
        yield _references(lines[begin : begin + length], 1, False, 0, CHAINED)
        yield stream[begin + length : end]


def _lines(array: int, pages: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    addresses = (array + 1 << 40) + pages[:, None] * PAGE + np.arange(LINES) * LINE
    return addresses.reshape(-1).astype(np.uint64)


def _references(
    lines: npt.NDArray[np.uint64], owner: int, store: bool, gap: int, instruction: int = ALONE
) -> Records:
    made = np.zeros(len(lines), RECORD)
    made["address"], made["owner"], made["gap"] = lines, owner, gap
    made["instruction"], made["word"] = instruction, int(store) << 4 | LINE << 5
    return made


def _chunk(kind: int, payload: bytes, records: int, thread: int = 0, first: int = 0) -> bytes:
    return (
        HEADER.pack(MAGIC, 1, kind, len(payload), records, thread, 0, first, 0, 0, 0, 0) + payload
    )


def _names(names: Sequence[str]) -> bytes:
    strings, rows = b"", b""
    for name in names:
        rows += struct.pack("<I", len(strings))
        strings += name.encode() + b"\0"
    return struct.pack("<IIII", 0, len(names), 0, len(strings)) + rows + strings


def _statics() -> bytes:
    """Two loads, the second of which makes its own next address."""
    text = b"kernels.c:1 kernel\0"
    rows = struct.pack("<IIIII", LINE, 0, 0, 0, 0) + struct.pack("<IIIII", LINE, 0, 0, 1, 0)
    return struct.pack("<IIII", 0, 2, 1, len(text)) + rows + struct.pack("<I", CHAINED) + text
