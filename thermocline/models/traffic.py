"""The bandwidth of traffic that is split over tiers.

Tiers that share channels take turns (Peng et al. 2019, Eq. 1):  1 / (M0/BW0 + M1/BW1)
Tiers on channels of their own work side by side:                1 / max(M0/BW0, M1/BW1)

Eq. 1 is largest with everything in the fastest tier; the parallel model has an optimum in between,
where all channels are busy all the time.
"""

from collections.abc import Sequence

from thermocline import units
from thermocline.errors import Misuse
from thermocline.machine.model import Machine
from thermocline.planning import speed

_SUM = 1e-6  # that shares may miss one by


def bandwidth(machine: Machine, shares: Sequence[float], writes: float = 0.0) -> float:
    """Bytes a second, of traffic of which each tier has a share and `writes` is written."""
    check(machine, shares)
    of = speed.of(machine)
    reads = [share * (1 - writes) for share in shares]
    return 1 / of.seconds(reads, [share * writes for share in shares])


def best(machine: Machine, writes: float = 0.0) -> tuple[float, ...]:
    """The shares with the highest bandwidth: each channel's fastest tier has its part."""
    of = speed.of(machine)
    rates = [1 / ((1 - writes) / r + writes / w) for r, w in zip(of.read, of.write, strict=True)]
    shares = [0.0] * len(rates)
    for channel in set(of.channel):
        fastest = max(
            (t for t in range(len(rates)) if of.channel[t] == channel), key=rates.__getitem__
        )
        shares[fastest] = rates[fastest]
    total = sum(shares)
    return tuple(share / total for share in shares)


def shown(machine: Machine) -> list[tuple[float, ...]]:
    """The splits that are worth a look: of two tiers, far ones' as in Peng et al. 2019, Fig. 17."""
    count = len(machine.tier)
    alone = [tuple(float(i == tier) for i in range(count)) for tier in range(count)]
    if count == 1:
        return alone
    splits = {*alone, tuple(round(share, 6) for share in best(machine))}
    if count == 2:
        splits |= {(1 - far, far) for far in (0.1, 0.3, 0.5, 0.7, 0.9)}
    return sorted(splits, reverse=True)


def parse(machine: Machine, text: str) -> tuple[float, ...]:
    """`90%,10%`: a share a tier, fastest first."""
    parts = [part.strip() for part in text.split(",")]
    try:
        shares = tuple(float(part.removesuffix("%")) / 100 for part in parts)
    except ValueError:
        raise Misuse(f"--split {text!r} is no split: write it like 90%,10%") from None
    if not all(part.endswith("%") for part in parts):
        raise Misuse(f"--split {text!r}: shares are in percent: write it like 90%,10%")
    check(machine, shares)
    return shares


def check(machine: Machine, shares: Sequence[float]) -> None:
    """Misuse unless there is a share a tier and they add up to one."""
    names = ", ".join(tier.name for tier in machine.tier)
    if len(shares) != len(machine.tier):
        raise Misuse(f"{machine.name} has the tiers {names}: give a share for each")
    if not all(0 <= share <= 1 for share in shares) or abs(sum(shares) - 1) > _SUM:
        total = units.format_share(sum(shares))
        raise Misuse(f"the shares of {names} add up to {total}: 100 % is wanted")


def name(machine: Machine, shares: Sequence[float]) -> str:
    """`90 % dram + 10 % optane`."""
    parts = zip(machine.tier, shares, strict=True)
    return " + ".join(f"{100 * share:.3g} % {tier.name}" for tier, share in parts if share)
