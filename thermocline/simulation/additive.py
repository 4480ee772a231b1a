"""What translation costs a program, by the additive model of Ryoo 2017.

Equations 3.1 to 3.4, and 7.2 to 7.5, which are the same: the cycles that misses of the second-level
TLB took are taken away, and those that they would take otherwise are put in their place.  Overlap
of walks with other work is left out, for all alike.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Counters:
    """Of a whole run: events, in cycles where not said otherwise."""

    instructions: float  # I_total
    cycles: float  # C_total
    misses: float  # M_total: of the second-level TLB
    penalty: float  # P_total: all misses together

    def __post_init__(self) -> None:
        """Refuses what no run can count."""
        if min(self.instructions, self.cycles) <= 0 or min(self.misses, self.penalty) < 0:
            raise ValueError(
                "instructions and cycles must be above 0, misses and penalty not below"
            )
        if self.penalty >= self.cycles:
            raise ValueError("misses can't take all of a run's cycles")

    @property
    def ideal_cycles(self) -> float:
        """Without any penalty (equations 3.1 and 7.2)."""
        return self.cycles - self.penalty

    @property
    def average_penalty(self) -> float:
        """Cycles for each miss (equations 3.2 and 7.3); 0 without misses."""
        return self.penalty / self.misses if self.misses else 0.0

    def cycles_with(self, average_penalty: float) -> float:
        """If each miss took so many cycles (equations 3.3 and 7.4)."""
        return self.ideal_cycles + self.misses * average_penalty

    def instructions_per_cycle_with(self, average_penalty: float) -> float:
        """The same (equations 3.4 and 7.5)."""
        return self.instructions / self.cycles_with(average_penalty)

    def improvement(self, average_penalty: float) -> float:
        """By how much faster: 0.1 is 10 %."""
        return self.cycles / self.cycles_with(average_penalty) - 1


def bound(overhead: float) -> float:
    """The improvement if translation cost nothing, of a program that spends `overhead` of its time.

    o / (1 - o): equation 3.3 with a penalty of 0.
    """
    if not 0 <= overhead < 1:
        raise ValueError("an overhead is a share of time, from 0 to below 1")
    return overhead / (1 - overhead)


def improvement(overhead: float, penalty: float, replaced: float) -> float:
    """From a share of time and cycles for each miss, as the thesis' Table 7.1 has them.

    `penalty` is what a miss takes in the run that was measured, `replaced` what it would take.
    """
    if penalty <= 0 or replaced < 0:
        raise ValueError("a penalty is cycles: above 0 as measured, not below 0 otherwise")
    return 1 / (1 - overhead + overhead * replaced / penalty) - 1
