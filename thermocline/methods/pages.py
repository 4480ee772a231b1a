"""Written and accessed pages, as the kernel sees them: no counters, no recompiling.

docs/method-pages.md.
"""

import ctypes
import mmap
import os
import platform
import struct
import sys
from pathlib import Path

from thermocline.errors import Misuse
from thermocline.methods.base import Method, Request

OVERHEAD = 0.05  # of the run time

_USERFAULTFD = {"x86_64": 323, "aarch64": 282}
_USER_MODE_ONLY = 1
_API = 0xAA  # UFFD_API
_IOCTL_API = 0xC018AA3F  # UFFDIO_API
_SOFT_DIRTY = 55  # bit of a page's word in pagemap
_WP_ASYNC = 1 << 15 | 1 << 13  # with WP_UNPOPULATED


class Pages(Method):
    """docs/method-pages.md."""

    name = "pages"
    summary = "pages written and accessed, from the kernel; a few percent slower"

    def lacks(self) -> str:
        """A kernel that tells which pages were written."""
        if _protects() or _has_soft_dirty():
            return ""
        return (
            f"Linux {platform.release()} does not tell which pages were written: it needs Linux "
            "6.7 with CONFIG_USERFAULTFD, or CONFIG_MEM_SOFT_DIRTY"
        )

    def directives(self, request: Request) -> list[str]:
        """The sampler and its budget."""
        if request.rate or request.event:
            raise Misuse("--rate and --event are for --method sample: pages takes --overhead")
        overhead = request.overhead or OVERHEAD
        return ["sampler pages", f"option overhead-ppm {round(overhead * 1e6)}"]


def _protects() -> bool:
    """Asynchronous write protection, as runtime/pages/written.cpp asks for it."""
    number = _USERFAULTFD.get(platform.machine())
    if number is None:
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    file = libc.syscall(ctypes.c_long(number), os.O_CLOEXEC | _USER_MODE_ONLY)
    if file < 0:
        return False
    words = ctypes.create_string_buffer(struct.pack("=QQQ", _API, _WP_ASYNC, 0))
    answer = libc.ioctl(file, ctypes.c_ulong(_IOCTL_API), words)
    os.close(file)
    return bool(answer == 0)


def _has_soft_dirty() -> bool:
    """A page that was just written has the bit."""
    with mmap.mmap(-1, mmap.PAGESIZE) as page:
        page[0] = 1
        address = ctypes.addressof(ctypes.c_char.from_buffer(page))
        try:
            with Path("/proc/self/pagemap").open("rb", buffering=0) as pagemap:
                pagemap.seek(address // mmap.PAGESIZE * 8)
                return bool(int.from_bytes(pagemap.read(8), sys.byteorder) >> _SOFT_DIRTY & 1)
        except OSError:
            return False
