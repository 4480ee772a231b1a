"""The harness itself: that it sees right and wrong placement, failures and hangs."""

from __future__ import annotations

import pytest
from conftest import THREE_NODES, TWO_NODES, Guests
from guest import GuestError


def test_two_nodes_with_the_cpus_on_one(bare_guests: Guests) -> None:
    guest = bare_guests.get(TWO_NODES)
    base = "/sys/devices/system/node"
    assert guest.run(f"cat {base}/has_memory").check() == "0-1\n"
    assert guest.run(f"cat {base}/has_cpu").check() == "0\n"
    for node, properties in enumerate(TWO_NODES.nodes):
        initiators = f"{base}/node{node}/access0/initiators"
        latency = guest.run(f"cat {initiators}/read_latency").check()
        bandwidth = guest.run(f"cat {initiators}/read_bandwidth").check()
        assert int(latency) == properties.latency_ns
        assert int(bandwidth) == properties.gigabytes_per_second * 1024


def test_three_nodes(bare_guests: Guests) -> None:
    guest = bare_guests.get(THREE_NODES)
    assert guest.run("cat /sys/devices/system/node/has_memory").check() == "0-2\n"
    assert guest.run("cat /sys/devices/system/node/has_cpu").check() == "0-1\n"


def test_the_checks_see_right_and_wrong_placement(bare_guests: Guests) -> None:
    guest = bare_guests.get(TWO_NODES)
    right = guest.run("TIER0=0 TIER1=1 /test/bind_by_hand")
    assert (right.status, right.out) == (0, "ok\n")
    wrong = guest.run("TIER0=0 TIER1=1 /test/bind_by_hand wrongly")
    assert wrong.status == 1
    assert "0 of 2097152 bytes" in wrong.out and wrong.out.endswith("FAILED: 2 checks\n")


def test_output_and_status_come_back_unchanged(bare_guests: Guests) -> None:
    guest = bare_guests.get(TWO_NODES)
    result = guest.run("printf 'a  b\\n\\n'; echo 'result 1 0 x y'; echo 'café' >&2; exit 3")
    assert (result.status, result.out, result.err) == (
        3,
        "a  b\n\nresult 1 0 x y\n",
        "café\n",
    )
    guest.write("/job/directory/file", "text $HOME\n")
    assert guest.run("cat /job/directory/file").out == "text $HOME\n"
    assert guest.run("kill -SEGV $$").status == 128 + 11


def test_a_hanging_command_is_killed_and_the_guest_goes_on(bare_guests: Guests) -> None:
    guest = bare_guests.get(TWO_NODES)
    assert guest.run("sleep 60", timeout=1).status == 128 + 9
    assert guest.run("echo still here").check() == "still here\n"


def test_a_dead_guest_is_reported_with_its_console_and_booted_again(bare_guests: Guests) -> None:
    guest = bare_guests.get(TWO_NODES)
    with pytest.raises(GuestError, match=r"the guest stopped\. Its console:(.|\n)*Kernel panic"):
        guest.run("echo 1 >/proc/sys/kernel/sysrq; echo c >/proc/sysrq-trigger")
    assert bare_guests.get(TWO_NODES).run("echo alive").check() == "alive\n"
