"""Page migration between nodes: the kernel says where the engine has put each page."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import kernel
import pytest
from conftest import TWO_NODES
from guest import Guest, boot
from initramfs import Initramfs
from programs import GUEST_DIRECTORY, REPOSITORY, Program, Programs, prefix

from thermocline.machine import store
from thermocline.machine.model import Tier
from thermocline.planning.model import Plan, PlannedSite
from thermocline.run import migration
from thermocline.run.launch import CONFIG_VARIABLE

MIB = 1 << 20
NEAR, DATA, HOT = 8 * MIB, 32 * MIB, 2 * MIB
FAR = DATA - NEAR + 2 * MIB  # the engine keeps a chunk's room free
PLAIN = f"{GUEST_DIRECTORY}/managed {DATA} 0 0"
ENGINE = f"{GUEST_DIRECTORY}/engine.so"
REPORT, CONFIGURATION = "/job/migration", "/job/plan"
BELOW = (
    Program("managed", ("managed.c",), "cc"),
    Program("kept", ("kept.c",)),
    Program("migrated", (str(REPOSITORY / "tests/loop/migrated.c"),), "cc", ("-pthread",)),
)


def tier(node: int) -> Tier:
    words = {"name": f"node{node}", "kind": "DRAM", "nodes": [node]}
    return Tier.model_validate(words | {"capacity": {"value": "1GiB", "source": "this test"}})


class Ran(NamedTuple):
    out: str
    report: dict[str, Any]

    def said(self, what: str) -> int:
        found = re.search(rf"^{what} (\d+)$", self.out, re.MULTILINE)
        assert found, self.out
        return int(found.group(1))


@pytest.fixture(scope="module")
def guest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guest]:
    scratch = tmp_path_factory.mktemp("migration")
    files = Initramfs()
    programs = Programs(scratch, BELOW)
    programs.add_to(files)
    files.add_elf(ENGINE, prefix() / "lib" / "thermocline" / "libthermocline-migrate.so")
    with boot(TWO_NODES, kernel.fetch(), files, scratch) as running:
        running.write(CONFIGURATION, plan_of(programs))
        yield running


def plan_of(programs: Programs) -> str:
    """Of kept.c."""
    tiers = {"fast_data": 0, "slow_data": 1}
    sites = [
        PlannedSite(tier=number, key=key)
        for key in programs.keys("kept")
        for name, number in tiers.items()
        if f"!{name}@" in key
    ]
    assert len(sites) == len(tiers)
    machine = store.find("dram-cxl").model_copy(update={"tier": [tier(0), tier(1)]})
    return migration.configuration(
        Plan(strategy="by hand", sites=sites), machine, Path("/job/kept")
    )


def migrate(guest: Guest, command: str, granularity: str, timeout: int, before: str = "") -> Ran:
    words: dict[str, str | int] = {
        "near": NEAR,
        "policy": granularity,
        "check": 1,
        "report": REPORT,
    }
    text = migration.settings(words, tier(0), tier(1))
    result = guest.run(
        f"rm -f {REPORT}.*\nexec env {before} '{migration.VARIABLE}={text}' LD_PRELOAD={ENGINE} "
        f"{GUEST_DIRECTORY}/{command}",
        timeout,
    )
    out = result.check()
    assert result.err == ""
    (report,) = [
        report
        for text in guest.run(f"cat {REPORT}.*.json").out.split("\n{")
        if (report := json.loads("{" + text.removeprefix("{")))["limited"]
    ]
    assert report["back_end"] == "numa"
    assert report["checked_pages"] > 0
    assert report["corrupt_pages"] == report["lost_pages"] == 0
    return Ran(out, report)


@pytest.mark.parametrize("granularity", ["64K", "2M", "adaptive"])
def test_what_was_used_last_is_near_and_the_rest_is_on_the_other_node(
    guest: Guest, granularity: str
) -> None:
    plain = guest.run(PLAIN, 60).check()
    ran = migrate(guest, f"managed {DATA} {HOT} {FAR}", granularity, 240)
    assert ran.out.splitlines()[0] == plain.splitlines()[0]  # the sum of all data
    assert ran.report["left_on_other_node_bytes"] == 0
    in_place = ran.said("in place")
    near, far = (ran.said(f"out of reach, node {node}") for node in (0, 1))
    # All data is somewhere, and no more of it near than was allowed. What is near and out of
    # reach stands in the queue of those that leave next, or tells whether it is used.
    assert DATA <= in_place + near + far <= DATA + 2 * MIB
    assert in_place >= HOT and in_place + near <= NEAR
    assert far >= FAR
    assert ran.report["far_bytes"] >= FAR
    moves = ran.report["moves"]
    assert sum(move["bytes_out"] for move in moves) >= far
    assert sum(move["bytes_in"] for move in moves) > 0
    if granularity != "adaptive":
        used = [move["granularity"] for move in moves if move["moves_in"] or move["moves_out"]]
        assert used == [granularity]


@pytest.mark.skipif("THERMOCLINE_SLOW" not in os.environ, reason="half a minute: make test-slow")
def test_what_a_program_does_to_its_memory_is_followed(guest: Guest) -> None:
    ran = migrate(guest, "migrated 3", "64K", 300)
    assert ran.out == "all as it should be\n"
    assert ran.report["forks"] > 0 and ran.report["remaps"] > 0


def test_a_plan_binds_what_it_keeps_and_the_rest_moves(guest: Guest) -> None:
    plain = guest.run(f"{GUEST_DIRECTORY}/kept", 60).check()
    ran = migrate(guest, f"kept {NEAR}", "64K", 240, f"{CONFIG_VARIABLE}={CONFIGURATION}")
    assert ran.out == plain
    held = ran.report["peak_held_bytes"]
    assert 3 * MIB <= held <= 6 * MIB  # the allocator has some of its own, in huge pages
    assert ran.report["visits"] == 0  # what stays far is used in place
    assert ran.report["left_on_other_node_bytes"] == 0


def test_data_stays_when_the_far_node_is_full(guest: Guest) -> None:
    guest.run(
        "mkdir -p /full && mount -t tmpfs -o mpol=bind:1,size=400m full /full\n"
        "dd if=/dev/zero of=/full/file bs=1M count=400",
        60,
    )
    try:
        ran = migrate(guest, f"managed {DATA} {HOT} 0", "64K", 240)
    finally:
        guest.run("umount /full").check()
    plain = guest.run(PLAIN, 60).check()
    assert ran.out.splitlines()[0] == plain.splitlines()[0]
    assert ran.report["left_on_other_node_bytes"] > DATA
