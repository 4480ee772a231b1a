"""Placement, checked by the kernel's word (move_pages, numa_maps) on machines of several nodes."""

from __future__ import annotations

import re

import pytest
from guest import Guest
from guided import run_guided
from plan import Tier
from programs import GUEST_DIRECTORY, Programs

MIB = 1 << 20
# The fast memory is the farther node (HBM in flat mode), or the nearer one (CXL as far memory).
# In each, one of the two tiers is where Linux would not put a page by itself.
HBM = (Tier((1,)), Tier((0,)))
CXL = (Tier((0,)), Tier((1,)))
BOTH = pytest.mark.parametrize("tiers", [HBM, CXL], ids=["hbm", "cxl"])
Tiers = tuple[Tier, ...]


def cpuset(name: str, nodes: str) -> str:
    """Shell text that confines the shell and its children to the memory of `nodes`."""
    group = f"/sys/fs/cgroup/{name}"
    return (
        f"mkdir -p {group} && echo +cpuset >/sys/fs/cgroup/cgroup.subtree_control && "
        f"echo {nodes} >{group}/cpuset.mems && echo $$ >{group}/cgroup.procs"
    )


@BOTH
@pytest.mark.parametrize("program", ["sites", "reuse", "threads", "fields"])
def test_sites_are_in_their_tiers(
    two_nodes: Guest, programs: Programs, program: str, tiers: Tiers
) -> None:
    run_guided(two_nodes, programs, program, tiers)


@pytest.mark.parametrize("default_tier", [0, 1])
def test_unplanned_sites_go_to_the_default_tier(
    two_nodes: Guest, programs: Programs, default_tier: int
) -> None:
    # sites.c expects its unplanned site in tier 1: so name the tiers the other way round.
    if default_tier == 1:
        run_guided(two_nodes, programs, "sites", CXL, default_tier=1)
        return
    with pytest.raises(AssertionError, match="malloc, unplanned"):
        run_guided(two_nodes, programs, "sites", HBM, default_tier=0)


def test_modelled_tiers_are_not_bound(two_nodes: Guest, programs: Programs) -> None:
    modelled = (Tier(()), Tier(()))
    run_guided(two_nodes, programs, "sites", modelled, before="export TIER0=0 TIER1=0")


def test_without_guidance_the_programs_see_it(two_nodes: Guest, programs: Programs) -> None:
    with pytest.raises(AssertionError, match=r"FAILED: \d+ checks"):
        run_guided(two_nodes, programs, "sites", HBM, heap="plain")


@BOTH
def test_fork_keeps_placement(two_nodes: Guest, programs: Programs, tiers: Tiers) -> None:
    run_guided(two_nodes, programs, "forked", tiers)


@BOTH
def test_dlopen_and_dlclose(two_nodes: Guest, programs: Programs, tiers: Tiers) -> None:
    command = f"loader {GUEST_DIRECTORY}/libpart.so"
    run_guided(two_nodes, programs, command, tiers, libraries=["libpart.so"])


@pytest.mark.parametrize("tier", [0, 1])
@BOTH
def test_data_that_is_not_heap(
    two_nodes: Guest, programs: Programs, tiers: Tiers, tier: int
) -> None:
    run_guided(two_nodes, programs, f"nonheap {tier}", tiers, nonheap_tier=tier)


@BOTH
def test_oversubscription_spills_to_the_next_tier(
    two_nodes: Guest, programs: Programs, tiers: Tiers
) -> None:
    node = tiers[0].nodes[0]
    held = two_nodes.machine.nodes[node].megabytes
    run_guided(two_nodes, programs, f"spill {held + 40} 0 0 0", tiers, timeout=120)


@BOTH
def test_capacity_limits_a_tier_below_the_machines(
    two_nodes: Guest, programs: Programs, tiers: Tiers
) -> None:
    limited = (tiers[0]._replace(capacity=64 * MIB), tiers[1])
    outcome = run_guided(
        two_nodes, programs, "spill 128 64 20 0", limited, interval_ms=5, timeout=120
    )
    fast = outcome.report["tiers"][0]
    assert fast["capacity_bytes"] == 64 * MIB
    assert 48 * MIB <= fast["peak_resident_bytes"] <= 80 * MIB
    assert fast["spilled_bytes"] >= 32 * MIB


