"""Records the end of a run in full, and of all before it each page's first touch.

A run is too long to simulate whole.  Sampling windows would leave pages untouched until a window
happens to see them, and lines that a memory-side cache holds would be missing.  So the region is
one piece, the last references of the run; what comes before it is thinned to the records that
touch a page for the first time, in their order: the operating system's placement is that of the
whole run.  The rest shows as holes in the trace (docs/trace-format.md), which cost no time.

Works between the program's recorder and `thermocline-trace collect`, on the raw stream.
"""

import os
import socket
import struct
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from thermocline.errors import ThermoclineError, one_line
from thermocline.machine.model import Machine
from thermocline.run import config
from thermocline.run.launch import CONFIG_VARIABLE
from thermocline.traces import PREFIX, tool

HEADER = struct.Struct("<IHHIIIIQQQQQ")  # simulator/trace/raw.h
MAGIC = 0x57524354
OWNERS, RECORDS, END = 3, 5, 7  # chunks
KIND, REFERENCE, RETURN = 15, 0, 6  # of records
RECORD = np.dtype(
    [
        ("address", "<u8"),
        ("instruction", "<u4"),
        ("owner", "<u4"),
        ("gap", "<u4"),
        ("word", "<u4"),
    ]
)
PAGE_SHIFT = np.uint64(12)
LATELY = 2**16
UNLIMITED = 2**47  # references: the recorder is to send everything

Records = npt.NDArray[np.void]


@dataclass
class Recorded:
    """What a recording came to."""

    references: int = 0  # that the program made
    kept_before: int = 0  # first touches before the region
    region: int = 0  # references recorded in full
    output: str = ""  # the program's
    pages: dict[str, int] = field(default_factory=dict)  # first touches, by owner


class Thinner:
    """Takes the chunks of one thread's stream and gives back what is kept of each."""

    def __init__(self, skip: int) -> None:
        """`skip`: references before the region."""
        self.skip = skip
        self.done = False  # whether what comes after is of no interest
        self.recorded = Recorded()
        self._seen: set[int] = set()
        # Pages that were seen, by their low bits: answers for nearly all at once.
        self._lately = np.full(LATELY, np.iinfo(np.uint64).max, np.uint64)
        self._owners: list[str] = []
        self._owned: dict[int, int] = {}

    def chunk(self, header: bytes, payload: bytes) -> list[tuple[bytes, bytes]]:
        """Chunks to pass on."""
        fields = list(HEADER.unpack(header))
        kind = fields[2]
        if kind == OWNERS:
            self._read_owners(payload)
        if kind == END:
            return [(header, self._ended(payload))]
        if kind != RECORDS:
            return [(header, payload)]
        if fields[5] != 0:
            raise ThermoclineError("the workload runs in several threads: record it with one")
        records = np.frombuffer(payload, RECORD)
        references = (records["word"] & KIND) == REFERENCE
        count = int(references.sum())
        first = self._first_touches(records, references)
        before = self.recorded.references
        self.recorded.references += count
        if before >= self.skip:
            self.recorded.region += count
            return [(header, payload)]
        kept = records[first]
        self.recorded.kept_before += int(((kept["word"] & KIND) == REFERENCE).sum())
        if len(kept) == 0:
            return []
        fields[3], fields[4] = kept.nbytes, len(kept)
        return [(HEADER.pack(*fields), kept.tobytes())]

    def finish(self) -> Recorded:
        """After the last chunk."""
        self.recorded.pages = {
            self._owners[owner]: pages for owner, pages in sorted(self._owned.items())
        }
        return self.recorded

    def _first_touches(
        self, records: Records, references: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.bool_]:
        """Which records are events, or the first to touch a page."""
        keep = np.asarray(~references, np.bool_)
        begin = 0
        # Pages that went back to the kernel are touched for the first time again.
        for end in np.flatnonzero((records["word"] & KIND) == RETURN).tolist():
            self._touch(records, keep, begin, end)
            self._forget(records[end])
            begin = end + 1
        self._touch(records, keep, begin, len(records))
        return keep

    def _touch(self, records: Records, keep: npt.NDArray[np.bool_], begin: int, end: int) -> None:
        """Sets `keep` of the first touches among records from `begin` to `end`."""
        pages = records["address"][begin:end] >> PAGE_SHIFT
        slots = pages & np.uint64(LATELY - 1)
        places = np.flatnonzero((self._lately[slots] != pages) & ~keep[begin:end])
        self._lately[slots[places]] = pages[places]
        for place, page in zip(places.tolist(), pages[places].tolist(), strict=True):
            if page not in self._seen:
                self._seen.add(page)
                keep[begin + place] = True
                owner = int(records["owner"][begin + place])
                self._owned[owner] = self._owned.get(owner, 0) + 1

    def _forget(self, event: np.void) -> None:
        size = int(event["instruction"]) << 27 | int(event["word"]) >> 5
        first = int(event["address"]) >> int(PAGE_SHIFT)
        gone = range(first, first + (size >> int(PAGE_SHIFT)))
        self._seen.difference_update(gone)
        slots = np.arange(gone.start, gone.stop, dtype=np.uint64) & np.uint64(LATELY - 1)
        self._lately[slots] = np.iinfo(np.uint64).max

    def _read_owners(self, payload: bytes) -> None:
        first, rows, _, _ = struct.unpack_from("<IIII", payload)
        offsets = struct.unpack_from(f"<{rows}I", payload, 16)
        strings = payload[16 + 4 * rows :]
        del self._owners[first:]
        for offset in offsets:
            end = strings.index(b"\0", offset)
            self._owners.append(strings[offset:end].decode("utf-8", "replace"))

    def _ended(self, payload: bytes) -> bytes:
        thread, instructions, _, dropped = struct.unpack_from("<QQQQ", payload)
        kept = self.recorded.kept_before + self.recorded.region
        return struct.pack("<QQQQ", thread, instructions, kept, dropped)


