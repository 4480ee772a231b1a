"""Bursts of recording, with the plain code in between: real access counts at a few percent.

Arnold & Ryder 2001; Hirzel & Chilimbi 2001; docs/method-bursts.md.
"""

from thermocline.errors import Misuse
from thermocline.methods.base import Method, Request

OVERHEAD = 0.10  # of the run time, all told
RECORDING = 0.5  # of that: looking whether to record costs the rest


class Bursts(Method):
    """docs/method-bursts.md."""

    name = "bursts"
    summary = "counts from short bursts of recording, a few percent slower, works everywhere"

    def lacks(self) -> str:
        """Nothing: it needs neither counters nor permissions."""
        return ""

    def directives(self, request: Request) -> list[str]:
        """The twins, and how much of the time they may record."""
        self.needs_annotation(request)
        if request.rate or request.event:
            raise Misuse("--rate and --event are not for bursts: give --overhead")
        overhead = (request.overhead or OVERHEAD) * RECORDING
        return ["sampler bursts", f"option overhead-ppm {max(1, round(overhead * 1e6))}"]
