"""What the items of chapter 6 share: simulations of one program whose pages move when touched.

One thread on the whole machine; memory, near and in all, and the last cache are divided by one
number.  Moves before the region are free, so that it begins with near memory full of what was used
last.  A run stops after so much simulated time, since a chunk of 2 MiB for each word takes for
ever: its time is compared with what the same references take when all data are near.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import geometric_mean
from typing import Any

from thermocline.machine import store
from thermocline.machine.model import Machine
from thermocline.reproduce.ryoo.mixes import (
    CONTEXT,
    Mix,
    MixRun,
    MixSize,
    MixStudy,
    with_smaller_shared_cache,
)
from thermocline.reproduce.study import Study
from thermocline.simulation import config
from thermocline.simulation import scheme as schemes

MB = 2**20
NEAR_MB = 400  # the thesis', section 6.3.1
FAR = 3.0  # far memory's latency over near memory's
FIXED = ("4K", "64K", "2M")
DYNAMIC = ("history", "sampling")
OURS = "adaptive"
POLICIES = (*FIXED, *DYNAMIC, OURS)
ALIKE = 0.05  # times this near are alike
ALL_NEAR = "all-fast"
COLOURS = {
    "4K": "#56b4e9",
    "64K": "#0072b2",
    "2M": "#9a9a9a",
    "history": "#e69f00",
    "sampling": "#cc79a7",
    OURS: "#d55e00",
}


@dataclass(frozen=True)
class MovedRun(MixRun):
    """A policy over one program; none: all data are near."""

    policy: str = ""
    near_mb: int = NEAR_MB  # in the thesis' size
    far: float = FAR

    def configuration(self, study: MixStudy) -> dict[str, Any]:
        """For the simulator."""
        prepared = study.prepared(self.program, self.context)
        setting = config.Setting(
            machine=_with_far(study.machines[6], self.far),
            threads=1,
            touched_bytes=int(prepared.survey["touched_bytes"]),
            near_bytes=self.near_mb * MB // study.size.near_divisor if self.policy else None,
            whole=True,
            warm=prepared.recorded.kept_before,
            limit=study.size.seconds if self.policy else 0.0,
        )
        scheme = schemes.parse(self.scheme)
        return config.configure(setting, prepared.trace, scheme, None).json


def chapter6(study: Study) -> tuple[MixStudy, list[Mix]]:
    """The study, and this chapter's programs."""
    assert isinstance(study, MixStudy)
    return study, study.of_chapter(6)


def run(
    study: MixStudy, mix: Mix, policy: str, near_mb: int = NEAR_MB, far: float = FAR
) -> MovedRun:
    """`policy` may have options; sampling's times are divided as the run's are."""
    name, _, options = policy.partition(":")
    if name == "sampling":
        sample, execution = (ms / study.size.time_divisor for ms in (10, 200))
        options = f"{options + ':' if options else ''}sample={sample:g}ms:execution={execution:g}ms"
    scheme = f"migrate:policy={name}{':' + options if options else ''}"
    return MovedRun(mix.name, CONTEXT, scheme, policy=policy, near_mb=near_mb, far=far)


def all_near(mix: Mix) -> MovedRun:
    """The measure of all others: nothing moves."""
    return MovedRun(mix.name, CONTEXT, ALL_NEAR)


def _at(answer: Mapping[str, Any], references: int) -> float:
    """When so many references had begun, in seconds."""
    points = [(0, 0.0), *map(tuple, answer["timeline"])]
    points.append((int(answer["references"]), float(answer["seconds"])))
    place = bisect_left(points, (references, 0.0))
    if place >= len(points):
        return float(answer["seconds"])
    (before, then), (after, later) = points[max(0, place - 1)], points[place]
    if after == before:
        return float(later)
    return float(then + (later - then) * (references - before) / (after - before))


@dataclass(frozen=True)
class Measured:
    """A run over its region."""

    slowdown: float  # over all data near, for the same references
    covered: float  # of the region
    references: int
    faults: int
    chunks: Mapping[str, Mapping[str, int]]  # by granularity
    shootdowns: int

    @property
    def moves(self) -> float:
        """Chunks moved, in and out, for each thousand references."""
        made = sum(each["in"] + each["out"] for each in self.chunks.values())
        return 1000 * made / max(1, self.references)


def measured(study: MixStudy, mix: Mix, run: MovedRun) -> Measured:
    """After simulate()."""
    before = study.mix(mix).recorded.kept_before
    answer, base = study.answer(run), study.answer(all_near(mix))
    end = int(answer["references"])
    near = _at(base, end) - _at(base, before)
    policy = answer["placement"].get("policy") or {}
    took = float(answer["seconds"]) - _at(answer, before)
    return Measured(
        took / near if near > 0 else 1.0,
        (end - before) / max(1, int(base["references"]) - before),
        end - before,
        int(policy.get("faults", 0)),
        policy.get("chunks", {}),
        int(policy.get("shootdowns", 0)),
    )


def slowdowns(
    study: MixStudy, mixes: Sequence[Mix], policies: Sequence[str] = POLICIES
) -> dict[str, dict[str, Measured]]:
    """By program and policy, at the thesis' capacity and latency."""
    return {
        mix.name: {policy: measured(study, mix, run(study, mix, policy)) for policy in policies}
        for mix in mixes
    }


def runs(
    study: MixStudy, mixes: Sequence[Mix], policies: Sequence[str] = POLICIES
) -> list[MovedRun]:
    """What slowdowns() looks at."""
    made = [all_near(mix) for mix in mixes]
    return made + [run(study, mix, policy) for mix in mixes for policy in policies]


def preference(found: Mapping[str, Measured]) -> str:
    """The fastest fixed granularity, or `none` if all three are alike."""
    times = {policy: found[policy].slowdown for policy in FIXED}
    if max(times.values()) <= (1 + ALIKE) * min(times.values()):
        return "none"
    return min(times, key=lambda policy: times[policy])


def best_fixed(found: Mapping[str, Measured]) -> float:
    """Its slowdown."""
    return min(found[policy].slowdown for policy in FIXED)


def mean(values: Sequence[float]) -> float:
    """Geometric."""
    return geometric_mean(values)


def _with_far(machine: Machine, ratio: float) -> Machine:
    """Far memory of so many times near memory's latency; bandwidths are not adjusted."""
    near, far = machine.tier
    assert near.latency is not None and far.latency is not None
    latency = far.latency.model_copy(update={"value": near.latency.value * ratio})
    tiers = [near, far.model_copy(update={"latency": latency})]
    return machine.model_copy(update={"tier": tiers})


def machine(size: MixSize) -> Machine:
    """The chapter's, with its last cache as small as the programs are."""
    return with_smaller_shared_cache(store.find("ryoo-migration"), size.near_divisor)


def notes(study: MixStudy) -> tuple[str, ...]:
    """What every number of chapter 6 was made at."""
    size = study.size
    return (
        f"one thread on {study.machines[6].name}, all of its channels; memory, near memory and the"
        f" last cache are the thesis' divided by {size.near_divisor}, chunks are not: near memory"
        f" holds {NEAR_MB / size.near_divisor / 2:g} chunks of 2 MiB (the thesis: 200)",
        f"a run ends after {1000 * size.seconds:g} simulated ms, and its time is over that of the"
        " same references with all data near; the share of the region that it covered stands in"
        " the data",
        f"sampling's 10 ms and 200 ms are divided by {size.time_divisor}; 8 regions must agree"
        " (history; not published)",
    )
