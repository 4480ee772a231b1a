"""libpfm4, which knows processors' events by name; of use only where it is installed."""

import ctypes
from functools import cache

_LIBRARY = "libpfm.so.4"
_USER = 0x8  # PFM_PLM3
_OS_PERF_EVENT = 1  # PFM_OS_PERF_EVENT: perf_event_attr, without the parts that perf adds


class _Attributes(ctypes.Structure):
    """struct perf_event_attr up to config2, in the room that later versions need."""

    _fields_ = [
        ("type", ctypes.c_uint32),
        ("size", ctypes.c_uint32),
        ("config", ctypes.c_uint64),
        ("sample_period", ctypes.c_uint64),
        ("sample_type", ctypes.c_uint64),
        ("read_format", ctypes.c_uint64),
        ("flags", ctypes.c_uint64),
        ("wakeup_events", ctypes.c_uint32),
        ("bp_type", ctypes.c_uint32),
        ("config1", ctypes.c_uint64),
        ("config2", ctypes.c_uint64),
        ("rest", ctypes.c_uint64 * 32),
    ]


class _Arguments(ctypes.Structure):
    """pfm_perf_encode_arg_t."""

    _fields_ = [
        ("attributes", ctypes.POINTER(_Attributes)),
        ("full_name", ctypes.POINTER(ctypes.c_char_p)),
        ("size", ctypes.c_size_t),
        ("index", ctypes.c_int),
        ("cpu", ctypes.c_int),
        ("flags", ctypes.c_int),
    ]


@cache
def _library() -> ctypes.CDLL | None:
    try:
        library = ctypes.CDLL(_LIBRARY)
    except OSError:
        return None
    return library if library.pfm_initialize() == 0 else None


def encode(name: str) -> tuple[int, int, int, int] | None:
    """An event's type, config, config1 and config2 on this processor; None if it is unknown."""
    library = _library()
    if library is None:
        return None
    attributes = _Attributes()
    arguments = _Arguments(
        attributes=ctypes.pointer(attributes), size=ctypes.sizeof(_Arguments), cpu=-1
    )
    answer = library.pfm_get_os_event_encoding(
        name.encode(), _USER, _OS_PERF_EVENT, ctypes.byref(arguments)
    )
    if answer != 0:
        return None
    return attributes.type, attributes.config, attributes.config1, attributes.config2
