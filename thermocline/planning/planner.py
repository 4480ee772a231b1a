"""Makes plans: profiles + machine + capacity + strategy -> plan."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from thermocline.errors import Misuse
from thermocline.machine.model import Machine
from thermocline.planning import speed
from thermocline.planning.capacity import Capacity
from thermocline.planning.model import Plan, PlannedSite
from thermocline.planning.predict import Prediction, predict
from thermocline.profiles import merge
from thermocline.profiles.model import Profile
from thermocline.strategies import NAMES, SPLITTING, TIMED, by_density, registry
from thermocline.strategies.fastest import Memory

NonheapTier = int | Literal["none"]


@dataclass(frozen=True)
class Request:
    """What is asked of a plan."""

    machine: Machine
    capacity: Capacity
    strategy: str
    nonheap_tier: NonheapTier = 0
    split: bool = False  # a site may be in several tiers
    sharing: int = 1  # processes that a host's memory is divided among, such as MPI ranks

    def limit_for(self, profile: Profile) -> int:
        """Tier 0's capacity for this input, never above what the machine has."""
        asked = self.capacity.of(profile.peak_resident_bytes)
        if self.capacity.share is None:  # a share of the peak is the process's own already
            asked //= self.sharing
        return min(asked, self.machine.tier[0].capacity_bytes // self.sharing)

    def limits_for(self, profile: Profile) -> list[int | None]:
        """All tiers' capacities."""
        rest = [tier.capacity_bytes // self.sharing for tier in self.machine.tier[1:]]
        return [self.limit_for(profile), *rest]


def check(request: Request) -> None:
    """Refuses what makes no sense."""
    if request.strategy not in NAMES:
        raise Misuse(f"no strategy {request.strategy!r}: choose one of {', '.join(NAMES)}")
    if request.strategy in TIMED:
        speed.of(request.machine)
    if request.split and request.strategy != SPLITTING:
        raise Misuse(
            f"--split is for the strategy {SPLITTING}: {request.strategy} takes sites whole"
        )
    tiers = len(request.machine.tier)
    if tiers < 2:
        raise Misuse(
            f"machine {request.machine.name} has one kind of memory, so there is nothing to plan: "
            "name another with --machine (see 'thermocline machine list')"
        )
    if request.nonheap_tier != "none" and not 0 <= request.nonheap_tier < tiers:
        raise Misuse(f"no tier {request.nonheap_tier}: {request.machine.name} has {tiers}")


def ranks_of_a_host(profiles: Sequence[Profile]) -> int:
    """How many of them ran on the host that had most; Misuse where they are no MPI ranks."""
    for profile in profiles:
        if profile.rank is None:
            raise Misuse(
                f"--ranks: the profile of process {profile.pid} is no MPI rank's: profile with "
                "'thermocline profile -- mpirun ...', or leave --ranks out"
            )
    if len({profile.rank for profile in profiles}) < len(profiles):
        raise Misuse("--ranks: a rank comes twice: give the profiles of one run")
    return max(Counter(profile.host for profile in profiles).values())


def make(profiles: Sequence[Profile], request: Request, names: Sequence[str] = ()) -> Plan:
    """A plan for one input, or across several."""
    return make_and_predict(profiles, request, names)[0]


def make_and_predict(
    profiles: Sequence[Profile], request: Request, names: Sequence[str] = ()
) -> tuple[Plan, list[Prediction]]:
    """A plan, and what it would do to each of the inputs it was made from."""
    check(request)
    if not profiles:
        raise Misuse("a plan needs a profile: make one with 'thermocline profile -- CMD'")
    demand = merge.of_many(profiles, [request.limit_for(profile) for profile in profiles])
    room = demand.capacity
    if request.nonheap_tier == 0:
        room = max(0, room - demand.nonheap)
    memory = _memory(profiles, request, demand, room) if request.strategy in TIMED else None
    choice = registry(memory)[request.strategy](demand.candidates, room)
    traffic: dict[str, int] = {}
    paths: dict[str, dict[str, None]] = {}  # ordered sets
    for profile in profiles:
        for site in profile.heap:
            traffic[site.key] = traffic.get(site.key, 0) + site.traffic_bytes
            paths.setdefault(site.key, {}).update(dict.fromkeys(site.paths))
    sites = []
    for candidate in by_density(demand.candidates):
        moved = traffic[candidate.key] // len(profiles)
        sites.append(
            PlannedSite(
                tier=choice.tier_of(candidate.key),
                bytes=candidate.bytes,
                traffic_bytes=moved,
                hotness=moved / candidate.bytes if candidate.bytes else 0.0,
                reason=choice.reason_for(candidate.key),
                shares=list(choice.shares.get(candidate.key, ())),
                spread=candidate.key in choice.spread,
                paths=list(paths[candidate.key]),
                key=candidate.key,
            )
        )
    plan = Plan(
        strategy=request.strategy,
        machine=request.machine.name,
        capacity=request.capacity.text,
        capacity_bytes=max(request.limit_for(profile) for profile in profiles),
        default_tier=choice.default_tier,
        nonheap_tier=request.nonheap_tier,
        peak_resident_bytes=max(profile.peak_resident_bytes for profile in profiles),
        nonheap_bytes=max(profile.nonheap_bytes for profile in profiles),
        profiles=list(names),
        gap=choice.gap,
        preload_context=_preload_context(profiles),
        sites=sites,
    )
    predictions = [predicted(plan, profile, request) for profile in profiles]
    shares = [each.fast_share for each in predictions if each.fast_share is not None]
    mean = sum(shares) / len(shares) if shares else None
    return plan.model_copy(update={"predicted_fast_share": mean}), predictions


def _preload_context(profiles: Sequence[Profile]) -> int | None:
    """All paths are as long, or a run could not tell them apart as the profiles did."""
    contexts = {p.preload_context for p in profiles if p.preload_context is not None}
    if len(contexts) > 1:
        shown = ", ".join(str(context) for context in sorted(contexts))
        raise Misuse(f"the profiles were made with --context {shown}: a plan needs one of them")
    return contexts.pop() if contexts else None


def _memory(
    profiles: Sequence[Profile], request: Request, demand: merge.Demand, room: int
) -> Memory:
    """What a strategy that minimises time has to know of the machine and of non-heap data."""
    tiers = request.machine.tier
    reads, writes = [0] * len(tiers), [0] * len(tiers)
    home = 0 if request.nonheap_tier == "none" else request.nonheap_tier
    reads[home] = demand.nonheap_reads
    writes[home] = demand.nonheap_traffic - demand.nonheap_reads
    rooms = [room]
    for index, tier in enumerate(tiers[1:], start=1):
        rooms.append(
            max(
                0, tier.capacity_bytes // request.sharing - (demand.nonheap if index == home else 0)
            )
        )
    return Memory(
        speed.of(request.machine),
        tuple(rooms),
        tuple(reads),
        tuple(writes),
        request.split,
        merge.moments(profiles, [request.limit_for(profile) for profile in profiles]),
    )


def predicted(plan: Plan, profile: Profile, request: Request) -> Prediction:
    """What the plan would do to this input."""
    return predict(profile, plan, request.limits_for(profile))


@dataclass(frozen=True)
class Fold:
    """One input, planned from the others and from itself."""

    name: str
    from_others: float
    from_itself: float

    @property
    def regret(self) -> float:
        """What planning on other inputs loses, in shares of all traffic."""
        return self.from_itself - self.from_others

    def to_json(self) -> dict[str, str | float]:
        """One object."""
        return {
            "input": self.name,
            "fast_traffic_share_from_others": self.from_others,
            "fast_traffic_share_from_itself": self.from_itself,
            "regret": self.regret,
        }


def cross_validate(
    profiles: Sequence[Profile], names: Sequence[str], request: Request
) -> list[Fold]:
    """Leave one input out, plan from the rest, predict on the one left out."""
    if len(profiles) < 2:
        raise Misuse("--cross-validate needs profiles of at least two inputs")
    folds = []
    for index, profile in enumerate(profiles):
        others = [other for i, other in enumerate(profiles) if i != index]
        shares = []
        for basis in (others, [profile]):
            plan = make(basis, request)
            shares.append(predicted(plan, profile, request).fast_share or 0.0)
        folds.append(Fold(names[index], shares[0], shares[1]))
    return folds
