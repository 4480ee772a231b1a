"""Schemes that swap lines in hardware, from their names to the answer."""

import random
from pathlib import Path
from typing import Any

import pytest

from thermocline.errors import Misuse
from thermocline.machine import store
from thermocline.simulation import config, scheme

from .raw_trace import Ref, write
from .test_cli import answer, call, fails, ok

RYOO = ("--machine", "ryoo-hbm-ddr3", "--capacity", "20%")
SWAPPING = ("cameo", "cameo-p", "pom", "silc-fm")


def hot_trace(path: Path, count: int = 20_000) -> Path:
    """Nine of ten references go to a seventh of the pages, wherever they are."""
    rng = random.Random(1)
    hot = rng.sample(range(2048), 300)
    refs = []
    for i in range(count):
        page = rng.choice(hot) if i % 10 else rng.randrange(2048)
        refs.append(Ref((1 << 28) + page * 4096 + rng.randrange(64) * 64, 0, i % 7 == 0, gap=3))
    return write(path, [refs], ["a.out!hot@a.c:1", "(stack)"])


def rows(text: str) -> dict[str, dict[str, Any]]:
    return {row["scheme"]: row["result"] for row in answer(text)["rows"]}


def near_share(result: dict[str, Any]) -> float:
    counts = result["organisation"]
    near, far = float(counts["near_reads"]), float(counts["far_reads"])
    return near / (near + far)


def test_the_schemes_of_the_thesis_in_one_table(tmp_path: Path) -> None:
    hot_trace(tmp_path / "t")
    names = "random,hma,cameo,cameo-p,pom,alloy,cache,silc-fm"
    done = call(tmp_path, "simulate", "t", *RYOO, "--scheme", names)
    assert done.returncode == 0, done.stderr
    assert [line.split()[1] for line in done.stdout.splitlines()[2:10]] == names.split(",")


def test_hot_lines_come_near(tmp_path: Path) -> None:
    hot_trace(tmp_path / "t", 120_000)
    found = rows(ok(tmp_path, "simulate", "t", *RYOO, "--json", "--no-prefetcher",
                    "--scheme", ",".join(("random", *SWAPPING))))  # fmt: skip
    for name in ("cameo", "silc-fm"):
        assert near_share(found[name]) > 0.3, name  # random: 0.2
        assert found[name]["tiers"][0]["by_purpose"]["migration"]["read_bytes"] > 0
    # All reads of the program are there, wherever they were served.
    reads = {sum(found[name]["organisation"][f"{tier}_reads"] for tier in ("near", "far"))
             for name in SWAPPING}  # fmt: skip
    assert len(reads) == 1
    # Ryoo 2017, section 5.1.4: 0.39 % of near memory.
    blocks = found["silc-fm"]["organisation"]["metadata_bytes"] / 8
    assert blocks * 2048 == pytest.approx(0.2 * 2048 * 4096, rel=0.02)
    assert found["silc-fm"]["organisation"]["split"] == pytest.approx(0.8)


def test_features_are_switched_off_by_name(tmp_path: Path) -> None:
    hot_trace(tmp_path / "t")
    found = rows(ok(tmp_path, "simulate", "t", *RYOO, "--json", "--scheme",
                    "silc-fm:metadata=channel:threshold=5,silc-fm:locking=off:history=off:ways=1,"
                    "silc-fm:metadata=free:predictor=off"))  # fmt: skip
    channel, without, free = (result["organisation"] for result in found.values())
    assert channel["locked_blocks"] > 0 and without["locked_blocks"] == 0
    assert channel["prefetched_lines"] > 0 and without["prefetched_lines"] == 0
    assert channel["lookups"] > 0 and free["lookups"] == 0
    assert free["predictions"] == 0
    # A channel of its own carries the entries, and takes its energy.
    whole = next(iter(found.values()))
    assert whole["energy"]["memory_joules"] > sum(t["energy_joules"] for t in whole["tiers"])


