"""Reading that is split over both memories, with more and more arithmetic: Figures 16 and 17."""

from thermocline.reproduce.optane import accumulate, common, small
from thermocline.reproduce.optane.runs import GUIDED, OptaneRun, of_kernel
from thermocline.reproduce.study import Study

INTENSITIES = tuple(2.0**power for power in range(-3, 6))  # flops a byte
OPTANE = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)  # its share of the traffic
GIB = 32  # that fits into either memory
NOTE = (
    "a flop is an instruction here, of which a core does four a cycle: the machine file's 32 flops"
    " a cycle are AVX-512's peak, of which the paper's kernel reaches a tenth"
)


def run(share: float, intensity: float) -> OptaneRun:
    """Every page in its share's memory, on both sockets; so many instructions between lines."""
    gap = max(0, round(intensity * small.LINE) - 1)
    placed = (("a", (1 - share, share)),)
    return of_kernel(accumulate.pattern(GIB, gap), GUIDED, placed=placed)


def runs() -> list[OptaneRun]:
    """All of them."""
    return [each for i in INTENSITIES for share in OPTANE for each in common.needs(run(share, i))]


def of(study: Study, share: float, intensity: float) -> tuple[float, common.Watts]:
    """Gflop/s of both sockets, and what is drawn meanwhile."""
    found = common.measured(study, run(share, intensity))
    watts = common.watts(common.of(study).whole_machine, found, common.SOCKETS)
    return found.rate * intensity, watts


def name(share: float) -> str:
    """As the paper names its lines."""
    return f"{100 * share:.0f} % Optane"
