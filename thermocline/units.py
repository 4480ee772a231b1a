"""Numbers with units, as people write them in files and on the command line.

Everything inside the project is in SI base units: bytes, bytes per second, seconds, joules,
hertz.  `GB` is 10^9 bytes and `GiB` 2^30, always.
"""

import re
from fractions import Fraction

from thermocline.errors import Misuse

_DECIMAL = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
_SMALL = {"": 1, "m": 10**3, "u": 10**6, "µ": 10**6, "n": 10**9, "p": 10**12}
_NUMBER = re.compile(r"\s*(\d{1,18}(?:\.\d{1,18})?)\s*([^\s\d]*)\s*", re.ASCII)


def _split(text: str, what: str, example: str) -> tuple[Fraction, str]:
    match = _NUMBER.fullmatch(text)
    if not match:
        raise Misuse(f"{text!r} is no {what}: write it like {example}")
    return Fraction(match[1]), match[2]


def parse_bytes(text: str) -> int:
    """`16GiB`, `16G` (binary, as memory sizes mostly are meant), `16GB` (decimal), `4096`."""
    number, unit = _split(text, "size", "16GiB")
    prefix = unit.removesuffix("B")
    if unit in ("", "B"):
        factor = 1
    elif prefix in _BINARY:
        factor = _BINARY[prefix]
    elif unit in _DECIMAL:  # a bare K, M, G, T
        factor = _BINARY[unit.upper() + "i"]
    elif prefix in _DECIMAL:
        factor = _DECIMAL[prefix]
    else:
        raise Misuse(f"{text!r} is no size: write it like 16GiB")
    return int(number * factor)


def parse_bandwidth(text: str) -> int:
    """`115.2GB/s` or `107GiB/s`, in bytes a second."""
    number, unit = _split(text, "bandwidth", "115.2GB/s")
    prefix = unit.removesuffix("B/s")
    factor = _DECIMAL.get(prefix) or _BINARY.get(prefix)
    if not unit.endswith("B/s") or factor is None:
        raise Misuse(f"{text!r} is no bandwidth: write it like 115.2GB/s")
    return int(number * factor)


def parse_frequency(text: str) -> int:
    """`1.3GHz`, in hertz."""
    number, unit = _split(text, "frequency", "1.3GHz")
    prefix = unit.removesuffix("Hz")
    if not unit.endswith("Hz") or prefix not in _DECIMAL:
        raise Misuse(f"{text!r} is no frequency: write it like 1.3GHz")
    return int(number * _DECIMAL[prefix])


def _parse_small(text: str, what: str, suffix: str, example: str) -> float:
    number, unit = _split(text, what, example)
    prefix = unit.removesuffix(suffix)
    if not unit.endswith(suffix) or prefix not in _SMALL:
        raise Misuse(f"{text!r} is no {what}: write it like {example}")
    return float(number / _SMALL[prefix])


def parse_seconds(text: str) -> float:
    """`130ns`, in seconds."""
    return _parse_small(text, "time", "s", "130ns")


def parse_watts(text: str) -> float:
    """`38W`, in watts."""
    return _parse_small(text, "power", "W", "38W")


def parse_joules_per_bit(text: str) -> float:
    """`3.9pJ/bit`, in joules a bit."""
    return _parse_small(text, "energy", "J/bit", "3.9pJ/bit")


def format_bytes(count: int) -> str:
    """For people: three figures and a binary unit."""
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.0f} B" if unit == "B" else f"{value:.3g} {unit}"
        value /= 1024
    return f"{value:.4g} TiB"


def exact_bytes(count: int) -> str:
    """For files: the largest binary unit that loses nothing."""
    for unit, factor in (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count and count % factor == 0:
            return f"{count // factor}{unit}"
    return f"{count}B"


def format_bandwidth(rate: float) -> str:
    """For people and files: `115.2GB/s`."""
    return f"{rate / 1e9:.6g}GB/s"


def format_time(seconds: float) -> str:
    """For people and files: `130ns`."""
    return f"{seconds * 1e9:.6g}ns"


def format_duration(seconds: float | None) -> str:
    """For people, in the unit that fits: `1.52 ms`; a dash where there is none."""
    if seconds is None:
        return "-"
    for scale, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def format_share(share: float | None) -> str:
    """A share in percent, or a dash where there is none."""
    return "-" if share is None else f"{100 * share:.1f} %"
