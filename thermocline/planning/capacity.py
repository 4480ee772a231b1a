"""A capacity as people give it: `25%` of the profiled peak resident set, or `4GiB`."""

import re
from dataclasses import dataclass
from fractions import Fraction

from thermocline import units
from thermocline.errors import Misuse

_PERCENT = re.compile(r"(\d{1,3}(?:\.\d{1,9})?)\s*%", re.ASCII)

PAGE = 4096


@dataclass(frozen=True)
class Capacity:
    """Either a share of the peak resident set or a number of bytes."""

    text: str
    share: Fraction | None
    bytes: int

    def of(self, peak_resident: int) -> int:
        """In bytes, for a program with this peak."""
        return self.bytes if self.share is None else int(self.share * peak_resident)


def parse(text: str) -> Capacity:
    """Reads a capacity."""
    match = _PERCENT.fullmatch(text.strip())
    if match:
        share = Fraction(match[1]) / 100
        if not 0 < share <= 1:
            raise Misuse(f"capacity {text!r}: a share lies above 0 and up to 100%")
        return Capacity(text.strip(), share, 0)
    try:
        count = units.parse_bytes(text)
    except Misuse as error:
        raise Misuse(f"capacity {text!r}: write it like 25% or 4GiB") from error
    if count <= 0:
        raise Misuse(f"capacity {text!r}: it must be above 0")
    if text.strip().isdecimal() and count < PAGE:
        raise Misuse(f"capacity {text!r} is less than a page: write it like 25% or 4GiB")
    return Capacity(text.strip(), None, count)
