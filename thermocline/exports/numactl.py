"""For numactl(8): one policy for the whole program.

The policy that comes nearest to a plan is the one that puts as many bytes into each tier:
weighted interleaving (Linux 6.9, numactl 2.0.19).  Which bytes, no policy of numactl's can say.
"""

from thermocline.errors import Misuse
from thermocline.exports.model import Export, bytes_by_tier
from thermocline.machine.model import Machine
from thermocline.planning.model import Plan
from thermocline.units import format_bytes, format_share

WEIGHTS = "/sys/kernel/mm/mempolicy/weighted_interleave/node"
MAX_WEIGHT = 32  # the kernel takes 255, but small arrays have few pages to go round


def export(plan: Plan, machine: Machine) -> Export:
    """A shell script that runs its arguments under the policy."""
    if missing := [tier.name for tier in machine.tier if not tier.nodes]:
        raise Misuse(
            f"{machine.name} does not say which nodes {missing[0]} is: make a machine file on the "
            "host itself ('thermocline machine detect') and name it with --machine"
        )
    held = bytes_by_tier(plan, len(machine.tier))
    if not sum(held):
        raise Misuse("the plan has no sites with bytes: there is nothing to export")
    used = [tier for tier, size in enumerate(held) if size]
    lines, lost = [], []
    if len(used) == 1:
        option = f"--preferred-many={_list(machine.tier[used[0]].nodes)}"
    else:
        weights = _weights(held, machine)
        alike = len(set(weights.values())) == 1
        option = f"--{'' if alike else 'weighted-'}interleave={_list(list(weights))}"
        if not alike:
            lines = ["# The weights are the whole host's, and only root may set them."]
            lines += [f"echo {weight} >{WEIGHTS}{node} || exit" for node, weight in weights.items()]
        lost.append("every page goes round all tiers, whatever its site")
        if plan.predicted_fast_share is not None:
            share, planned = held[0] / sum(held), plan.predicted_fast_share
            lost.append(
                f"{machine.tier[0].name} gets about {format_share(share)} of the traffic (its "
                f"share of bytes), by the plan {format_share(planned)}"
            )
        fast = _list(machine.tier[0].nodes)
        lost.append(f"the other choice, first come first served: numactl --preferred-many={fast}")
    sizes = ", ".join(
        f"{format_bytes(size)} in {tier.name}"
        for tier, size in zip(machine.tier, held, strict=True)
    )
    head = [
        "#!/bin/sh",
        f"# By the plan {plan.strategy} on {machine.name}: {sizes}.",
        *(f"# Lost: {text}." for text in lost),
    ]
    text = "\n".join([*head, *lines, f'exec numactl {option} -- "$@"', ""])
    return Export({".numactl.sh": text}, "sh {out}.numactl.sh {command}", lost)


def _list(nodes: list[int]) -> str:
    return ",".join(map(str, nodes))


def _weights(held: list[int], machine: Machine) -> dict[int, int]:
    """Of each node: small whole numbers in the ratio of bytes, a tier's nodes sharing alike."""
    parts = {
        node: size / len(tier.nodes)
        for tier, size in zip(machine.tier, held, strict=True)
        for node in tier.nodes
        if size
    }

    def error(scale: float) -> float:
        whole = [max(1, round(part * scale)) for part in parts.values()]
        shares = [part / sum(parts.values()) for part in parts.values()]
        return max(abs(w / sum(whole) - share) for w, share in zip(whole, shares, strict=True))

    # The smallest numbers within a point of the shares, or else the best there are.
    largest = max(parts.values())
    scales = [top / largest for top in range(1, MAX_WEIGHT + 1)]
    scale = next((one for one in scales if error(one) < 0.01), min(scales, key=error))
    return {node: max(1, round(part * scale)) for node, part in sorted(parts.items())}
