"""THERMOCLINE_MEMORY: the machine's first two tiers, for calls of the allocation policies.

docs/policies.md; its reader is runtime/policies/memory.cpp.
"""

import os

from thermocline.run.config import Setting

VARIABLE = "THERMOCLINE_MEMORY"
MAX_SOCKETS = 16  # the library has as many


def text_of(setting: Setting) -> str | None:
    """Each fast node with its big one, in order; None where the tiers are in the books only."""
    if len(setting.tiers) < 2 or setting.modelled:
        return None
    fast, big = (sorted(tier.nodes) for tier in setting.tiers[:2])
    if len(fast) > MAX_SOCKETS:
        return None
    # As many of both, a socket each; or fewer big ones, which neighbours share.
    pairs = ",".join(
        f"{node}:{big[index * len(big) // len(fast)]}" for index, node in enumerate(fast)
    )
    percent = _fast_percent(setting)
    return pairs if percent is None else f"{pairs} weights {percent}:{100 - percent}"


def environment(setting: Setting) -> dict[str, str]:
    """What a run adds to its command's; what the user has set stays."""
    text = text_of(setting)
    return {} if text is None or VARIABLE in os.environ else {VARIABLE: text}


def _fast_percent(setting: Setting) -> int | None:
    """By read bandwidths, as spilling is about reads; only where they add up."""
    first, second, *_ = setting.machine.tier
    if setting.machine.share_channels(first, second):
        return None
    if not first.read_bandwidth or not second.read_bandwidth:
        return None
    fast, slow = first.read_bandwidth.value, second.read_bandwidth.value
    return round(100 * fast / (fast + slow))
