"""Runs of programs that were not annotated, by LD_PRELOAD (docs/preload.md)."""

import os
import shutil
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

from thermocline import paths
from thermocline.errors import Misuse, ThermoclineError, one_line

CONTEXT = 4
MAX_CONTEXT = 16  # the runtime's
LIBRARY = "libthermocline.so"


def context_of(preload: bool, asked: int | None, plans: int | None = None) -> int | None:
    """How many callers a preloaded run tells apart; None: it is not one.

    `plans`: as many as the plan's sites have.
    """
    if asked is not None and not preload:
        raise Misuse("--context is for --preload: annotated programs have theirs from the build")
    if not preload:
        return None
    if asked is not None and plans is not None and asked != plans:
        raise Misuse(f"the plan tells {plans} callers apart: leave --context out")
    return next(value for value in (asked, plans, CONTEXT) if value is not None)


def environment() -> Mapping[str, str]:
    """What a preloaded command needs in its environment.

    CPython takes memory from malloc for objects above 512 bytes only, and its own arenas for the
    rest are no site's: PYTHONMALLOC, which nothing else reads, sends it all through malloc.
    """
    library = paths.library(LIBRARY)
    if not library.is_file():
        raise ThermoclineError(f"{library} is missing: run make build, or set THERMOCLINE_PREFIX")
    already = os.environ.get("LD_PRELOAD", "")
    separated = f"{library.absolute()}:{already}" if already else str(library.absolute())
    if ":" in str(library) or " " in str(library):
        raise Misuse(f"{library}: LD_PRELOAD takes no path with a blank or a colon")
    return {
        "LD_PRELOAD": separated,
        "PYTHONMALLOC": os.environ.get("PYTHONMALLOC") or "malloc",
    }


def check(command: Sequence[str]) -> None:
    """Refuses a program that the loader would start without our library."""
    found = shutil.which(command[0]) if command and command[0] else None
    if found is None:
        return  # starting it will say so
    path = Path(found).resolve()
    name = one_line(path.name)
    if _is_secure(path):
        raise Misuse(
            f"{name} runs with another user's or more rights, so that the loader ignores --preload "
            "for it: run what it starts instead"
        )
    if problem := _elf_problem(path):
        raise Misuse(f"--preload has no effect on {name}: {problem}")


def _is_secure(path: Path) -> bool:
    status = path.stat()
    if status.st_mode & stat.S_ISUID and status.st_uid != os.geteuid():
        return True
    if status.st_mode & stat.S_ISGID and status.st_gid != os.getegid():
        return True
    try:
        return bool(os.getxattr(path, "security.capability")) and os.geteuid() != 0
    except OSError:
        return False


def _elf_problem(path: Path) -> str:
    """Why LD_PRELOAD does nothing for this file; empty where it works, or it is no ELF file."""
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    try:
        with path.open("rb") as file:
            if file.read(4) != b"\x7fELF":
                return ""  # a script: its interpreter decides
            elf = ELFFile(file)
            if elf["e_machine"] != "EM_X86_64" or elf.elfclass != 64:
                return "it is not an x86-64 program"
            loaders = [s.data().rstrip(b"\0") for s in elf.iter_segments("PT_INTERP")]
    except (OSError, ELFError):
        return ""
    if not loaders:
        return "it is linked statically; build it with thermocline-clang, or without -static"
    if b"musl" in loaders[0]:
        return "it is linked to musl, and the runtime library to glibc"
    return ""
