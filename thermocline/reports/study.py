"""What a report knows: the artefacts, put together and predicted from."""

from collections.abc import Sequence
from dataclasses import dataclass

from thermocline.errors import Misuse, ThermoclineError
from thermocline.machine import store
from thermocline.machine.model import Machine
from thermocline.planning import capacity as capacities
from thermocline.planning import planner, predict, speed
from thermocline.planning.model import Plan
from thermocline.planning.planner import Request
from thermocline.planning.predict import Prediction
from thermocline.profiles.merge import Candidate
from thermocline.profiles.model import Profile
from thermocline.reports.artefacts import Artefacts, Simulation
from thermocline.run.summary import Run
from thermocline.strategies import by_density


@dataclass(frozen=True)
class Planned:
    """A plan, and what it would do to the profiled run."""

    name: str
    plan: Plan
    prediction: Prediction
    seconds: float | None  # of memory time; None where the machine file has no bandwidths


@dataclass(frozen=True)
class Study:
    """One program.  `profile` is None where only simulations or runs were given."""

    program: str
    profile: Profile | None
    others: tuple[str, ...]  # profiles of other inputs: named, not drawn
    machine: Machine | None
    planned: tuple[Planned, ...]  # the plan that the report is about first
    first_touch: Planned | None
    simulations: tuple[tuple[str, Simulation], ...]
    runs: tuple[tuple[str, Run], ...]
    notes: tuple[str, ...]

    @property
    def plan(self) -> Plan | None:
        """The one that the report is about."""
        return self.planned[0].plan if self.planned else None

    @property
    def ranked(self) -> list[Candidate]:
        """The heap's sites, hottest byte first."""
        if self.profile is None:
            return []
        return by_density(
            [
                Candidate(s.key, s.bytes, s.traffic_bytes, s.first_touch_seconds or 0.0)
                for s in self.profile.heap
            ]
        )

    @property
    def room(self) -> int | None:
        """Bytes of tier 0 that the plan leaves to the heap."""
        plan = self.plan
        if plan is None or not plan.capacity_bytes:
            return None
        return int(predict.heap_limits(plan, [float(plan.capacity_bytes)])[0])

    @property
    def fast(self) -> str:
        """What tier 0 is called."""
        return self.machine.tier[0].name if self.machine else "the fast tier"


def of(artefacts: Artefacts, machine: str | None, capacity: str, strategy: str) -> Study:
    """Puts artefacts of one program together; plans, where there is a profile but no plan."""
    notes: list[str] = []
    programs = {profile.program for _, profile in artefacts.profiles}
    if len(programs) > 1:
        raise Misuse(
            f"profiles of several programs ({', '.join(sorted(programs))}): one report each"
        )
    profile = artefacts.profiles[0][1] if artefacts.profiles else None
    plans = list(artefacts.plans)
    found = _machine(machine, plans, notes)
    if profile is None and plans:
        notes.append("without a profile nothing can be predicted for the plans: add it")
    if profile is not None and not plans and found is not None and len(found.tier) > 1:
        request = Request(found, capacities.parse(capacity), strategy)
        plans.append((f"{strategy}, made for this report", planner.make([profile], request)))
    planned: list[Planned] = []
    first_touch = None
    if profile is not None and plans:
        _compare_keys(profile, plans, notes)
        planned = [_predicted(name, plan, profile, found) for name, plan in plans]
        head = plans[0][1]
        # Everything asks for tier 0, and what comes late spills.
        baseline = Plan(
            strategy="first-touch",
            machine=head.machine,
            capacity=head.capacity,
            capacity_bytes=head.capacity_bytes,
            nonheap_bytes=head.nonheap_bytes,
            default_tier=0,
        )
        first_touch = _predicted("first touch", baseline, profile, found)
    return Study(
        _program(artefacts),
        profile,
        tuple(name for name, _ in artefacts.profiles[1:]),
        found,
        tuple(planned),
        first_touch,
        tuple(artefacts.simulations),
        tuple(artefacts.runs),
        tuple(notes),
    )


def _program(artefacts: Artefacts) -> str:
    if artefacts.profiles:
        return artefacts.profiles[0][1].program
    for _, run in artefacts.runs:
        for process in run.processes:
            return process.program
    for _, simulation in artefacts.simulations:
        return simulation.rows[0].trace
    return artefacts.plans[0][0] if artefacts.plans else "program"


def _machine(
    asked: str | None, plans: Sequence[tuple[str, Plan]], notes: list[str]
) -> Machine | None:
    if asked is not None:
        return store.find(asked)
    for name, plan in plans:
        if plan.machine:
            try:
                return store.find(plan.machine)
            except ThermoclineError:
                notes.append(
                    f"{name} is for machine {plan.machine}, which is not here: no times "
                    "(--machine FILE)"
                )
                return None
    return None


def _compare_keys(profile: Profile, plans: Sequence[tuple[str, Plan]], notes: list[str]) -> None:
    known = {site.key for site in profile.sites}
    for name, plan in plans:
        strange = sum(1 for site in plan.sites if site.key not in known)
        if plan.sites and strange == len(plan.sites):
            raise Misuse(
                f"{name} names no site of {profile.program}'s profile: is it another program's?"
            )
        if strange:
            notes.append(f"{name} names {strange} sites that the profile does not have")


def _predicted(name: str, plan: Plan, profile: Profile, machine: Machine | None) -> Planned:
    count = max(2, plan.tiers, len(machine.tier) if machine else 0)
    limits: list[int | None] = [None] * count
    if machine is not None:
        limits = [tier.capacity_bytes for tier in machine.tier] + [None] * (
            count - len(machine.tier)
        )
    if plan.capacity_bytes:
        limits[0] = plan.capacity_bytes
    prediction = predict.predict(profile, plan, limits)
    if machine is None or len(machine.tier) != count or not speed.known(machine):
        return Planned(name, plan, prediction, None)
    traffic, reads = prediction.traffic, prediction.reads
    writes = [all_ - read for all_, read in zip(traffic, reads, strict=True)]
    return Planned(name, plan, prediction, speed.of(machine).seconds(reads, writes))
