"""Whether the kernel lets a process sample an event: by asking it."""

import ctypes
import errno
import os
import platform
from pathlib import Path

from thermocline.methods.perf_events import Event

_SYSCALL = {"x86_64": 298, "aarch64": 241}
_PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
_MOST_A_SECOND = Path("/proc/sys/kernel/perf_event_max_sample_rate")
_CLOSE_ON_EXEC = 8  # PERF_FLAG_FD_CLOEXEC
_DISABLED, _EXCLUDE_KERNEL, _EXCLUDE_HV = 1, 1 << 5, 1 << 6
_SAMPLE_ADDRESS = 1 << 3
_PRECISE_SHIFT = 15
_PERIOD = 1 << 20


def refusal(event: Event) -> str:
    """Why this event can't be sampled here and what helps, or nothing."""
    number = _SYSCALL.get(platform.machine())
    if number is None:
        return f"perf_event_open's number on {platform.machine()} is not known to us"
    words = (ctypes.c_uint64 * 16)()
    words[0] = event.type | ctypes.sizeof(words) << 32
    # A breakpoint's kind is where others have their watermark.
    breakpoint = event.type == 5
    words[1] = 0 if breakpoint else event.config
    words[2] = event.step * _PERIOD
    words[3] = _SAMPLE_ADDRESS
    words[5] = _DISABLED | event.precise << _PRECISE_SHIFT
    if event.user:
        words[5] |= _EXCLUDE_KERNEL | _EXCLUDE_HV
    words[6] = event.config << 32 if breakpoint else 0
    words[7], words[8] = event.config1, event.config2
    libc = ctypes.CDLL(None, use_errno=True)
    arguments = (ctypes.byref(words), 0, -1, -1, _CLOSE_ON_EXEC)
    file = libc.syscall(ctypes.c_long(number), *arguments)
    if file >= 0:
        os.close(file)
        return ""
    return _explain(event, ctypes.get_errno())


def _explain(event: Event, error: int) -> str:
    if error in (errno.EACCES, errno.EPERM):
        wanted = 2 if event.user else 1
        level = _number(_PARANOID, "unknown")
        return (
            f"the kernel does not permit {event.name} (kernel.perf_event_paranoid is {level}): as "
            f"root, sysctl kernel.perf_event_paranoid={wanted}, or give the command CAP_PERFMON"
        )
    if error in (errno.EOPNOTSUPP, errno.ENOENT, errno.ENODEV):
        return (
            f"this processor or virtual machine cannot sample {event.name} with addresses: "
            "use a host that can, or another method"
        )
    if error == errno.ENOSYS:
        return "the kernel has no perf events: use one with CONFIG_PERF_EVENTS"
    return f"the kernel refuses {event.name}: {os.strerror(error)}"


def most_a_second() -> int:
    """Samples a second and processor that the kernel grants."""
    return int(_number(_MOST_A_SECOND, "100000"))


def _number(file: Path, otherwise: str) -> str:
    try:
        text = file.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return otherwise
    return text if text.lstrip("-").isdecimal() else otherwise
