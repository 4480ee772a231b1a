"""What is measured is really on its node; the emulator says nothing of its speed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conftest import TWO_NODES, Guests
from programs import GUEST_DIRECTORY

MEASURE = f"{GUEST_DIRECTORY}/thermocline-measure"
SMALL = "--goes 2 --bytes 4194304 --cpus 0"


def points(guests: Guests, command: str) -> list[dict[str, Any]]:
    """What it prints; it refuses memory that is elsewhere than it was bound to."""
    result = guests.get(TWO_NODES).run(f"{MEASURE} {command}", 120)
    return [json.loads(line) for line in result.check().splitlines()]


@pytest.mark.parametrize("node", [0, 1])
def test_each_nodes_memory_is_measured(bare_guests: Guests, node: int) -> None:
    found = points(
        bare_guests, f"bandwidth {SMALL} --nodes {node} --threads 1 --patterns read,3r1w"
    )
    assert [point["pattern"] for point in found] == ["read", "3r1w"]
    assert all(len(point["values"]) == 2 and min(point["values"]) > 0 for point in found)
    assert len(points(bare_guests, f"latency {SMALL} --nodes {node} --patterns random")) == 1


@pytest.mark.parametrize("node", [0, 1])
def test_memory_comes_from_that_node(bare_guests: Guests, node: int) -> None:
    guest = bare_guests.get(TWO_NODES)
    large = 64 << 20
    # Pages by node, from the process's own numa_maps, while it measures.
    text = guest.run(
        f"{MEASURE} latency --goes 200 --bytes {large} --cpus 0 --nodes {node}"
        " --patterns random >/dev/null & process=$!\n"
        "for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do\n"
        "  cat /proc/$process/numa_maps 2>/dev/null | grep bind: && break; sleep 0.3\n"
        "done\nkill $process",
        60,
    ).out
    bound = [line for line in text.splitlines() if f"bind:{node}" in line]
    assert bound, text
    for line in bound:
        assert f" N{1 - node}=" not in line


def test_blocks_of_two_nodes_take_turns(bare_guests: Guests) -> None:
    found = points(bare_guests, f"intensity {SMALL} --nodes 0:3,1:1 --threads 1")
    assert [point["flops_per_byte"] for point in found][:3] == [0.125, 0.25, 0.5]


def test_a_node_that_is_not_there_is_refused(bare_guests: Guests) -> None:
    command = f"{MEASURE} latency {SMALL} --nodes 2 --patterns random"
    result = bare_guests.get(TWO_NODES).run(command)
    assert result.status == 1
    assert "node 2" in result.err and result.err.count("\n") == 1
