"""`thermocline top`: what is followed, what is said, and what the screen shows."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import DataTable, Static

from thermocline.errors import ThermoclineError
from thermocline.live import migrations
from thermocline.live.follower import Follower, prefix_of
from thermocline.live.migrations import MigrationFollower, StartedFollower
from thermocline.live.screen import MovesScreen, Screen, Watch
from thermocline.planning.model import Plan, PlannedSite

from .conftest import profile_table, site

MIB = 2**20
HOT, COLD = "a!hot@src/a.c:3:1 < main@src/a.c:9:1", "a!cold@src/a.c:5:1"
PLAN = Plan(strategy="thermos", sites=[PlannedSite(tier=0, key=HOT), PlannedSite(tier=1, key=COLD)])


def write(folder: Path, pid: int, seconds: float, hot: int, cold: int, **more: Any) -> None:
    """As the runtime does: aside, then renamed."""
    sites = [site(HOT, hot, 10 * MIB), site(COLD, cold, 40 * MIB)]
    table = profile_table(sites, **more) | {"wall_seconds": seconds, "complete": False}
    aside = folder / "aside"
    aside.write_text(json.dumps(table))
    aside.rename(folder / f"run.{pid}.profile")


def test_two_profiles_in_turn_give_rates(tmp_path: Path) -> None:
    follower = Follower(tmp_path / "run", PLAN)
    assert follower.look() == []
    write(tmp_path, 7, 2.0, 100 * MIB, 50 * MIB)
    (process,) = follower.look()
    assert [s.rate for s in process.sorted("traffic")] == [50 * MIB, 25 * MIB]
    write(tmp_path, 7, 4.0, 110 * MIB, 90 * MIB)
    (process,) = follower.look()
    assert (process.pid, process.program, process.seconds) == (7, "a.out", 4.0)
    assert [(s.key, s.rate, s.tier) for s in process.sorted("traffic")] == [
        (COLD, 20 * MIB, 1),
        (HOT, 5 * MIB, 0),
    ]
    assert [s.key for s in process.sorted("total")] == [HOT, COLD]
    assert [s.key for s in process.sorted("bytes")] == [COLD, HOT]
    assert [s.key for s in process.sorted("site")] == [COLD, HOT]
    assert process.tiers(2) == [(10 * MIB, 5 * MIB), (40 * MIB, 20 * MIB)]


def test_a_look_at_nothing_new_shows_the_same(tmp_path: Path) -> None:
    follower = Follower(tmp_path / "run")
    write(tmp_path, 7, 2.0, 100, 50)
    first = follower.look()
    assert follower.look() == first
    (tmp_path / "run.7.profile").write_text("{")  # half-written by something else
    assert follower.look() == first
    (tmp_path / "run.7.profile").unlink()  # its program is done
    assert follower.look() == first


def test_one_process_alone(tmp_path: Path) -> None:
    for pid in (7, 8):
        write(tmp_path, pid, 1.0, 1, 1)
    assert [p.pid for p in Follower(tmp_path / "run").look()] == [7, 8]
    assert [p.pid for p in Follower(tmp_path / "run", pid=8).look()] == [8]


def test_a_running_process_says_where_its_profiles_go(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text(f"thermocline-config 1\nheap sites\nprofile {tmp_path}/run\n")
    environment = {**os.environ, "THERMOCLINE_CONFIG": str(config)}
    # It answers once, so that it runs its own program, no copy of ours, when it is looked at.
    command = [sys.executable, "-c", "print(1, flush=True); input()"]

    def started(environment: dict[str, str]) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe)
        assert process.stdout is not None
        process.stdout.readline()
        return process

    with started(environment) as process:
        assert prefix_of(process.pid) == tmp_path / "run"
        config.write_text("thermocline-config 1\nheap guided\n")
        with pytest.raises(ThermoclineError, match="measures nothing while it runs"):
            prefix_of(process.pid)
        config.write_text("something else\n")
        with pytest.raises(ThermoclineError, match="not a run's configuration"):
            prefix_of(process.pid)
        process.communicate(b"\n")
    del environment["THERMOCLINE_CONFIG"]
    with started(environment) as process:
        with pytest.raises(ThermoclineError, match="was not started by Thermocline"):
            prefix_of(process.pid)
        process.communicate(b"\n")
    with pytest.raises(ThermoclineError, match="there is no process"):
        prefix_of(2**22 + 1)


def rows(screen: Screen) -> list[str]:
    table = screen.query_one(DataTable)
    return [str(table.get_row_at(number)[6]) for number in range(table.row_count)]


def head(screen: Watch[Any]) -> str:
    return str(screen.query_one("#head", Static).render())


def test_the_screen_sorts_pauses_and_goes_through_processes(tmp_path: Path) -> None:
    runs = [True]
    tiers = [("mcdram", 20 * MIB), ("ddr4", None)]
    follower = Follower(tmp_path / "run", PLAN)
    screen = Screen(follower, tiers, lambda: runs[0], interval=0.1)

    async def use() -> None:
        async with screen.run_test() as pilot:
            assert "waiting" in head(screen)
            write(tmp_path, 7, 1.0, 100 * MIB, 50 * MIB)
            write(tmp_path, 8, 1.0, 1 * MIB, 2 * MIB, online={"moved_bytes": 3 * MIB})
            for _ in range(200):
                await pilot.pause(0.05)
                if rows(screen):
                    break
            assert rows(screen) == ["hot a.c:3:1", "cold a.c:5:1"]
            assert "a.out (7, 1 of 2) 1.0 s, runs; by traffic" in head(screen)
            assert f"mcdram     [{'#' * 15:30}] 10 MiB of 20 MiB, 100 MiB/s" in head(screen)
            await pilot.press("b")
            assert rows(screen) == ["cold a.c:5:1", "hot a.c:3:1"]
            await pilot.press("n")
            assert "(8, 2 of 2)" in head(screen) and "moved 3 MiB so far" in head(screen)
            await pilot.press("p")
            assert "paused" in head(screen)
            await pilot.press("p")
            runs[0] = False
            await pilot.press("t")
            assert "has ended" in head(screen)
            await pilot.press("q")

    asyncio.run(use())
    assert not screen.is_running


def report(folder: Path, pid: int, seconds: float, chunks: int) -> None:
    """As the engine does: aside, then renamed."""
    moves = [
        {
            "granularity": name,
            "moves_in": chunks,
            "moves_out": 2 * chunks,
            "bytes_in": chunks * size,
            "bytes_out": 2 * chunks * size,
        }
        for name, size in (("4K", 4096), ("64K", 1 << 16), ("2M", 2 * MIB))
    ]
    table = {
        "command": ["/bin/sort", "x"],
        "granularity": "adaptive",
        "wall_seconds": seconds,
        "near_bytes": 40 * MIB,
        "resident_near_bytes": 20 * MIB,
        "far_bytes": 7 * MIB,
        "faults": 3 * chunks,
        "soft_faults": chunks,
        "evictions": 6 * chunks,
        "moves": moves,
    }
    aside = folder / "aside"
    aside.write_text(json.dumps(table))
    aside.rename(folder / f"moves.{pid}.json")


def test_two_reports_of_the_engine_give_rates(tmp_path: Path) -> None:
    follower = MigrationFollower(tmp_path / "moves")
    assert follower.look() == []
    report(tmp_path, 7, 2.0, 100)
    (process,) = follower.look()
    assert (process.program, process.faults_per_second) == ("sort", 150)
    report(tmp_path, 7, 4.0, 400)
    (process,) = follower.look()
    assert (process.pid, process.seconds, process.near_bytes) == (7, 4.0, 40 * MIB)
    assert (process.faults, process.faults_per_second) == (1200, 450)
    assert (process.soft_faults_per_second, process.evictions_per_second) == (150, 900)
    block = process.moves[1]
    assert (block.granularity, block.moves_in, block.moves_out) == ("64K", 400, 800)
    assert (block.moves_in_per_second, block.bytes_out_per_second) == (150, 300 * 65536)
    (tmp_path / "moves.7.json").write_text('{"command": []}')
    assert follower.look() == [process]
    report(tmp_path, 8, 1.0, 1)
    assert [p.pid for p in follower.look()] == [7, 8]
    assert [p.pid for p in MigrationFollower(tmp_path / "moves", 8).look()] == [8]


def test_the_engines_reports_are_found_below_what_started_it(tmp_path: Path) -> None:
    words = f"near=8388608;report={tmp_path}/moves;policy=64K"
    script = f"THERMOCLINE_MIGRATE='{words}' sh -c 'echo; read x'; true"
    pipe = subprocess.PIPE
    with subprocess.Popen(["sh", "-c", script], stdin=pipe, stdout=pipe) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert migrations.prefix_of(process.pid) is None
        (below,) = migrations.descendants(process.pid)
        assert migrations.prefix_of(below) == tmp_path / "moves"
        follower = StartedFollower(process.pid)
        assert follower.look() == []
        report(tmp_path, below, 1.0, 1)
        assert [p.pid for p in follower.look()] == [below]
        migrations.end(process)
        assert process.wait(60) == 0  # the shell above goes on and ends by itself
    assert list(migrations.descendants(process.pid)) == []
    assert migrations.is_migrate(["/usr/bin/thermocline", "migrate", "--near", "1GiB"])
    assert not migrations.is_migrate(["thermocline"])
    assert not migrations.is_migrate(["migrate", "migrate"])


def test_the_screen_of_a_migrating_program(tmp_path: Path) -> None:
    screen = MovesScreen(MigrationFollower(tmp_path / "moves"), lambda: True, interval=0.1)

    async def use() -> None:
        async with screen.run_test() as pilot:
            assert "waiting for the first report" in head(screen)
            report(tmp_path, 7, 2.0, 100)
            table = screen.query_one(DataTable)
            for _ in range(200):
                await pilot.pause(0.05)
                if table.row_count:
                    break
            assert "sort (7) 2.0 s, runs" in head(screen)
            assert f"near       [{'#' * 15:30}] 20 MiB of 40 MiB" in head(screen)
            assert "far        7 MiB" in head(screen)
            assert "adaptive: 150 faults/s on far data, 300 so far" in head(screen)
            shown = ["64K", "50", "100", "3.12 MiB", "6.25 MiB", "100", "200"]
            assert [str(cell) for cell in table.get_row_at(1)] == shown
            await pilot.press("q")

    asyncio.run(use())
