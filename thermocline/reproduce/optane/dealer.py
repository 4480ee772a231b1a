"""One thread's raw stream, turned into that of several while it is recorded."""

import struct

import numpy as np
import numpy.typing as npt

from thermocline.errors import ThermoclineError
from thermocline.reproduce import tail
from thermocline.reproduce.tail import END, HEADER, KIND, RECORD, RECORDS, REFERENCE, Records

ENTER, LEAVE = 4, 5
PAGE, LINE = 4096, 64
LINES = PAGE // LINE
NO_STATIC = 2**32 - 1


class Dealer(tail.Thinner):
    """Gives back a sweep over all pages that were touched, and then a kernel's references.

    The sweep reads each page that the program holds when the window begins, line by line: where
    pages are and what caches hold is then as if the graph had just been built.  Each thread has as
    many pages of it.  The window begins after `skip` references within the kernel and has at most
    `most` of them; what is outside of the kernel, such as checks, is left out.
    """

    def __init__(self, threads: int, skip: int, most: int) -> None:
        super().__init__(0)
        self.threads, self.begin, self.most = threads, skip, most
        self.entered = 0  # references within the kernel so far
        self.kept = 0  # of them in the window
        self.swept = 0  # pages of a thread in the sweep
        self._depth = self._turn = 0
        self._pages: dict[int, int] = {}  # that the program holds: the first owner
        self._executed, self._given = [0] * threads, [0] * threads

    def chunk(self, header: bytes, payload: bytes) -> list[tuple[bytes, bytes]]:
        """Chunks to pass on."""
        fields = list(HEADER.unpack(header))
        if fields[2] == END:
            return [self._end(fields)]
        if fields[2] != RECORDS:
            return super().chunk(header, payload)
        if fields[5] != 0:
            raise ThermoclineError("the workload runs in several threads: record it with one")
        records = np.frombuffer(payload, RECORD)
        keep = self._keep(records)
        made = []
        kept = records[keep]
        if self.kept == 0:
            self._hold(records)
        elif self.swept == 0:
            if not self._pages:
                self._hold(kept)
            made = self._sweep(fields)
        if len(kept) > 0:
            made.append(self._deal(fields, kept, self._turn))
            self._turn = (self._turn + 1) % self.threads
        if self.kept >= self.most:
            made.append(self._end(fields))
            self.done = True
        return made

    def _keep(self, records: Records) -> npt.NDArray[np.bool_]:
        """References of the window, and events in it."""
        kinds = records["word"] & KIND
        references = kinds == REFERENCE
        keep = np.asarray(~references, np.bool_) & (self.kept > 0)
        begin = 0
        for mark in [*np.flatnonzero((kinds == ENTER) | (kinds == LEAVE)).tolist(), len(records)]:
            if self._depth > 0:
                inside = np.flatnonzero(references[begin:mark]) + begin
                skipped = min(len(inside), max(0, self.begin - self.entered))
                wanted = inside[skipped : skipped + self.most - self.kept]
                keep[wanted] = True
                self.entered += len(inside)
                self.kept += len(wanted)
            if mark < len(records):
                keep[mark] = False
                self._depth += 1 if kinds[mark] == ENTER else -1
            begin = mark + 1
        return keep

    def _hold(self, records: Records) -> None:
        """Notes the pages that are touched or given back before the window."""
        first = self._first_touches(records, (records["word"] & KIND) == REFERENCE)
        for record in records[first]:
            kind = int(record["word"]) & KIND
            page = int(record["address"]) // PAGE
            if kind == REFERENCE:
                self._pages[page] = int(record["owner"])
            elif kind == tail.RETURN:
                size = int(record["instruction"]) << 27 | int(record["word"]) >> 5
                for each in range(page, page + size // PAGE):
                    self._pages.pop(each, None)

    def _sweep(self, fields: list[int]) -> list[tuple[bytes, bytes]]:
        pages = sorted(self._pages)
        self.swept = -(-len(pages) // self.threads)
        pages += pages[-1:] * (self.swept * self.threads - len(pages))
        made = []
        for thread in range(self.threads):
            mine = np.array(pages[thread :: self.threads], np.uint64)
            records = np.zeros((len(mine), LINES), RECORD)
            records["address"] = mine[:, None] * np.uint64(PAGE) + np.arange(
                0, PAGE, LINE, dtype=np.uint64
            )
            records["owner"] = [[self._pages[page]] for page in mine.tolist()]
            records["instruction"], records["word"] = NO_STATIC, LINE << 5
            flat = records.reshape(-1)
            for begin in range(0, len(flat), 2000):
                made.append(self._deal(fields, flat[begin : begin + 2000], thread))
        return made

    def _deal(self, fields: list[int], records: Records, thread: int) -> tuple[bytes, bytes]:
        head = list(fields)
        head[3], head[4], head[5], head[7] = records.nbytes, len(records), thread, 0
        head[7] = self._executed[thread]
        references = int(((records["word"] & KIND) == REFERENCE).sum())
        self._executed[thread] += int(records["gap"].sum()) + references
        self._given[thread] += references
        return HEADER.pack(*head), records.tobytes()

    def _end(self, fields: list[int]) -> tuple[bytes, bytes]:
        rows = zip(range(self.threads), self._executed, self._given, strict=True)
        ends = b"".join(struct.pack("<QQQQ", *row, 0) for row in rows)
        head = list(fields)
        head[2:8] = END, len(ends), self.threads, 0, 0, 0
        return HEADER.pack(*head), ends
