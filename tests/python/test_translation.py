"""`thermocline simulate --translation`, with the native simulator and traces written here."""

import random
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from thermocline import traces
from thermocline.errors import BadFile, Misuse
from thermocline.machine import model, store
from thermocline.simulation import translation

from .raw_trace import Ref, write
from .test_cli import answer, call, fails, ok

MACHINE = ("--machine", "ryoo-hbm-ddr3")
PAGE = 4096


def trace(path: Path, pages: int = 4000, rounds: int = 3) -> Path:
    """Each page's first line, in a new order each round: TLBs miss, what is behind them needn't."""
    rng = random.Random(1)
    references = []
    for _ in range(rounds):
        order = list(range(pages))
        rng.shuffle(order)
        references += [Ref((1 << 32) + PAGE * page + 64 * (page % 64)) for page in order]
    return write(path, [references], ["a.out!f@a.c:1"])


def rows(text: str) -> dict[str, dict[str, Any]]:
    return {row["scheme"]: row["result"] for row in answer(text)["rows"]}


@pytest.mark.parametrize("mode", ["native", "nested"])
def test_one_table_of_all_tlbs(tmp_path: Path, mode: str) -> None:
    trace(tmp_path / "t")
    done = call(
        tmp_path, "simulate", "t", *MACHINE, "--translation", mode,
        "--tlb", "baseline,pom,shared-l2,tsb",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "penalty" in lines[0] and "refs/walk" in lines[0]
    assert [line.split()[0] for line in lines[2:6]] == ["baseline", "pom", "shared-l2", "tsb"]
    assert "this was assumed: TLBs" in done.stderr
    assert "next: " in done.stderr


def test_pom_walks_once_a_page_and_costs_time_only_with_translation(tmp_path: Path) -> None:
    trace(tmp_path / "t")
    none = answer(ok(tmp_path, "simulate", "t", *MACHINE, "--json"))["rows"][0]["result"]
    found = rows(
        ok(
            tmp_path, "simulate", "t", *MACHINE, "--translation", "nested", "--json",
            "--tlb", "baseline,pom,tsb,pom:caching=off",
        )
    )  # fmt: skip
    assert "translation" not in none
    for result in found.values():
        assert result["references"] == none["references"]
        assert result["seconds"] > none["seconds"]
        made = result["translation"]
        lookups = sum(each["lookups"] for each in made["first"])
        assert lookups == none["references"]  # a line each
        hits = sum(each["hits"] for each in made["first"])
        assert made["second"]["lookups"] == lookups - hits
    walks = {name: result["translation"]["walks"] for name, result in found.items()}
    assert walks["pom"] == walks["tsb"] == walks["pom:caching=off"] == 4000
    assert walks["baseline"] == found["baseline"]["translation"]["second_misses"] > 8000
    # Without caches each lookup is a read of near memory, and a lookup takes longer.
    near = {name: result["tiers"][0]["read_bytes"] for name, result in found.items()}
    assert near["pom:caching=off"] > near["pom"]


def test_caches_that_keep_translation_have_more_of_it(tmp_path: Path) -> None:
    # Data fill the caches: a page's line each, and 32 that are not used again.
    rng = random.Random(5)
    references = []
    for _ in range(3000):
        page = rng.randrange(8192)
        references += [Ref((1 << 32) + PAGE * page + 64 * line) for line in range(33)]
    write(tmp_path / "t", [references], ["a.out!f@a.c:1"])
    found = rows(
        ok(
            tmp_path, "simulate", "t", *MACHINE, "--translation", "native", "--json",
            "--no-prefetcher", "--tlb", "baseline,baseline:keep=0.5",
        )
    )  # fmt: skip

    def from_memory(name: str) -> int:
        return int(found[name]["translation"]["references_found"][-1])

    assert from_memory("baseline:keep=0.5") < from_memory("baseline")
    assert (
        found["baseline"]["translation"]["walks"]
        == (found["baseline:keep=0.5"]["translation"]["walks"])
    )


def test_large_pages_need_shorter_walks(tmp_path: Path) -> None:
    trace(tmp_path / "t")
    words = ("simulate", "t", *MACHINE, "--translation", "native", "--json")
    small = rows(ok(tmp_path, *words))["baseline"]["translation"]
    large = rows(ok(tmp_path, *words, "--large-pages", "100%"))["baseline"]["translation"]
    assert small["most_walk_references"] == 4
    assert large["most_walk_references"] == 3
    assert large["first"][0]["lookups"] == 0
    assert large["walks"] == 8  # 4000 pages are in eight regions of 2 MiB, and all fit


def test_pages_are_as_large_as_recorded(tmp_path: Path) -> None:
    # Ten regions of 2 MiB, of which the second to the fifth were a page each.
    base = 1 << 32
    refs = [Ref(base + PAGE * page) for page in range(5120)] * 2
    raw = write(tmp_path / "raw", [refs], ["a.out!f@a.c:1"], large=[(base + (2 << 20), 8 << 20)])
    with raw.open("rb") as stream:
        subprocess.run([traces.tool(), "collect", "-o", tmp_path / "t"], stdin=stream, check=True)
    words = (*MACHINE, "--translation", "native", "--json")

    def lookups(name: str, *more: str) -> list[int]:
        found = rows(ok(tmp_path, "simulate", name, *words, *more))["baseline"]["translation"]
        return [each["lookups"] for each in found["first"]]

    assert lookups("t") == [2 * 6 * 512, 2 * 4 * 512, 0]
    assert lookups("t", "--large-pages", "0%") == [2 * 10 * 512, 0, 0]
    assert lookups("t", "--large-pages", "100%") == [0, 2 * 10 * 512, 0]
    # Programs that share a machine keep their sizes, but for a region at each end.
    small, large, _ = lookups("t+t")
    assert small + large == 4 * 5120
    assert abs(large - 4 * 4 * 512) <= 4 * 512
    said = call(tmp_path, "simulate", "t", *words[:-1]).stderr
    assert "pages as recorded: 40.0 % of what the trace touches" in said
    write(tmp_path / "old", [refs], ["a.out!f@a.c:1"])
    assert "does not say how large" in call(tmp_path, "simulate", "old", *words[:-1]).stderr


def test_several_programs_have_spaces_of_their_own(tmp_path: Path) -> None:
    trace(tmp_path / "t", rounds=2)
    found = rows(
        ok(
            tmp_path, "simulate", "t+t", *MACHINE, "--translation", "nested", "--json",
            "--tlb", "pom", "--capacity", "50%",
        )
    )["pom"]["translation"]  # fmt: skip
    assert found["walks"] == 2 * 4000  # nobody finds the other's


def test_pages_that_migrate_are_shot_down(tmp_path: Path) -> None:
    rng = random.Random(2)
    first = [Ref((1 << 32) + PAGE * page) for page in range(2000)]  # near memory takes the first
    hot = [
        Ref((1 << 32) + PAGE * rng.randrange(1600, 2000) + 64 * rng.randrange(64))
        for _ in range(20_000)
    ]
    write(tmp_path / "t", [first + hot], ["a.out!f@a.c:1"])
    found = rows(
        ok(
            tmp_path, "simulate", "t", *MACHINE, "--translation", "native", "--json",
            "--tlb", "pom", "--capacity", "25%", "--scheme", "hma:epoch=50us:threshold=4*flat",
        )
    )  # fmt: skip
    result = found["pom"]
    moved = result["placement"]["migration"]["moved_bytes"] // PAGE
    assert moved > 100
    assert result["translation"]["shootdowns"] >= moved
    assert result["translation"]["walks"] > 2000


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--tlb", "pom"), "add native or nested"),
        (("--translation", "sideways"), "give native or nested"),
        (("--translation", "native", "--tlb", "big"), "there are baseline, pom"),
        (("--translation", "native", "--tlb", "pom,pom"), "twice"),
        (("--translation", "native", "--tlb", "pom:size=3"), "it takes bytes"),
        (("--translation", "native", "--tlb", "pom:bytes=100"), "whole pages"),
        (("--translation", "native", "--tlb", "pom:caching=maybe"), "on or off"),
        (("--translation", "native", "--tlb", "tsb:trap=-1"), "give cycles"),
        (("--translation", "native", "--tlb", "pom:large=1"), "between 0 and 1"),
        (("--translation", "native", "--tlb", "baseline:keep=2"), "between 0 and 1"),
        (("--translation", "native", "--large-pages", "120%"), "give a share"),
    ],
)
def test_misuse(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    trace(tmp_path / "t", pages=10, rounds=1)
    assert said in fails(tmp_path, 2, "simulate", "t", *MACHINE, *words)


def test_the_machine_file_says_what_the_tlbs_are() -> None:
    table = tomllib.loads(store.shipped()["ryoo-hbm-ddr3"].read_text())
    table["translation"] = {
        "levels": 5,
        "second": {"entries": 2048, "ways": 16},
        "walk_caches": [{"entries": 8, "ways": 8}],
        "second_cycles": {"value": 8, "source": "a data sheet"},
        "coalesce": 4,
        "walkers": 2,
    }
    machine = model.from_table(table, "m.toml")
    choice = translation.Choice("nested", translation.parse("pom:bytes=1MiB"))
    json, assumed = translation.configuration(choice, machine, 10**9, 0, [1 << 30, 1 << 32])
    assert assumed == []
    assert json["levels"] == 5
    assert json["coalesce"] == 4
    assert json["second"] == {"entries": 2048, "ways": 16}
    assert json["walk_caches"] == [{"entries": 8, "ways": 8}]
    assert json["buffer"] == {"tier": 0, "address": 1 << 30, "bytes": 1 << 20}
    again = model.from_table(tomllib.loads(store.to_toml(machine)), "again.toml")
    assert again == machine
    table["translation"] = {"second": {"entries": 10, "ways": 4}}
    with pytest.raises(BadFile, match="10 entries are no multiple of 4 ways"):
        model.from_table(table, "m.toml")


def test_coalescing_needs_fewer_entries(tmp_path: Path) -> None:
    # 4,000 pages, first touched in order, then at random: more than 1,536 entries hold, or in
    # groups of four not.
    ordered = [Ref((1 << 32) + PAGE * page) for page in range(4000)]
    rng = random.Random(4)
    again = [Ref((1 << 32) + PAGE * rng.randrange(4000)) for _ in range(12_000)]
    write(tmp_path / "t", [ordered + again], ["a.out!f@a.c:1"])
    text = store.shipped()["ryoo-skylake"].read_text()
    (tmp_path / "one.toml").write_text(text)
    (tmp_path / "four.toml").write_text(text.replace("levels = 4\n", "levels = 4\ncoalesce = 4\n"))
    misses = {}
    for name in ("one", "four"):
        words = ("simulate", "t", "--machine", f"./{name}.toml", "--translation", "native")
        found = rows(ok(tmp_path, *words, "--json"))["baseline"]["translation"]
        misses[name] = found["second_misses"]
    assert misses["one"] > 4000 + 12_000 * 0.5
    assert misses["four"] < 4000 + 12_000 * 0.05


def test_one_tier_keeps_tables_and_buffer_apart() -> None:
    machine = store.find("ryoo-hbm-ddr3")
    choice = translation.Choice("native", translation.parse("pom"))
    json, _ = translation.configuration(choice, machine, 10**9, 0, [1 << 30])
    tables, buffer = json["tables"], json["buffer"]
    assert tables["address"] == 1 << 30
    assert buffer["address"] == tables["address"] + tables["bytes"]
    whole = translation.kept_bytes(choice, 0, 1)[0]
    assert tables["bytes"] + buffer["bytes"] == whole
    with pytest.raises(Misuse):
        translation.choices("native", "", "0%", "0%")
