"""Little memory by the kernel's own means: a limit (cgroups), and swap in compressed memory (zram).

It needs root, and leaves nothing behind: the swap is this process's, the group is one command's.
"""

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from thermocline.errors import ThermoclineError, one_line

MOUNTS = Path("/proc/self/mounts")
FIRST = "32767"  # of swap priorities, the highest
# The shell moves itself, so that the program begins in the group.
ENTER = 'echo $$ > "$0" && exec "$@"'


@dataclass(frozen=True)
class Controller:
    """Where groups with a limit are made, and what the limit's file is called."""

    folder: Path
    limit: str


@dataclass(frozen=True)
class Limited:
    """A command that ran with so little memory; `major_faults`: pages read from swap or files."""

    seconds: float
    ended: bool  # after the time that it was allowed
    major_faults: int
    status: int


def controller(mounts: str) -> Controller:
    """The memory controller among what is mounted, of cgroups 2 or 1."""
    found = [line.split()[:4] for line in mounts.splitlines()]
    for _, folder, kind, options in found:
        if kind == "cgroup" and "memory" in options.split(","):
            return Controller(Path(folder), "memory.limit_in_bytes")
    for _, folder, kind, _ in found:
        if kind == "cgroup2" and "memory" in _text(Path(folder) / "cgroup.controllers").split():
            return Controller(Path(folder), "memory.max")
    raise ThermoclineError("no cgroup limits memory here: mount cgroup2 with the memory controller")


@contextmanager
def compressed_swap(size: int) -> Iterator[None]:
    """A zram device of `size` bytes to swap to, before all other swap."""
    if os.geteuid() != 0:
        raise ThermoclineError("a memory limit and compressed swap need root")
    if shutil.which("modprobe"):
        subprocess.run(["modprobe", "zram"], capture_output=True, check=False)  # or it is built in
    device = _done(["zramctl", "--find", "--size", str(size)]).strip()
    try:
        _done(["mkswap", device])
        _done(["swapon", "--priority", FIRST, device])
        try:
            yield
        finally:
            _done(["swapoff", device])
    finally:
        _done(["zramctl", "--reset", device])


def run(command: Sequence[str], near: int, timeout: float) -> Limited:
    """The command, nothing printed, in a group of its own with `near` bytes for all it has."""
    at = controller(MOUNTS.read_text(encoding="utf-8"))
    group = at.folder / f"thermocline-{os.getpid()}"
    try:
        if at.limit == "memory.max":
            (at.folder / "cgroup.subtree_control").write_text("+memory")
        group.mkdir()
    except OSError as error:
        raise ThermoclineError(f"{group}: {error.strerror}: this needs the host's root") from error
    try:
        (group / at.limit).write_text(str(near))
        words = ["sh", "-c", ENTER, str(group / "cgroup.procs"), *command]
        begin = time.monotonic()
        with subprocess.Popen(
            words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            try:
                process.wait(timeout)
                ended = False
            except subprocess.TimeoutExpired:
                process.kill()
                ended = True
        seconds = time.monotonic() - begin
        faults = re.search(r"^pgmajfault (\d+)$", _text(group / "memory.stat"), re.MULTILINE)
        return Limited(seconds, ended, int(faults[1]) if faults else 0, process.returncode)
    finally:
        group.rmdir()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""


def _done(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise ThermoclineError(f"{command[0]} is missing: apt install util-linux") from error
    if done.returncode != 0:
        why = one_line(done.stderr or done.stdout)
        raise ThermoclineError(f"{' '.join(command[:2])}: {why}")
    return done.stdout