def test_near_and_far_are_as_large_as_the_program() -> None:
    machine = store.find("ryoo-hbm-ddr3")
    touched = 500 * 4096 * 1000
    setting = config.Setting(machine, 2, touched, near_bytes=touched // 5)
    made = {
        name: config.configure(setting, Path("t"), scheme.parse(name), None).json
        for name in ("cameo", "random")
    }
    near, far = (tier["nodes"][0]["bytes"] for tier in made["cameo"]["tiers"])
    assert touched <= near + far <= touched * 1.06
    assert made["random"]["tiers"][1]["nodes"][0]["bytes"] > touched


SMALL, LARGE = "a.out!small@a.c:1", "a.out!large@a.c:2"


def two_sites(path: Path, count: int = 40_000) -> Path:
    """Random lines of a site that fits in near memory and of one that doesn't, in turn."""
    rng = random.Random(2)
    refs = []
    for i in range(count):
        page = 256 + rng.randrange(1792) if i % 2 else rng.randrange(256)
        refs.append(Ref((1 << 28) + page * 4096 + rng.randrange(64) * 64, i % 2, gap=3))
    return write(path, [refs], [SMALL, LARGE, "(stack)"])


def two_site_plan(path: Path, small: str, large: str) -> None:
    path.write_text(
        'format = 1\nstrategy = "thermos"\nmachine = "ryoo-hbm-ddr3"\n'
        f'sites = [{{{small}, key = "{SMALL}"}}, {{{large}, key = "{LARGE}"}}]\n'
    )


def far_writes(result: dict[str, Any], key: str) -> int:
    """Bytes, which of a site that only reads are its lines that were moved."""
    site = next(each for each in result["sites"] if each["key"] == key)
    return int(site["tiers"][1]["write_bytes"])


def test_a_plan_tells_silc_fm_what_to_lock_and_to_keep_out(tmp_path: Path) -> None:
    two_sites(tmp_path / "t")
    two_site_plan(tmp_path / "p", "tier = 0", "tier = 1")
    found = rows(ok(tmp_path, "simulate", "t", *RYOO, "--json", "--no-prefetcher", "--plan", "p",
                    "--scheme", "silc-fm,silc-fm:plan=on,guided*silc-fm:plan=on"))  # fmt: skip
    alone, told, both = found.values()
    # Pages anywhere: those of the small site come near, each block once, the large one's stay.
    assert near_share(told) > near_share(alone) + 0.1
    assert 0 < told["organisation"]["planned_blocks"] <= 256 * 2
    assert told["organisation"]["moved_lines"] < alone["organisation"]["moved_lines"]
    assert far_writes(alone, LARGE) > 0 and far_writes(told, LARGE) == 0
    # Pages where the plan says: all is in its place, near and far, and nothing moves.
    counts = both["organisation"]
    assert counts["moved_lines"] == 0 and counts["planned_blocks"] == 256 * 2
    assert counts["far_reads"] == counts["kept_out_reads"] == counts["cases"]["other_empty"]
    assert counts["near_reads"] == counts["cases"]["native_home"]


def test_of_a_site_in_both_tiers_silc_fm_decides(tmp_path: Path) -> None:
    two_sites(tmp_path / "t", 10_000)
    two_site_plan(tmp_path / "p", "tier = 0, shares = [0.6, 0.4]", "tier = 1, shares = [0.1, 0.9]")
    found = rows(ok(tmp_path, "simulate", "t", *RYOO, "--json", "--plan", "p",
                    "--scheme", "silc-fm,silc-fm:plan=on"))  # fmt: skip
    alone, told = (result["organisation"] for result in found.values())
    assert told.pop("planned_blocks") == told.pop("kept_out_reads") == 0
    assert told == alone


def test_silc_fm_with_a_plan_asks_for_one(tmp_path: Path) -> None:
    two_sites(tmp_path / "t", 100)
    says = fails(tmp_path, 2, "simulate", "t", *RYOO, "--scheme", "silc-fm:plan=on")
    assert "scheme silc-fm:plan=on needs a plan: give --plan" in says


def test_a_nickname_takes_options() -> None:
    parsed = scheme.parse("silc-fm:locking=off:split=0.7")
    assert parsed.placement.name == "random"
    assert parsed.organisation.options == {"locking": "off", "split": 0.7}
    assert scheme.parse("cameo-p:prefetch=1").organisation.options == {"prefetch": 1}
    hma = scheme.parse("hma:threshold=9")
    assert hma.placement.options == {"threshold": 9} and hma.organisation.name == "flat"
    for wrong in ("silc-fm:lock=off", "silc-fm:ways=-1", "silc-fm:ways=many", "sillc-fm"):
        with pytest.raises(Misuse):
            scheme.parse(wrong)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("silc-fm:wyas=1", "silc-fm has no option 'wyas=1': it takes ways, threshold, aging,"),
        ("pom:ways=4", "pom has no option 'ways=4': it takes threshold, cache_bytes"),
        ("cache:row_bytes=64", "memory-cache has no option 'row_bytes=64': it takes share, lookup"),
        ("hma:epochs=1ms", "hma has no option 'epochs=1ms': it takes epoch, bytes, threshold"),
        ("random:weights=3/1", "random has no option 'weights=3/1': it takes none"),
        ("interleave:weight=1/1*flat:ways=2", "interleave has no option 'weight=1/1': it takes"),
        ("random*flat:ways=2", "flat has no option 'ways=2': it takes none"),
    ],
)
def test_unknown_options_are_misuse_that_names_the_known(
    tmp_path: Path, name: str, says: str
) -> None:
    hot_trace(tmp_path / "t", 100)
    assert says in fails(tmp_path, 2, "simulate", "t", *RYOO, "--scheme", name)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("silc-fm:locking=maybe", "organisation.locking is 'maybe': give on or off"),
        ("silc-fm:plan=maybe", "organisation.plan is 'maybe': give on or off"),
        ("silc-fm:threshold=63", "organisation.threshold"),
        ("silc-fm:metadata=moon", "organisation.metadata"),
        ("pom:threshold=0", "organisation.threshold"),
        ("cameo:prefetch=64", "organisation.prefetch"),
        ("cameo:row_bytes=8", "organisation.row_bytes"),
    ],
)
def test_options_that_make_no_sense_are_said(tmp_path: Path, name: str, says: str) -> None:
    hot_trace(tmp_path / "t")
    assert says in fails(tmp_path, 1, "simulate", "t", *RYOO, "--scheme", name)