@BOTH
def test_a_split_site_is_on_both_nodes(two_nodes: Guest, programs: Programs, tiers: Tiers) -> None:
    outcome = run_guided(two_nodes, programs, "split 0", tiers, timeout=120)
    assert len(outcome.reports) == 2  # the child's too
    for report in outcome.reports:
        assert [tier["spilled_bytes"] for tier in report["tiers"]] == [0, 0]


@BOTH
def test_a_split_site_spills_what_was_wanted_in_the_full_tier(
    two_nodes: Guest, programs: Programs, tiers: Tiers
) -> None:
    limited = (tiers[0]._replace(capacity=16 * MIB), tiers[1])
    outcome = run_guided(two_nodes, programs, "split 16", limited, timeout=120)
    fast, slow = outcome.report["tiers"]
    assert 15 * MIB <= fast["resident_bytes"] <= 16 * MIB
    assert abs(fast["spilled_bytes"] - 16 * MIB) <= 2 * MIB
    assert slow["spilled_bytes"] == 0


@BOTH
def test_traffic_is_charged_to_the_tier_where_the_page_is(
    two_nodes: Guest, programs: Programs, tiers: Tiers
) -> None:
    """spill fills 64 MiB at a fast site, half of which spills, and then reads it four times."""
    limited = (tiers[0]._replace(capacity=32 * MIB), tiers[1])
    outcome = run_guided(
        two_nodes,
        programs,
        "spill 64 32 20 4",
        limited,
        interval_ms=5,
        sampler="trace",
        timeout=120,
    )
    fast, slow = outcome.report["tiers"]
    found = re.search(r"(\d+) MiB in tier 0, (\d+) MiB in tier 1", outcome.out)
    assert found
    read_fast, read_slow = (4 * int(text) * MIB for text in found.groups())
    # First touch and the last blocks add less than 96 MiB; charging by plan alone would add 128.
    assert 0.9 * read_fast <= fast["read_bytes"] <= read_fast + 96 * MIB
    assert 0.9 * read_slow <= slow["read_bytes"] <= read_slow + 96 * MIB


def test_a_cpuset_without_the_fast_node(two_nodes: Guest, programs: Programs) -> None:
    """A tier that the process may not use: everything is in the memory that it may use."""
    allowed = cpuset("near", "0")
    run_guided(two_nodes, programs, "reuse", HBM, before=f"{allowed}\nexport TIER0=0 TIER1=0")


# On three-nodes, nodes 0 and 1 have CPU 0 and 1; Linux by itself would use the CPU's own node.
FAR_TWO = (Tier((1, 2)), Tier((0,)))
SOCKETS = (Tier((0, 1)), Tier((2,)))


@pytest.mark.parametrize("program", ["sites", "reuse", "threads", "forked"])
def test_a_tier_of_several_nodes(three_nodes: Guest, programs: Programs, program: str) -> None:
    """From CPU 0, whose own memory is tier 1."""
    run_guided(three_nodes, programs, program, FAR_TWO, before="taskset -p 1 $$ >/dev/null")


@pytest.mark.parametrize("cpu", [0, 1])
def test_the_nearest_node_of_a_tier_comes_first(
    three_nodes: Guest, programs: Programs, cpu: int
) -> None:
    """reuse takes far less than a node holds, so all its fast blocks are on the CPU's own."""
    before = f"taskset -p {1 << cpu} $$ >/dev/null\nexport TIER0={cpu}"
    run_guided(three_nodes, programs, "reuse", SOCKETS, before=before)


def test_a_tier_of_several_nodes_fills_them_all_before_it_spills(
    three_nodes: Guest, programs: Programs
) -> None:
    first, second, _ = (node.megabytes for node in three_nodes.machine.nodes)
    outcome = run_guided(
        three_nodes, programs, f"spill {first + second + 20} 0 0 0", SOCKETS, timeout=120
    )
    found = re.search(r"(\d+) MiB in tier 0", outcome.out)
    # More than either node has, though the kernel keeps a part of both for itself.
    assert found and int(found.group(1)) > max(first, second)


def test_a_tier_of_several_nodes_inside_a_cpuset(three_nodes: Guest, programs: Programs) -> None:
    """Of the tier's nodes 1 and 2, only 2 is allowed."""
    before = f"{cpuset('some', '0,2')}\nexport TIER0=2 POLICY0=prefer:2"
    run_guided(three_nodes, programs, "reuse", FAR_TWO, before=before)
