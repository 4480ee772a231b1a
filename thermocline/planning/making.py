"""What `thermocline plan` does: a plan, what it would give, and what a trace says of its sites."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from thermocline.errors import Misuse
from thermocline.machine.model import Machine
from thermocline.planning import capacity as capacities
from thermocline.planning import huge, planner, speed, suitability
from thermocline.planning.model import Plan
from thermocline.planning.planner import NonheapTier, Request
from thermocline.planning.predict import Prediction
from thermocline.profiles.model import Profile
from thermocline.simulation.runner import Bars, no_bars


@dataclass(frozen=True)
class Compared:
    """What a plan would do to one input."""

    strategy: str
    input: str
    fast_traffic_share: float | None  # None without traffic
    capacity_bytes: int  # of tier 0
    fast_peak_bytes: int
    spilled_bytes: int  # that tier 0 was to hold, and could not
    memory_seconds: float | None  # None where the machine file has no bandwidths


@dataclass(frozen=True)
class Made:
    """A plan; `predicted` is of it and of first touch, for each input."""

    plan: Plan
    predicted: list[Compared]
    suits: Mapping[str, suitability.Site]  # with a trace
    walks: Mapping[str, huge.Site]  # with a trace, where huge pages were asked for


def nonheap_tier(text: str) -> NonheapTier:
    """A tier's number, or 'none'."""
    if text == "none":
        return "none"
    if not text.isdecimal() or len(text) > 3:
        raise Misuse(f"--nonheap-tier {text!r}: give a tier's number or 'none'")
    return int(text)


def request(
    profiles: Sequence[Profile],
    machine: Machine,
    capacity: str,
    strategy: str,
    nonheap: NonheapTier = 0,
    split: bool = False,
    ranks: bool = False,
) -> Request:
    """What is asked, checked; `ranks`: the profiles are one MPI run's, and share a host."""
    sharing = planner.ranks_of_a_host(profiles) if ranks else 1
    asked = Request(machine, capacities.parse(capacity), strategy, nonheap, split, sharing=sharing)
    planner.check(asked)
    return asked


def make(
    profiles: Sequence[Profile],
    names: Sequence[str],
    asked: Request,
    trace: Path | None = None,
    with_huge: bool = False,
    bars: Bars = no_bars,
) -> Made:
    """Plans for all profiles together.

    `trace`: of the same program; its simulation tells which sites suit a hardware cache and,
    `with_huge`, which are worth pages of 2 MiB.
    """
    plan, predictions = planner.make_and_predict(profiles, asked, names)
    suits = suitability.simulate(trace, asked.machine, plan, bars) if trace else {}
    plan = suitability.marked(plan, suits) if trace else plan
    walks = huge.simulate(trace, asked.machine, plan, bars) if with_huge and trace else {}
    plan = huge.marked(plan, walks)
    predicted = _rows(plan.strategy, predictions, profiles, names, asked)
    if plan.strategy != "first-touch":
        baseline = replace(asked, strategy="first-touch", split=False)
        _, without = planner.make_and_predict(profiles, baseline)
        predicted += _rows("first-touch", without, profiles, names, asked)
    return Made(plan, predicted, suits, walks)


def check_huge(with_huge: bool, trace: Path | None) -> None:
    """Misuse where huge pages are asked for and nothing tells of page walks."""
    if with_huge and trace is None:
        raise Misuse("--huge weighs page walks in a trace: give --trace (see 'thermocline trace')")


def predict(
    plan: Plan, profiles: Sequence[Profile], names: Sequence[str], machine: Machine
) -> list[Compared]:
    """What a plan would do to each of these runs, at the capacity that it was made for."""
    limit = plan.capacity_bytes or machine.tier[0].capacity_bytes
    text = plan.capacity or str(limit)
    asked = Request(machine, capacities.parse(text), plan.strategy, plan.nonheap_tier)
    predictions = [planner.predicted(plan, profile, asked) for profile in profiles]
    return _rows(plan.strategy, predictions, profiles, names, asked)


def _rows(
    strategy: str,
    predictions: Sequence[Prediction],
    profiles: Sequence[Profile],
    names: Sequence[str],
    asked: Request,
) -> list[Compared]:
    return [
        Compared(
            strategy,
            name,
            predicted.fast_share,
            asked.limit_for(profile),
            predicted.peak[0],
            predicted.spilled[0],
            _seconds(asked, predicted),
        )
        for profile, name, predicted in zip(profiles, names, predictions, strict=True)
    ]


def _seconds(asked: Request, predicted: Prediction) -> float | None:
    """What the tiers need for the traffic, if the machine file knows their speed."""
    if not speed.known(asked.machine):
        return None
    writes = [all_ - read for all_, read in zip(predicted.traffic, predicted.reads, strict=True)]
    return speed.of(asked.machine).seconds(predicted.reads, writes)
