"""Samples of memory accesses from the processor: PEBS, IBS, SPE.

Olson et al. 2018, IV.C and VI.C; docs/method-sample.md.
"""

from thermocline.errors import Misuse
from thermocline.methods import perf_events, perf_open
from thermocline.methods.base import Method, Request

OVERHEAD = 0.05  # of the run time
SAMPLE_SECONDS = 5e-6  # what one costs: an interrupt, and its reading
LEAST_A_SECOND = 100


class Sample(Method):
    """docs/method-sample.md."""

    name = "sample"
    summary = "the processor's own samples of loads and stores, a few percent slower"

    def lacks(self) -> str:
        """Address sampling, or the permission for it."""
        events = perf_events.automatic()
        if not events:
            return (
                "the processor offers no samples with addresses: no PEBS (cpu/events/mem-loads; "
                "for some processors libpfm4 too: apt install libpfm4), IBS (ibs_op) or SPE "
                f"(arm_spe_*) in {perf_events.DEVICES}, as in most virtual machines"
            )
        return perf_open.refusal(events[0])

    def lacks_for(self, event: str | None) -> str:
        """The same for an event that the user names."""
        if event is None:
            return self.lacks()
        return perf_open.refusal(perf_events.named(event)[0])

    def directives(self, request: Request) -> list[str]:
        """The sampler, its events, and their rates."""
        events = perf_events.named(request.event) if request.event else perf_events.automatic()
        if request.rate and request.overhead:
            raise Misuse("give --rate or --overhead: a rate costs what it costs")
        overhead = request.overhead or OVERHEAD
        frequency = round(overhead / SAMPLE_SECONDS / max(1, len(events)))
        frequency = max(LEAST_A_SECOND, min(frequency, perf_open.most_a_second()))
        lines = ["sampler sample"]
        if not request.rate:
            lines.append(f"option overhead-ppm {round(overhead * 1e6)}")
        for number, event in enumerate(events, 1):
            lines.append(f"option event.{number} {event.option(request.rate, frequency)}")
        return lines
