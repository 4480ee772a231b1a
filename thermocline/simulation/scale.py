"""A machine made as small as the trace: so many cores, and caches and channels to match.

Two threads can't saturate a memory that feeds 64 cores.  So cores, shared caches and channels
shrink by one factor, which is printed with the results; latencies don't.  What is less than a
channel becomes a channel with a bus so much slower.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from thermocline.errors import Misuse
from thermocline.machine.model import Machine

LINE = 64


@dataclass(frozen=True)
class Scale:
    """How much of a machine is simulated."""

    cores: int
    sockets: int
    factor: Fraction


def fit(machine: Machine, threads: int, whole: bool, one_socket: bool = False) -> Scale:
    """The part of a machine that so many threads deserve; `whole`: all of it.

    `one_socket`: all threads are on the first of its sockets, and the others' cores idle.
    """
    cores, sockets = machine.cpu.cores, machine.cpu.sockets
    if one_socket:
        each = cores // sockets
        if sockets < 2 or threads > each:
            raise Misuse(
                f"{machine.name} has {sockets} socket(s) of {each} cores: local and remote memory "
                f"want two sockets or more, and {threads} thread(s) on one of them"
            )
        if not whole:
            return Scale(threads * sockets, sockets, Fraction(threads, each))
    if threads > cores:
        raise Misuse(
            f"the trace has {threads} threads, {machine.name} {cores} cores:"
            " record as many threads as the machine has cores, or fewer"
        )
    if whole or threads == cores:
        return Scale(cores, sockets, Fraction(1))
    # A socket without threads is left out.
    used = math.gcd(sockets, threads) if threads >= sockets else 1
    return Scale(threads, used, Fraction(threads, cores))


def shared_cache(size: int, ways: int, line: int, shared_by: int, scale: Scale) -> tuple[int, int]:
    """Bytes of one instance, and the cores that share it."""
    per_socket = scale.cores // scale.sockets
    if scale.factor == 1 or shared_by <= per_socket:
        return size, min(shared_by, per_socket)
    sets = max(1, size * per_socket // shared_by // (ways * line))
    return sets * ways * line, per_socket


def memory(json: dict[str, Any], scale: Scale) -> dict[str, Any]:
    """A memory's part on one socket."""
    channels = Fraction(json["channels"]) * scale.factor / scale.sockets
    whole = math.ceil(channels)
    slower = whole / channels
    scaled = dict(json) | {"channels": whole}
    if slower == 1:
        return scaled
    dram = dict(json["dram"])
    timing = dict(dram["timing"])
    burst = dram["burst_cycles"]
    longer = math.ceil(burst * slower)
    # Column commands of a group stay as much farther apart as they were.
    apart = timing["ccd_l"] - timing["ccd_s"]
    timing["ccd_s"] = max(timing["ccd_s"], longer)
    timing["ccd_l"] = max(timing["ccd_l"], longer + (apart if longer == burst else 0))
    scaled["dram"] = dram | {"burst_cycles": longer, "timing": timing}
    if "link" in json:
        link = dict(json["link"])
        share = scale.factor / scale.sockets
        # A narrower link sends a line more slowly; its latency gives that back.
        for way, sent in (("request", 0), ("response", LINE)):
            whole_rate = link[f"{way}_bandwidth"]
            rate = max(1, int(whole_rate * share))
            added = (link["header_bytes"] + sent) * (1e12 / rate - 1e12 / whole_rate)
            link[f"{way}_bandwidth"] = rate
            link[f"{way}_ps"] = max(0, round(link[f"{way}_ps"] - added))
        scaled["link"] = link
    if "nvm" in json:
        nvm = dict(json["nvm"])
        for name in ("read_gap_ps", "write_gap_ps"):
            nvm[name] = math.ceil(nvm[name] * slower)
        scaled["nvm"] = nvm
    return scaled


def added_ps(original: dict[str, Any], scaled: dict[str, Any]) -> int:
    """What a slower bus adds to a read."""
    cycles = scaled["dram"]["burst_cycles"] - original["dram"]["burst_cycles"]
    return int(cycles * original["dram"]["clock_ps"])
