"""The strategy write-isolation, spread sites, and what a run tells the allocation policies."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from thermocline.errors import Misuse
from thermocline.machine import store
from thermocline.machine.detect import detect
from thermocline.machine.model import Machine
from thermocline.planning import capacity, model, planner
from thermocline.planning.model import Plan, PlannedSite
from thermocline.planning.speed import Speed
from thermocline.profiles.merge import Candidate
from thermocline.run import classes, config, memory
from thermocline.strategies import write_isolation
from thermocline.strategies.fastest import Memory

from .conftest import RECORDED, MakeProfile, site

# Reading the second tier takes a third as long as writing it: a site whose writes are a quarter of
# its traffic is as busy with either.
SPEED = Speed(read=(10.0, 3.0), write=(8.0, 1.0), channel=(0, 0))
OPTANE = store.find("optane-8260l")
KNL = store.find("knl-7230")
HBM = detect(RECORDED / "xeon-max-flat-snc4").machine
SINGLE = detect(RECORDED / "two-sockets").machine


def candidate(key: str, bytes_: int, reads: int, writes: int) -> Candidate:
    return Candidate(key, bytes_, reads + writes, 0.0, reads)


SITES = [
    candidate("matrix", 100, 1000, 0),
    candidate("graph", 100, 901, 300),  # 24.98 %: just read-mostly
    candidate("state", 50, 300, 100),  # 25 %: just write-heavy
    candidate("log", 10, 100, 100),
    candidate("idle", 10, 0, 0),
]


def choose(room: int) -> dict[str, str]:
    choice = write_isolation.choose(SITES, Memory(SPEED, (room, 10**9), (0, 0), (0, 0)))
    assert choice.spread == {s.key for s in SITES}
    assert all(choice.tier_of(s.key) == int(s.key not in choice.fast) for s in SITES)
    return {s.key: choice.reason_for(s.key) for s in SITES}


def test_writers_go_to_tier_0_and_readers_do_not_even_if_there_is_room() -> None:
    reasons = choose(10**6)
    assert reasons["log"] == "write-heavy: 50% writes"
    assert reasons["state"] == "write-heavy: 25% writes"
    assert {reasons[key] for key in ("matrix", "graph", "idle")} == {"read-mostly"}


def test_the_densest_writers_come_first() -> None:
    reasons = choose(59)
    assert reasons["log"].startswith("write-heavy: 50%")
    assert reasons["state"] == "write-heavy, no room beside heavier"


def test_writers_that_are_never_there_together_can_have_the_same_room() -> None:
    held = {"log": np.array([10.0, 0.0]), "state": np.array([0.0, 50.0])}
    apart = Memory(SPEED, (50, 10**9), (0, 0), (0, 0), held=held)
    assert set(write_isolation.choose(SITES, apart).fast) == {"log", "state"}


def test_what_is_write_heavy_follows_from_the_machine() -> None:
    """With writes as cheap as reads, as many bytes of either are needed."""
    even = Memory(replace(SPEED, write=(10.0, 3.0)), (10**6, 10**9), (0, 0), (0, 0))
    assert set(write_isolation.choose(SITES, even).fast) == {"log"}


def _request(machine: Machine) -> planner.Request:
    return planner.Request(machine, capacity.parse("50%"), "write-isolation", "none")


def test_a_plan_from_a_profile(make_profile: MakeProfile) -> None:
    writer = site("writer", 5 * 10**4, 4096, write_bytes=5 * 10**4)
    profile = make_profile([site("reader", 10**6, 4096), writer])
    made = planner.make([profile], _request(OPTANE))
    tiers = {planned.key: planned.tier for planned in made.sites}
    assert sorted(tiers.values()) == [0, 1]
    assert next(key for key, tier in tiers.items() if tier == 0).endswith("writer")
    assert all(planned.spread for planned in made.sites)
    assert all(planned.spread for planned in model.parse(model.to_toml(made), "x").sites)


def test_it_needs_bandwidths_and_takes_sites_whole() -> None:
    with pytest.raises(Misuse, match="--split is for the strategy fastest"):
        planner.check(replace(_request(OPTANE), split=True))
    bare = OPTANE.model_copy(
        update={"tier": [t.model_copy(update={"write_bandwidth": None}) for t in OPTANE.tier]}
    )
    with pytest.raises(Misuse, match="no read and write bandwidth"):
        planner.check(_request(bare))


def _plan() -> Plan:
    return Plan(
        strategy="write-isolation",
        sites=[
            PlannedSite(tier=0, key="a", spread=True),
            PlannedSite(tier=1, key="b", spread=True),
            PlannedSite(tier=1, key="c"),
            PlannedSite(tier=0, key="d", shares=[0.75, 0.25], spread=True),
            PlannedSite(tier=0, key="e", shares=[0.75, 0.25]),
        ],
    )


def test_spread_sites_have_classes_of_their_own() -> None:
    setting = config.tiers_for(_plan(), HBM, None, None)
    text = config.for_run(Path("/x"), _plan(), setting, trace=False)
    assert text.splitlines()[-9:] == [
        "class 2 shares 1,0 spread", "class 3 shares 0,1 spread",
        "class 4 shares 768,256 spread", "class 5 shares 768,256",
        "site 2 a", "site 3 b", "site 1 c", "site 4 d", "site 5 e",
    ]  # fmt: skip


def test_one_node_a_tier_has_nothing_to_spread_over() -> None:
    found = classes.of(_plan(), 2, spread=False)
    assert found == classes.Classes([(768, 256)], {"a": 0, "b": 1, "c": 1, "d": 2, "e": 2})
    setting = config.tiers_for(_plan(), SINGLE, KNL, None)
    assert "spread" not in config.for_run(Path("/x"), _plan(), setting, trace=False)


def test_what_a_run_tells_of_its_memories(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(memory.VARIABLE, raising=False)
    setting = config.tiers_for(_plan(), HBM, None, None)
    text = memory.text_of(setting)
    assert text is not None and text.split(" ")[0] == "4:0,5:1,6:2,7:3"
    assert memory.environment(setting) == {memory.VARIABLE: text}
    monkeypatch.setenv(memory.VARIABLE, "0:1")
    assert memory.environment(setting) == {}
    assert memory.text_of(config.tiers_for(_plan(), SINGLE, KNL, None)) is None


def _bound(machine: Machine, fast: tuple[int, ...], big: tuple[int, ...]) -> config.Setting:
    tiers = [config.RunTier("fast", fast, None), config.RunTier("big", big, None)]
    return config.Setting(tiers, machine, modelled=False)


def test_weights_where_bandwidths_add_up() -> None:
    reads = [tier.read_bandwidth.value for tier in KNL.tier if tier.read_bandwidth]
    percent = round(100 * reads[0] / sum(reads))
    assert memory.text_of(_bound(KNL, (1,), (0,))) == f"1:0 weights {percent}:{100 - percent}"
    # Optane and its DRAM share channels.
    assert memory.text_of(_bound(OPTANE, (1, 0), (2, 3))) == "0:2,1:3"
    assert memory.text_of(_bound(OPTANE, (0, 1), (2,))) == "0:2,1:2"
    assert memory.text_of(_bound(OPTANE, tuple(range(17)), (20,))) is None