def record(
    command: Sequence[str],
    machine: Machine,
    skip: int,
    out: Path,
    thinner: Thinner | None = None,
    functions: tuple[str, ...] = (),
    stdin: Path | None = None,
) -> Recorded:
    """Runs the command, and writes its trace to `out`.

    `functions`: whose entering and leaving a thinner of another kind is told.
    """
    if not tool().exists():
        raise ThermoclineError(f"{tool()} is missing: run make build")
    with tempfile.TemporaryDirectory(prefix="thermocline-record-") as scratch:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(Path(scratch) / "socket"))
        listener.listen(1)
        part = config.Part(UNLIMITED, functions)
        text = config.for_recording(Path(scratch) / "socket", machine, part)
        file = Path(scratch) / "config"
        file.write_text(text, encoding="utf-8")
        with (Path(scratch) / "output").open("w+b") as output:
            with open(stdin or os.devnull, "rb") as input_:
                program = subprocess.Popen(
                    list(command),
                    env={**os.environ, CONFIG_VARIABLE: str(file)},
                    stdin=input_,
                    stdout=output,
                )
            thinner = thinner or Thinner(skip)
            try:
                with listener, _accepted(listener, program, command) as stream:
                    recorded = _through(stream, thinner, out)
                if thinner.done:
                    program.kill()
                status = program.wait()
            finally:
                if program.poll() is None:
                    program.kill()
                    program.wait()
            output.seek(0)
            recorded.output = output.read().decode("utf-8", "replace")
    if status != 0 and not thinner.done:
        raise ThermoclineError(f"{one_line(command[0])} failed with status {status}")
    return recorded


def _accepted(
    listener: socket.socket, program: subprocess.Popen[bytes], command: Sequence[str]
) -> socket.socket:
    listener.settimeout(0.2)
    while True:
        try:
            connection, _ = listener.accept()
        except TimeoutError:
            if program.poll() is not None:
                raise ThermoclineError(
                    f"{one_line(command[0])} ended without a recording: run make build"
                ) from None
            continue
        connection.settimeout(None)
        return connection


def _through(stream: socket.socket, thinner: Thinner, out: Path) -> Recorded:
    """From the program through the thinner to `thermocline-trace collect`."""
    theirs, ours = os.pipe()
    collector = subprocess.Popen(
        [str(tool()), "collect", "--fd", str(theirs), "-o", str(out), "--force"],
        pass_fds=[theirs],
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(theirs)
    try:
        with os.fdopen(ours, "wb") as sink, stream.makefile("rb", buffering=2**20) as source:
            while not thinner.done and (header := source.read(HEADER.size)):
                magic, _, _, size, *_ = HEADER.unpack(header)
                if magic != MAGIC:
                    raise ThermoclineError("the recording is damaged: record it again")
                payload = source.read(size)
                for head, body in thinner.chunk(header, payload):
                    sink.write(head)
                    sink.write(body)
    except BrokenPipeError:
        pass  # the collector says why
    said = (collector.communicate()[1] or "").splitlines()
    if collector.returncode != 0:
        reason = one_line(said[-1].removeprefix(PREFIX)) if said else "no reason was given"
        raise ThermoclineError(f"{out} was not written: {reason}")
    return thinner.finish()
