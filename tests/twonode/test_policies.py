"""The allocation policies, page by page by the kernel's word, on two sockets of two memories."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from guest import Guest, Result
from guided import run_guided
from plan import Tier
from programs import GUEST_DIRECTORY, Programs
from test_placement import cpuset

MIB = 1 << 20
PAGE = 4096
FAST, BIG = (0, 1), (2, 3)
MEMORY = "0:2,1:3"
WEIGHTS = "/sys/kernel/mm/mempolicy/weighted_interleave"


def run(
    guest: Guest,
    programs: Programs,
    arguments: str,
    memory: str | None = MEMORY,
    before: str = ":",
) -> Result:
    programs.built("policies")  # a failed build fails this test
    export = f"export THERMOCLINE_MEMORY='{memory}'" if memory else "unset THERMOCLINE_MEMORY"
    return guest.run(f"{export}\n{before}\n{GUEST_DIRECTORY}/policies {arguments}", 120)


def blocks(result: Result) -> list[Counter[int]]:
    """For each block, its pages on each node."""
    found = []
    for number, line in enumerate(result.check().splitlines()):
        block, *nodes = line.split(" ")
        assert int(block) == number
        found.append(Counter({int(n): int(p) for n, p in (item.split(":") for item in nodes)}))
    return found


def refused(result: Result) -> str:
    """Why; checked: nothing was mapped."""
    assert result.status == 3, result.out + result.err
    why, mapped = result.out.splitlines()
    assert mapped == "0 pages"
    return why


def free_mib(guest: Guest, node: int) -> int:
    text = guest.run(f"cat /sys/devices/system/node/node{node}/meminfo").check()
    found = re.search(r"MemFree: +(\d+) kB", text)
    assert found
    return int(found[1]) // 1024


def test_blocks_go_round_the_sockets_fast_memories(four_nodes: Guest, programs: Programs) -> None:
    found = blocks(run(four_nodes, programs, "spill 17 256"))
    assert found == [Counter({FAST[k % 2]: 64}) for k in range(68)]


def test_a_short_last_block_and_our_block_size(four_nodes: Guest, programs: Programs) -> None:
    found = blocks(run(four_nodes, programs, "spill 15 0"))
    assert found == [Counter({FAST[k % 2]: 512}) for k in range(7)] + [Counter({FAST[1]: 256})]


def test_what_a_sockets_fast_memory_cannot_hold_is_in_its_big_memory(
    four_nodes: Guest, programs: Programs
) -> None:
    free = [free_mib(four_nodes, node) for node in range(4)]
    own_part = max(free[0], free[1]) + 24
    assert own_part < 0.9 * min(free[0] + free[2], free[1] + free[3]), free
    found = blocks(run(four_nodes, programs, f"spill {2 * own_part} 1024"))
    pages = sum(found, Counter())
    for socket in (0, 1):
        own = sum(found[socket::2], Counter())
        assert set(own) == {FAST[socket], BIG[socket]}, own
    for node in FAST:
        # "exhausted" is where the kernel stops to give without reclaiming
        assert pages[node] * PAGE > 0.75 * free[node] * MIB, (pages, free)
    # What came first is in the fast memory.
    assert set(found[0]) == {0} and set(found[1]) == {1}
    assert all(BIG[socket] in found[socket::2][-1] for socket in (0, 1))


@pytest.mark.parametrize(("fast", "big"), [(75, 25), (60, 40), (0, 100), (100, 0), (83, 17)])
def test_weighted_blocks_are_dealt_by_the_percentages(
    four_nodes: Guest, programs: Programs, fast: int, big: int
) -> None:
    memory = f"{MEMORY} weights {fast}:{big}"
    found = blocks(run(four_nodes, programs, "weighted 25 64", memory))
    for socket in (0, 1):
        own = found[socket::2]
        assert all(set(pages) <= {FAST[socket], BIG[socket]} for pages in own)
        for count in range(1, len(own) + 1):
            there = sum(FAST[socket] in pages for pages in own[:count])
            assert abs(there - count * fast / 100) < 1


def test_the_kernels_weighted_interleave_where_its_weights_are_the_same(
    four_nodes: Guest, programs: Programs
) -> None:
    weights = [3, 3, 1, 1]
    setting = "\n".join(f"echo {w} >{WEIGHTS}/node{n}" for n, w in enumerate(weights))
    memory = f"{MEMORY} weights 75:25"
    result = run(four_nodes, programs, "weighted 16 0", memory, setting)
    assert "weighted interleave:0-3" in result.err
    pages = sum(blocks(result), Counter())
    for node, weight in enumerate(weights):
        assert abs(pages[node] - 4096 * weight / 8) <= weight
    other = run(four_nodes, programs, "weighted 16 0", f"{MEMORY} weights 60:40", setting)
    assert "weighted interleave" not in other.err
    blocks(other)


def test_write_isolation_parts_what_is_written_from_what_is_read(
    four_nodes: Guest, programs: Programs
) -> None:
    written = blocks(run(four_nodes, programs, "write-heavy 9 512"))
    assert written == [Counter({FAST[k % 2]: 128}) for k in range(18)]
    read = blocks(run(four_nodes, programs, "read-mostly 9 512"))
    assert read == [Counter({BIG[k % 2]: 128}) for k in range(18)]


def test_blocks_in_files_of_both_sockets_big_memory(four_nodes: Guest, programs: Programs) -> None:
    """A tmpfs in each big memory stands for fsdax: this kernel has no persistent memory."""
    mounts = [f"mkdir -p /pmem{n} && mount -t tmpfs -o mpol=bind:{n} big{n} /pmem{n}" for n in BIG]
    before = "\n".join(
        f"grep -q /pmem{n} /proc/mounts || ({m})" for n, m in zip(BIG, mounts, strict=True)
    )
    found = blocks(run(four_nodes, programs, "read-mostly 9 512 /pmem2 /pmem3", before=before))
    assert found == [Counter({BIG[k % 2]: 128}) for k in range(18)]
    assert four_nodes.run("ls -A /pmem2 /pmem3").check() == "/pmem2:\n\n/pmem3:\n"


def test_a_file_system_that_is_too_small(four_nodes: Guest, programs: Programs) -> None:
    before = "mkdir -p /small && mount -t tmpfs -o size=4m small /small"
    why = refused(run(four_nodes, programs, "read-mostly 16 512 /dev/shm /small", before=before))
    assert why == "/small: 8 MiB asked for, 4 MiB free"
    assert four_nodes.run("ls -A /small; umount /small").check() == ""


def test_too_much_for_a_kind_of_memory(four_nodes: Guest, programs: Programs) -> None:
    assert "free in the fast memories" in refused(run(four_nodes, programs, "write-heavy 500 0"))
    assert "free in the big memories" in refused(run(four_nodes, programs, "read-mostly 400 0"))
    assert "free in the memories" in refused(run(four_nodes, programs, "spill 1000 0"))


def test_a_node_that_may_not_be_used(four_nodes: Guest, programs: Programs) -> None:
    before = cpuset("without-3", "0-2")
    why = refused(run(four_nodes, programs, "spill 8 0", before=before))
    assert why.startswith("node 3 has no memory that this process may use")


def test_threads_beside_their_blocks(four_nodes: Guest, programs: Programs) -> None:
    out = run(four_nodes, programs, "near 8 1024").check()
    assert out == "".join(f"{k} {k % 2}\n" for k in range(8))


# By plan: pages round the nodes of a tier, whatever the processor, and what has no room beside it.
SOCKETS = (Tier((0, 1)), Tier((2, 3)))


@pytest.mark.parametrize("cpu", [0, 1])
def test_a_site_that_is_spread(four_nodes: Guest, programs: Programs, cpu: int) -> None:
    before = f"taskset -p {1 << cpu} $$ >/dev/null"
    outcome = run_guided(four_nodes, programs, "spread 24 24", SOCKETS, before=before)
    assert [int(pages) for pages in outcome.out.split()[:2]] == pytest.approx([3072] * 2, abs=512)


def test_a_spread_site_goes_on_in_the_other_tier(four_nodes: Guest, programs: Programs) -> None:
    limited = (SOCKETS[0]._replace(capacity=16 * MIB), SOCKETS[1])
    outcome = run_guided(four_nodes, programs, "spread 32 16", limited)
    pages = [int(text) for text in outcome.out.split(",")[0].split()]
    assert abs(pages[0] - pages[1]) <= 512 and abs(pages[2] - pages[3]) <= 512


def test_memories_are_detected(two_nodes: Guest, three_nodes: Guest, programs: Programs) -> None:
    assert run(two_nodes, programs, "detect", memory=None).check() == "0:1\n"
    assert run(three_nodes, programs, "detect", memory=None).check() == "0:2\n1:2\n"
