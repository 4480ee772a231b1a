"""What plans are made from: the exact profile, or what another method would have said instead.

A guidance is `exact`, `sample:RATE`, `mbi`, or a method that runs here (`pages`, `bursts`).  All
have the exact profile's sizes and times of first touch, which every method measures alike (the
profiling heap), so that plans differ by what their methods say of traffic and by nothing else.
"""

import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from thermocline import methods
from thermocline.machine.model import Machine
from thermocline.measuring.paired import Command
from thermocline.methods.base import Request
from thermocline.profiles import model as profile_model
from thermocline.profiles.model import Profile, Site
from thermocline.reproduce import cache, workloads
from thermocline.reproduce.workloads import Prepared

EXACT, MBI, SAMPLE = "exact", "mbi", "sample:"
LINE = 64  # bytes that a sampled miss stands for
# Bytes read and written, by site; what is not there moved nothing.
Traffic = Mapping[str, tuple[int, int]]


def sampled(rate: int) -> str:
    """Guidance by one load miss in so many."""
    return f"{SAMPLE}{rate}"


def runs_here(guidance: str) -> bool:
    """Whether the workload has to run for it, with a method's sampler."""
    return guidance not in (EXACT, MBI) and not guidance.startswith(SAMPLE)


def with_traffic(profile: Profile, traffic: Traffic, method: str) -> Profile:
    """The profile with each heap site's traffic replaced; the rest keeps its own."""
    sites = []
    for site in profile.sites:
        if site.kind == "nonheap":
            sites.append(site)
            continue
        read, write = traffic.get(site.key, (0, 0))
        nothing = [0] * len(site.series.read_bytes)
        series = site.series.model_copy(update={"read_bytes": nothing, "write_bytes": nothing})
        change = {"read_bytes": read, "write_bytes": write, "series": series}
        sites.append(site.model_copy(update=change))
    return profile.model_copy(update={"sites": sites, "method": method})


def load_misses(site: Site) -> int:
    """Lines that loads brought from memory, as far as an exact profile tells.

    It counts fills by loads and by stores together: as large a part of them is taken for loads'
    as loads are of the site's references.
    """
    references = site.loads + site.stores
    return site.read_bytes // LINE * site.loads // references if references else 0


def samples(profile: Profile, rate: int) -> dict[str, int]:
    """How many of each heap site's load misses one in `rate` would hit: binomial, seeded."""
    found = {}
    for site in profile.heap:
        seed = [rate, zlib.crc32(site.key.encode())]
        found[site.key] = int(np.random.default_rng(seed).binomial(load_misses(site), 1 / rate))
    return found


def thinned(profile: Profile, rate: int) -> Profile:
    """What sampling one load miss in `rate` would report: loads only (docs/method-sample.md)."""
    traffic = {key: (hits * rate * LINE, 0) for key, hits in samples(profile, rate).items()}
    return with_traffic(profile, traffic, "sample")


def isolated(profile: Profile, answer: Mapping[str, Any]) -> Profile:
    """What isolating each site would count, from one simulation with the prefetcher on.

    A run with a site alone on a tier counts that site's bytes.  The simulator counts them by site
    wherever they are, so one simulation says what a run a site would.
    """
    traffic: dict[str, tuple[int, int]] = {}
    for site in answer["sites"]:
        read, write = traffic.get(site["key"], (0, 0))
        for tier in site["tiers"]:
            read, write = read + int(tier["read_bytes"]), write + int(tier["write_bytes"])
        traffic[site["key"]] = (read, write)
    return with_traffic(profile, traffic, MBI)


def measured(
    prepared: Prepared, arguments: tuple[str, ...], machine: Machine, method: str
) -> Profile:
    """Runs the workload once with the method at its default setting; kept in the cache.

    `arguments`: of a run that lasts long enough for the method; `machine` has the caches that
    belong to its size.
    """
    request = Request((), Path(), machine, Path())
    lines = methods.find(method).directives(request)
    command = Command((str(prepared.executable), *arguments))
    caches = [each.model_dump(mode="json") for each in machine.cache]
    build = prepared.executable.parent.name
    key = cache.key(build, arguments, caches, lines, workloads.runtime_digest())

    def fill(folder: Path) -> None:
        workloads.profile(command, machine, lines, folder)

    folder = cache.folder(f"{prepared.job.program}-{prepared.job.context}-{method}-{key}", fill)
    return profile_model.load(folder / "profile")


def at_size(profile: Profile, larger: Profile) -> Traffic:
    """Another input's traffic per byte of each site, times the bytes that it has in this one."""
    sizes = {site.key: site.bytes for site in profile.heap}
    return {
        site.key: (
            site.read_bytes * sizes[site.key] // site.bytes,
            site.write_bytes * sizes[site.key] // site.bytes,
        )
        for site in larger.heap
        if site.bytes and site.key in sizes
    }


def text(guidance: str) -> str:
    """For people."""
    if guidance.startswith(SAMPLE):
        return f"sampling 1/{guidance.removeprefix(SAMPLE)} (emulated)"
    return {MBI: "mbi (simulated)"}.get(guidance, guidance)
