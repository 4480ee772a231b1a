"""Writes traces for the tests: the raw stream of simulator/trace/raw.h."""

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

MAGIC, VERSION, MAX_RECORDS = 0x57524354, 1, 2000
META, STATICS, OWNERS, RECORDS, END = 1, 2, 3, 5, 7


@dataclass(frozen=True)
class Ref:
    """One reference; `instruction` is a row of the table of statics."""

    address: int
    owner: int = 0
    store: bool = False
    gap: int = 3
    instruction: int = 0
    size: int = 8


def _chunk(kind: int, payload: bytes, records: int, thread: int = 0, first: int = 0) -> bytes:
    header = struct.pack(
        "<IHHIIIIQQQQQ", MAGIC, VERSION, kind, len(payload), records, thread, 0, first, 0, 0, 0, 0
    )
    return header + payload


def _names(names: Sequence[str]) -> bytes:
    strings = b""
    rows = b""
    for name in names:
        rows += struct.pack("<I", len(strings))
        strings += name.encode() + b"\0"
    return struct.pack("<IIII", 0, len(names), 0, len(strings)) + rows + strings


def _statics(producers: Sequence[Sequence[int]]) -> bytes:
    rows = b""
    flat: list[int] = []
    for each in producers:
        rows += struct.pack("<IIIII", 8, 0, len(flat), len(each), 0)
        flat += each
    strings = b"test.c:1 main\0"
    head = struct.pack("<IIII", 0, len(producers), len(flat), len(strings))
    return head + rows + struct.pack(f"<{len(flat)}I", *flat) + strings


def write(
    path: Path,
    threads: Sequence[Sequence[Ref]],
    owners: Sequence[str],
    producers: Sequence[Sequence[int]] = ((),),
) -> Path:
    """A whole stream; `producers` of each static instruction."""
    out = _chunk(META, json.dumps({"command": ["./a.out"]}).encode(), 1)
    out += _chunk(STATICS, _statics(producers), len(producers))
    out += _chunk(OWNERS, _names(owners), len(owners))
    ends = b""
    for thread, references in enumerate(threads):
        executed = 0
        for begin in range(0, len(references), MAX_RECORDS):
            part = references[begin : begin + MAX_RECORDS]
            payload = b"".join(
                struct.pack(
                    "<QIIII", r.address, r.instruction, r.owner, r.gap, r.store << 4 | r.size << 5
                )
                for r in part
            )
            out += _chunk(RECORDS, payload, len(part), thread, executed)
            executed += sum(r.gap + 1 for r in part)
        ends += struct.pack("<QQQQ", thread, executed, len(references), 0)
    out += _chunk(END, ends, len(threads))
    path.write_bytes(out)
    return path
