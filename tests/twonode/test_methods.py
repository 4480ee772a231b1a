"""The whole loop on two nodes by methods that need neither counters nor, one, a rebuild.

Profiled in the guest, planned here, run guided in the guest, where the program asks the kernel.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import kernel
import pytest
from conftest import TWO_NODES
from guest import Guest, boot
from initramfs import Initramfs
from programs import GUEST_DIRECTORY, Program, Programs, prefix

from thermocline import methods
from thermocline.machine import store
from thermocline.methods.base import Request
from thermocline.planning import capacity, planner
from thermocline.profiles import model
from thermocline.profiles.model import Profile, Site
from thermocline.profiles.preload import name_paths
from thermocline.run import config
from thermocline.run.config import RunTier, Setting

KNL = store.find("knl-7230")
MIB = 1 << 20
BYTES = 8 * MIB
PREFIX = "/job/heat"
CONTEXT = 2
WITH_RUNTIME = (
    Program("heat", ("heat.c",)),
    Program("plain", ("heat.c",), "cc"),
)


@pytest.fixture(scope="module")
def guest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guest]:
    scratch = tmp_path_factory.mktemp("methods")
    files = Initramfs()
    programs = Programs(scratch, WITH_RUNTIME)
    for program in WITH_RUNTIME:
        programs.built(program.name)
    programs.add_to(files)
    with boot(TWO_NODES, kernel.fetch(), files, scratch) as running:
        yield running


def exports(guest: Guest, text: str, preload: bool, **variables: str) -> str:
    guest.write("/job/configuration", text)
    variables["THERMOCLINE_CONFIG"] = "/job/configuration"
    if preload:
        variables["LD_PRELOAD"] = str(prefix().resolve() / "lib/thermocline/libthermocline.so")
    # `env` hands them to the program itself: the shell has no use for what is preloaded.
    return "env " + " ".join(f"{name}={value}" for name, value in variables.items())


def arrays(profile: Profile) -> list[Site]:
    """Hottest first."""
    found = [site for site in profile.heap if BYTES <= site.allocated_bytes < 2 * BYTES]
    return sorted(found, key=lambda site: -site.traffic_bytes)


def profiled(guest: Guest, method: str, preload: bool, scratch: Path) -> Profile:
    """Runs the program until its profile so far tells the arrays apart; then the whole profile."""
    context = CONTEXT if preload else None
    request = Request(["heat"], Path(PREFIX), KNL, scratch, context=context)
    lines = methods.find(method).directives(request)
    if method == "pages":  # looks as often as it can: emulated machines are slow
        lines = [line for line in lines if "overhead" not in line]
        lines.append("option overhead-ppm 1000000")
    text = config.for_profile(Path(PREFIX), KNL, lines, context)
    words = exports(guest, text, preload)
    guest.run(
        f"rm -f {PREFIX}.* /job/stop /job/status\n"
        f"({words} {GUEST_DIRECTORY}/{'plain' if preload else 'heat'} >/job/said 2>&1; "
        "echo $? >/job/status) </dev/null &"
    ).check()
    path = scratch / "heat.profile"
    deadline = time.monotonic() + 240
    while True:
        time.sleep(0.5)
        written = guest.run(f"cat {PREFIX}.*.profile 2>/dev/null").out
        if written:
            path.write_text(written)
            so_far = model.load(path)
            found = arrays(so_far)
            # Not on what was seen first: that may be the cold array's one touch.
            if (
                len(found) == 2
                and so_far.wall_seconds > 4
                and found[0].traffic_bytes > 8 * BYTES
                and found[0].traffic_bytes > 4 * found[1].traffic_bytes
            ):
                break
        assert time.monotonic() < deadline, written
    guest.run("touch /job/stop; until [ -s /job/status ]; do usleep 100000; done", 60).check()
    assert guest.run("cat /job/status").out.strip() == "0", guest.run("cat /job/said").out
    path.write_text(guest.run(f"cat {PREFIX}.*.profile").check())
    if preload:
        name_paths(path, CONTEXT)
    return model.load(path)


@pytest.mark.parametrize(
    ("method", "preload"),
    [("trace", False), ("bursts", False), ("pages", False), ("pages", True)],
    ids=["trace", "bursts", "pages", "pages-preload"],
)
def test_the_hot_array_is_found_and_put_on_the_fast_node(
    guest: Guest, method: str, preload: bool, tmp_path: Path
) -> None:
    profile = profiled(guest, method, preload, tmp_path)
    assert profile.method == method
    assert len(arrays(profile)) == 2
    request = planner.Request(KNL, capacity.parse("12MiB"), "thermos", nonheap_tier="none")
    plan = planner.make([profile], request)
    tiers = [RunTier("fast", (0,), 12 * MIB), RunTier("slow", (1,), None)]
    text = config.for_run(
        Path(PREFIX), plan, Setting(tiers, KNL, False), False, plan.preload_context
    )
    assert (plan.preload_context is not None) == preload
    words = exports(guest, text, preload, TIER0="0", TIER1="1")
    result = guest.run(f"{words} {GUEST_DIRECTORY}/{'plain' if preload else 'heat'} check", 60)
    result.check()
    assert result.err == ""
