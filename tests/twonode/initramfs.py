"""Makes an initramfs (a cpio archive, "newc" form) of programs and what they load.

Written here rather than by cpio(1), because a device node (/dev/console) in the
archive then needs no root, and nothing needs to be laid out in a directory first.
"""

from __future__ import annotations

import re
import stat
import subprocess
from pathlib import Path
from typing import NamedTuple


class Entry(NamedTuple):
    mode: int
    content: bytes = b""
    device: tuple[int, int] = (0, 0)


class Initramfs:
    """Files by their path in the guest; a path that was added stays as it was added."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self.add_device("/dev/console", 5, 1)
        self.add_device("/dev/null", 1, 3)

    def add_bytes(self, path: str, content: bytes, mode: int = 0o644) -> None:
        self._add(path, Entry(stat.S_IFREG | mode, content))

    def add_file(self, path: str, source: Path) -> None:
        self.add_bytes(path, source.read_bytes(), stat.S_IMODE(source.stat().st_mode))

    def add_device(self, path: str, major: int, minor: int) -> None:
        self._add(path, Entry(stat.S_IFCHR | 0o600, device=(major, minor)))

    def add_elf(self, path: str, source: Path) -> None:
        """A program or shared library, with the libraries that it loads."""
        self.add_file(path, source)
        for library in loaded_libraries(source):
            self.add_file(str(library), library)

    def _add(self, path: str, entry: Entry) -> None:
        for parent in reversed(Path(path).parents):
            if str(parent) != "/":
                self._entries.setdefault(str(parent), Entry(stat.S_IFDIR | 0o755))
        self._entries.setdefault(path, entry)

    def archive(self) -> bytes:
        out = bytearray()
        for number, (path, entry) in enumerate(self._entries.items(), start=1):
            _append(out, number, path.lstrip("/"), entry)
        _append(out, 0, "TRAILER!!!", Entry(0))
        return bytes(out)


def _append(out: bytearray, inode: int, name: str, entry: Entry) -> None:
    path = name.encode() + b"\0"
    size = len(entry.content)
    # inode mode uid gid nlink mtime size, the file's device, the node's device, name, checksum
    fields = (inode, entry.mode, 0, 0, 1, 0, size, 0, 0, *entry.device, len(path), 0)
    out += b"070701" + b"".join(b"%08X" % field for field in fields) + path
    out += bytes(-len(out) % 4)
    out += entry.content
    out += bytes(-len(out) % 4)


def loaded_libraries(elf: Path) -> list[Path]:
    """What the dynamic linker would load for `elf`, at the paths where it finds it."""
    answer = subprocess.run(["ldd", elf], capture_output=True, text=True, check=False)
    text = answer.stdout + answer.stderr
    if answer.returncode != 0 and re.search(r"not a dynamic executable|statically linked", text):
        return []
    missing = re.findall(r"(\S+) => not found", text)
    if missing or answer.returncode != 0:
        raise FileNotFoundError(f"{elf} loads what is not there: {', '.join(missing) or text}")
    return [Path(path) for path in re.findall(r"(?:=> |^\s+)(/\S+) \(0x", text, re.MULTILINE)]
