"""Writes traces for the tests: the raw stream of simulator/trace/raw.h."""

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

MAGIC, VERSION, MAX_RECORDS, RECORD_BYTES = 0x57524354, 1, 2000, 24
META, STATICS, OWNERS, RECORDS, END, PAGES = 1, 2, 3, 5, 7, 9


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
    large: Sequence[tuple[int, int]] | None = None,
) -> Path:
    """A whole stream; `producers` of each static instruction.

    `large`: addresses and bytes that were in pages of 2 MiB; None: nobody looked.
    """
    packed = [
        b"".join(
            struct.pack(
                "<QIIII", r.address, r.instruction, r.owner, r.gap, r.store << 4 | r.size << 5
            )
            for r in references
        )
        for references in threads
    ]
    steps = [[r.gap + 1 for r in references] for references in threads]
    path.write_bytes(_stream(packed, steps, owners, producers, large))
    return path


def write_records(path: Path, threads: Sequence[bytes], step: int, owners: Sequence[str]) -> None:
    """The same of records that are packed already, each `step` instructions after the last."""
    steps = [[step] * (len(records) // RECORD_BYTES) for records in threads]
    path.write_bytes(_stream(threads, steps, owners, ((),)))


def _stream(
    threads: Sequence[bytes],
    steps: Sequence[Sequence[int]],
    owners: Sequence[str],
    producers: Sequence[Sequence[int]],
    large: Sequence[tuple[int, int]] | None = None,
) -> bytes:
    out = [_chunk(META, json.dumps({"command": ["./a.out"]}).encode(), 1)]
    out.append(_chunk(STATICS, _statics(producers), len(producers)))
    out.append(_chunk(OWNERS, _names(owners), len(owners)))
    if large is not None:
        rows = b"".join(struct.pack("<QQ", *each) for each in large)
        out.append(_chunk(PAGES, rows, len(large)))
    ends = b""
    for thread, (records, mine) in enumerate(zip(threads, steps, strict=True)):
        executed = 0
        for begin in range(0, len(mine), MAX_RECORDS):
            part = mine[begin : begin + MAX_RECORDS]
            payload = records[begin * RECORD_BYTES : (begin + len(part)) * RECORD_BYTES]
            out.append(_chunk(RECORDS, payload, len(part), thread, executed))
            executed += sum(part)
        ends += struct.pack("<QQQQ", thread, executed, len(mine), 0)
    out.append(_chunk(END, ends, len(threads)))
    return b"".join(out)
