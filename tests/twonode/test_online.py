"""Online guidance: the planner here, the program and the kernel that moves its pages there."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from guest import Guest
from programs import GUEST_DIRECTORY, Programs

from thermocline.machine import store
from thermocline.planning.model import Plan
from thermocline.planning.replan import Replanner
from thermocline.profiles import model
from thermocline.run import config, online
from thermocline.run.config import RunTier, Setting

KNL = store.find("knl-7230")
MIB = 1 << 20
PREFIX = "/job/online"
PLAN = Plan(strategy="none", default_tier=1)


class Running:
    """A program in the guest, and what the planner knows of it."""

    def __init__(self, guest: Guest, command: str, setting: Setting) -> None:
        self.guest = guest
        self.setting = setting
        replanner = Replanner(KNL, 12 * MIB, {}, PLAN.default_tier)
        self.guided = online.Guided(replanner, served=[0, 0])
        self._seen = ""
        text = config.for_online(Path(PREFIX), PLAN, setting, ["sampler trace"])
        guest.write("/job/configuration", text)
        tiers = " ".join(f"TIER{n}={tier.nodes[0]}" for n, tier in enumerate(setting.tiers))
        started = guest.run(
            f"rm -f {PREFIX}.* /job/next /job/stop /job/status\n"
            f"({tiers} THERMOCLINE_CONFIG=/job/configuration {GUEST_DIRECTORY}/{command} "
            ">/job/said 2>&1; echo $? >/job/status) </dev/null &\n"
            f"until ls {PREFIX}.*.profile 2>/dev/null; do usleep 100000; done",
            timeout=180,
        ).check()
        self.pid = int(Path(started.split()[-1]).suffixes[0][1:])

    def follow(self, until: Callable[[], bool]) -> None:
        """Reads each profile and answers it, until the planner has seen enough."""
        deadline = time.monotonic() + 120
        while not until():
            assert time.monotonic() < deadline, f"still at {self.guided.replanner.tiers}"
            text = self.guest.run(f"usleep 200000; cat {PREFIX}.{self.pid}.profile").check()
            if text == self._seen:
                continue
            self._seen = text
            move = online.step(self.guided, model.parse(text, "profile"))
            if move:
                moves = online.moves_text(self.setting, PLAN, move.tiers)
                self.guest.write(f"{PREFIX}.moves.new", moves)
                self.guest.run(f"mv {PREFIX}.moves.new {PREFIX}.{self.pid}.moves").check()

    def tier_of(self, function: str) -> int:
        """Where the planner has an array's site."""
        keys = [key for key in self.guided.replanner.tiers if f"!{function}@" in key]
        return self.guided.replanner.tier_of(keys[0]) if keys else PLAN.default_tier

    def await_moves(self, count: int) -> None:
        """Until the runtime has said that it carried out so many plans."""
        self.guest.run(
            f"until grep -q '\"plans\": *{count}\\b' {PREFIX}.{self.pid}.profile; "
            "do usleep 100000; done",
            timeout=180,
        ).check()


@pytest.mark.parametrize("nodes", [(1, 0), (0, 1)], ids=["hbm", "cxl"])
def test_data_follows_the_phases(
    two_nodes: Guest, programs: Programs, nodes: tuple[int, int]
) -> None:
    tiers = [RunTier("fast", (nodes[0],), 12 * MIB), RunTier("slow", (nodes[1],), None)]
    running = Running(two_nodes, "phases second", Setting(tiers, KNL, modelled=False))
    running.follow(lambda: running.tier_of("first_array") == 0)
    running.await_moves(1)
    two_nodes.run("touch /job/next").check()
    running.follow(lambda: running.tier_of("second_array") == 0)
    assert running.tier_of("first_array") == 1
    running.await_moves(2)
    said = two_nodes.run(
        "touch /job/stop; until [ -s /job/status ]; do usleep 100000; done; cat /job/said", 60
    )
    assert said.check() == "ok\n"
    last = model.parse(two_nodes.run(f"cat {PREFIX}.{running.pid}.profile").check(), "profile")
    assert last.online["moves"] == 3  # up; down and up
    assert last.online["moved_bytes"] >= 3 * 8 * MIB


def test_what_stays_hot_is_not_moved_again(two_nodes: Guest, programs: Programs) -> None:
    tiers = [RunTier("fast", (1,), 12 * MIB), RunTier("slow", (0,), None)]
    running = Running(two_nodes, "phases first", Setting(tiers, KNL, modelled=False))
    running.follow(lambda: running.tier_of("first_array") == 0)
    running.await_moves(1)
    two_nodes.run("touch /job/next").check()
    seen = running.guided.last.wall_seconds if running.guided.last else 0.0
    running.follow(
        lambda: running.guided.last is not None and running.guided.last.wall_seconds > seen + 4
    )
    said = two_nodes.run(
        "touch /job/stop; until [ -s /job/status ]; do usleep 100000; done; cat /job/said", 60
    )
    assert said.check() == "ok\n"
    last = model.parse(two_nodes.run(f"cat {PREFIX}.{running.pid}.profile").check(), "profile")
    assert (last.online["plans"], last.online["moves"]) == (1, 1)
