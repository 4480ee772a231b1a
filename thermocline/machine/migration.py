"""What moving pages costs on a machine: the optional table [migration]."""

from thermocline.machine.figures import Figure, Seconds
from thermocline.validation import Strict

# Moves by userfaultfd in the faulting thread took 5.5, 7.7 and 45 us for 4 KiB, 64 KiB and 2 MiB
# that were not copied, back 1.5, 3.9 and 61 us, and a shootdown beside a second thread 1.5 to 5 us.
_MEASURED = "assumed: of the order of userfaultfd's moves on Linux 6.18, one EPYC (Zen 3) guest"


def _assumed(seconds: float) -> Figure:
    return Figure(value=seconds, source=_MEASURED)


class Migration(Strict):
    """The kernel's work, copying left out.  What is left out is assumed."""

    fault: Seconds = _assumed(4e-6)  # of each touch of far data
    operation: Seconds = _assumed(1.4e-6)  # of each chunk that moves
    page: Seconds = _assumed(0.1e-6)  # of each 4 KiB in it
    shootdown: Seconds = _assumed(2e-6)  # for which every core stands still
