"""The guests: each machine is booted at its first test and shut down after the last."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import kernel
import pytest
from guest import Guest, Machine, Node, boot
from initramfs import Initramfs
from programs import ANNOTATED, BY_HAND, GUEST_DIRECTORY, Programs, prefix

# Node 0 has the CPUs, so untouched policies put everything there. Node 1 has none.
TWO_NODES = Machine("two-nodes", (Node(512, 80, 200, cpus=2), Node(320, 250, 40)))
# Two sockets' worth of fast memory and one CPU-less slow node (CXL).
THREE_NODES = Machine(
    "three-nodes", (Node(320, 80, 200, cpus=1), Node(192, 80, 200, cpus=1), Node(320, 250, 40))
)
# Two sockets, each with its own slow memory (Optane as memory of nodes).
FOUR_NODES = Machine(
    "four-nodes",
    (
        Node(256, 80, 200, cpus=1),
        Node(240, 80, 200, cpus=1),
        Node(160, 250, 40),
        Node(160, 250, 40),
    ),
)


class Guests:
    """Running guests by machine; one that died is booted again for the next test."""

    def __init__(self, scratch: Path, programs: Programs | None) -> None:
        self._scratch = scratch
        self._programs = programs
        self._running: dict[Machine, Guest] = {}

    def get(self, machine: Machine) -> Guest:
        guest = self._running.get(machine)
        if guest is None or not guest.alive:
            files = Initramfs()
            if self._programs:
                self._programs.add_to(files)
            measuring = prefix() / "lib" / "thermocline" / "thermocline-measure"
            if measuring.exists():
                files.add_elf(f"{GUEST_DIRECTORY}/thermocline-measure", measuring)
            guest = boot(machine, kernel.fetch(), files, self._scratch)
            self._running[machine] = guest
        return guest

    def stop(self) -> None:
        for guest in self._running.values():
            guest.stop()


@pytest.fixture(scope="session")
def bare_guests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guests]:
    """Guests without Thermocline, for tests of the harness itself."""
    directory = tmp_path_factory.mktemp("bare")
    guests = Guests(directory, Programs(directory, (BY_HAND,)))
    yield guests
    guests.stop()


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    if not (prefix() / "bin" / "thermocline-clang").exists():
        pytest.fail(f"no thermocline-clang in {prefix()}/bin: run make build")
    return Programs(tmp_path_factory.mktemp("programs"), ANNOTATED)


@pytest.fixture(scope="session")
def guests(tmp_path_factory: pytest.TempPathFactory, programs: Programs) -> Iterator[Guests]:
    guests = Guests(tmp_path_factory.mktemp("guests"), programs)
    yield guests
    guests.stop()


@pytest.fixture
def two_nodes(guests: Guests) -> Guest:
    return guests.get(TWO_NODES)


@pytest.fixture
def three_nodes(guests: Guests) -> Guest:
    return guests.get(THREE_NODES)


@pytest.fixture
def four_nodes(guests: Guests) -> Guest:
    return guests.get(FOUR_NODES)
