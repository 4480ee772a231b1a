"""Peng et al.'s twelve configurations by name: in the simulator, and of a run on a host."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from thermocline.errors import Misuse, ThermoclineError
from thermocline.machine import configurations
from thermocline.run import binding
from thermocline.run.binding import Host
from thermocline.simulation import scheme

from .test_cli import fails, ok
from .test_simulate import rows, trace

NAMES = [each.name for each in configurations.ALL]
# Two sockets, each with DRAM and PMM, as Linux shows them.
OPTANE = Host(
    processors={0: (0, 1), 1: (2, 3)},
    memory=(0, 1, 2, 3),
    near=(0, 1),
    far=(2, 3),
    home={0: 0, 1: 1, 2: 0, 3: 1},
    memory_mode=False,
)


def lines(row: dict[str, Any]) -> list[int]:
    return [tier["read_bytes"] for tier in row["result"]["tiers"]]


def test_all_twelve_simulate(tmp_path: Path) -> None:
    trace(tmp_path / "t", threads=2, count=3000)
    text = ok(
        tmp_path,
        "simulate",
        "t",
        "--machine",
        "optane-8260l",
        "--scheme",
        ",".join(NAMES),
        "--json",
    )
    found = rows(text)
    assert sorted(found) == sorted(NAMES)
    seconds = {name: 1 / row["speedup"] for name, row in found.items()}
    # What is alike in the paper's Figs. 3 and 4, and what must be slower.
    assert seconds["DRAM-remote"] > 1.1 * seconds["DRAM-local"]
    assert seconds["PMM-numa-remote"] > 0.99 * seconds["PMM-numa-local"]  # writes wait for media
    assert seconds["PMM-numa-local"] > 1.5 * seconds["DRAM-local"]
    assert seconds["PMM-fsdax-local"] == seconds["PMM-numa-local"]
    assert seconds["DRAM"] < seconds["DRAM-PMM-interleave"] < seconds["PMM"]
    assert lines(found["DRAM-local"])[1] == 0 and lines(found["PMM"])[0] == 0
    half = lines(found["DRAM-PMM-interleave"])
    assert half[0] == pytest.approx(half[1], rel=0.2)


def test_one_socket_needs_two(tmp_path: Path) -> None:
    trace(tmp_path / "t")
    said = fails(tmp_path, 2, "simulate", "t", "--machine", "knl-7230", "--scheme", "DRAM-remote")
    assert "two sockets" in said
    with pytest.raises(Misuse, match="local, remote, in-turn"):
        scheme.parse("one-tier:socket=other*flat")


@pytest.mark.parametrize(
    ("name", "cpus", "nodes"),
    [
        ("DRAM-local", (0, 1), (0,)),
        ("DRAM-remote", (0, 1), (1,)),
        ("PMM-numa-local", (0, 1), (2,)),
        ("PMM-numa-remote", (0, 1), (3,)),
        ("DRAM", (0, 1, 2, 3), (0, 1)),
        ("pmm", (0, 1, 2, 3), (2, 3)),
        ("DRAM-PMM-interleave", (0, 1, 2, 3), (0, 1, 2, 3)),
    ],
)
def test_where_a_run_goes(name: str, cpus: tuple[int, ...], nodes: tuple[int, ...]) -> None:
    bound = binding.bind(configurations.find(name), OPTANE)
    assert (bound.processors, bound.nodes) == (cpus, nodes)
    assert bound.interleave == (name not in ("DRAM-local", "DRAM-remote", "PMM-numa-local",
                                             "PMM-numa-remote"))  # fmt: skip


def test_memory_mode_is_firmwares(tmp_path: Path) -> None:
    with pytest.raises(ThermoclineError, match="ipmctl create -goal MemoryMode=100"):
        binding.bind(configurations.find("MemoryMode"), OPTANE)
    cached = Host({0: (0,), 1: (1,)}, (0, 1), (0, 1), (), {0: 0, 1: 1}, memory_mode=True)
    assert binding.bind(configurations.find("MemoryMode-remote"), cached).nodes == (1,)
    with pytest.raises(ThermoclineError, match="MemoryMode=0"):
        binding.bind(configurations.find("DRAM"), cached)


@pytest.mark.parametrize(
    ("name", "host", "problem"),
    [
        ("DRAM-remote", Host({0: (0,)}, (0, 1), (0,), (1,), {0: 0, 1: 0}, False), "two sockets"),
        ("PMM", Host({0: (0,)}, (0,), (0,), (), {0: 0}, False), "system-ram"),
        ("PMM-fsdax-local", OPTANE, "fsdax"),
        ("PMM-numa-remote", Host({0: (0,), 1: (1,)}, (0, 1, 2), (0, 1), (2,), {0: 0, 1: 1, 2: 0},
                                 False), "no big memory"),
    ],
)  # fmt: skip
def test_what_a_host_lacks_is_said(name: str, host: Host, problem: str) -> None:
    with pytest.raises(ThermoclineError, match=problem):
        binding.bind(configurations.find(name), host)


def test_names_are_checked(tmp_path: Path) -> None:
    assert "did you mean DRAM-local" in fails(
        tmp_path, 2, "run", "--configuration", "DRAM-lokal", "--", "true"
    )
    with pytest.raises(Misuse, match="MemoryMode"):
        configurations.find("nothing of the kind")
    assert "--plan" in fails(
        tmp_path, 2, "run", "--configuration", "DRAM", "--plan", "p", "--", "true"
    )


def test_a_program_is_bound_here(tmp_path: Path) -> None:
    script = (
        "import json;print(json.dumps(open('/proc/self/numa_maps').read().count(' bind:')"
        "+open('/proc/self/numa_maps').read().count(' interleave:')))"
    )
    text = ok(tmp_path, "run", "--configuration", "DRAM", "--", sys.executable, "-c", script)
    assert json.loads(text.splitlines()[0]) > 3
