"""`thermocline reproduce`: its pure parts."""

import json
import struct
from pathlib import Path
from typing import Any

import pytest

from thermocline.errors import ThermoclineError
from thermocline.machine import store
from thermocline.reproduce import artefacts, cache, papers, scale, tail
from thermocline.reproduce.item import Claim, Result, Table
from thermocline.reproduce.membrain import fig2, fig4, fig8, paper, table1

from .conftest import MakeProfile, site
from .test_cli import call, fails

# --- The thinner: the stream of one thread. ---


def record(address: int, kind: int = 0, size: int = 8, owner: int = 1) -> bytes:
    return struct.pack("<QIIII", address, size >> 27, owner, 3, kind | size << 5)


def chunk(records: list[bytes], first: int = 0) -> tuple[bytes, bytes]:
    payload = b"".join(records)
    head = tail.HEADER.pack(
        tail.MAGIC, 1, tail.RECORDS, len(payload), len(records), 0, 0, first, 0, 0, 0, 0
    )
    return head, payload


def owners(names: list[str]) -> tuple[bytes, bytes]:
    strings, rows = b"", b""
    for name in names:
        rows += struct.pack("<I", len(strings))
        strings += name.encode() + b"\0"
    payload = struct.pack("<IIII", 0, len(names), 0, len(strings)) + rows + strings
    head = tail.HEADER.pack(
        tail.MAGIC, 1, tail.OWNERS, len(payload), len(names), 0, 0, 0, 0, 0, 0, 0
    )
    return head, payload


def addresses(chunks: list[tuple[bytes, bytes]]) -> list[int]:
    return [
        struct.unpack_from("<Q", payload, at)[0]
        for _, payload in chunks
        for at in range(0, len(payload), tail.RECORD.itemsize)
    ]


def test_before_the_region_first_touches_are_kept_in_their_order() -> None:
    thinner = tail.Thinner(skip=6)
    thinner.chunk(*owners(["(stack)", "a!f@a.c:1"]))
    # The second and third pages share their low bits.
    far = (tail.LATELY + 1) << 12
    early = [0x1008, 0x1010, far, 0x1018, far + 8, 0x2000]
    kept = thinner.chunk(*chunk([record(each) for each in early]))
    assert addresses(kept) == [0x1008, far, 0x2000]
    head = tail.HEADER.unpack(kept[0][0])
    assert head[3] == 3 * tail.RECORD.itemsize
    assert head[4] == 3
    late = chunk([record(0x1008), record(0x1008), record(0x3000, owner=0)], 24)
    assert thinner.chunk(*late) == [late]
    found = thinner.finish()
    assert (found.references, found.kept_before, found.region) == (9, 3, 3)
    assert found.pages == {"(stack)": 1, "a!f@a.c:1": 3}


def test_a_chunk_of_known_pages_is_a_hole() -> None:
    thinner = tail.Thinner(skip=100)
    thinner.chunk(*owners(["(stack)", "a!f@a.c:1"]))
    thinner.chunk(*chunk([record(0x1000)]))
    assert thinner.chunk(*chunk([record(0x1010)], 4)) == []


def test_pages_that_went_back_are_touched_first_again() -> None:
    thinner = tail.Thinner(skip=100)
    thinner.chunk(*owners(["(stack)", "a!f@a.c:1"]))
    gone = record(0x1000, kind=tail.RETURN, size=0x2000)
    early = [record(0x1000), record(0x2000), record(0x3000), gone]
    kept = thinner.chunk(*chunk([*early, record(0x1000), record(0x2008), record(0x3000)]))
    assert addresses(kept) == [0x1000, 0x2000, 0x3000, 0x1000, 0x1000, 0x2008]


def test_several_threads_are_refused() -> None:
    head = tail.HEADER.pack(tail.MAGIC, 1, tail.RECORDS, 24, 1, 1, 0, 0, 0, 0, 0, 0)
    with pytest.raises(ThermoclineError, match="several threads"):
        tail.Thinner(0).chunk(head, record(0))


def test_the_end_counts_what_was_kept() -> None:
    thinner = tail.Thinner(skip=2)
    thinner.chunk(*owners(["(stack)", "a!f@a.c:1"]))
    thinner.chunk(*chunk([record(0x1000), record(0x1000)]))
    thinner.chunk(*chunk([record(0x1000)]))
    head = tail.HEADER.pack(tail.MAGIC, 1, tail.END, 32, 1, 0, 0, 0, 0, 0, 0, 0)
    [(_, payload)] = thinner.chunk(head, struct.pack("<QQQQ", 0, 12, 3, 0))
    assert struct.unpack("<QQQQ", payload) == (0, 12, 2, 0)


# --- Sweeps and the cache. ---


def test_a_cached_folder_is_filled_once_and_never_half(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    calls: list[int] = []

    def fill(folder: Path) -> None:
        (folder / "x").write_text("1")
        calls.append(1)
        if len(calls) == 1:
            raise ThermoclineError("no")

    with pytest.raises(ThermoclineError):
        cache.folder("a", fill)
    assert not list(cache.root().iterdir())
    assert (cache.folder("a", fill) / "x").read_text() == "1"
    cache.folder("a", fill)
    assert len(calls) == 2
    assert cache.key(1, "a") != cache.key(1, "b")


# --- The paper. ---


def test_the_last_cache_is_the_machine_s_divided() -> None:
    machine = scale.with_smaller_cache(store.find("knl-7230"), 512)
    assert machine.cache[-1].bytes.value == 32 * 2**20 / 512
    assert machine.cache[-1].shared_by == 1
    assert machine.cache[0] == store.find("knl-7230").cache[0]


def test_table1_of_the_paper_as_time() -> None:
    assert paper.TABLE1["imagick"].mcdram_time == pytest.approx(531.0 / 609.2)
    assert paper.TABLE1["amg"].mcdram_time == pytest.approx(1.2 / 2.5)


def test_the_curve_goes_by_hotness(make_profile: MakeProfile) -> None:
    profile = make_profile([site("cold", 10, 600), site("hot", 60, 200), site("warm", 30, 200)])
    found = fig2.curve(profile)
    assert found.capacity == pytest.approx((0, 0.2, 0.4, 1.0))
    assert found.bandwidth == pytest.approx((0, 0.6, 0.9, 1.0))
    assert found.at(0.1) == pytest.approx(0.3)
    assert found.at(0.7) == pytest.approx(0.95)
    assert found.at(2) == pytest.approx(1.0)


def times(gain: float) -> dict[tuple[str, int, str, str], float]:
    """All bars alike, but first touch slower by `gain`."""
    return {
        (program, context, capacity, bar): 1.0 + (gain if bar == "first-touch" else 0)
        for program in ("ours", fig4.MEAN)
        for context in paper.CONTEXTS
        for capacity in paper.CAPACITIES
        for bar in fig4.BARS
    }


@pytest.mark.parametrize(("gain", "holds"), [(0.25, [True, False]), (0.05, [False, True])])
def test_fig4_compares_gains_with_the_paper_s_words(gain: float, holds: list[bool]) -> None:
    made = fig4.claims(times(gain), {"imagick": "ours"})
    assert [claim.holds for claim in made[:2]] == holds
    assert made[2].holds  # thermos is as good as the others
    assert not made[3].holds  # context changes nothing here
    assert made[-1].holds  # 1.0 is MCDRAM-only's time


def test_fig4_s_table_has_a_row_a_workload() -> None:
    table = fig4.table(times(0.25), {"ours": "ours (x)", fig4.MEAN: fig4.MEAN}, 4)
    assert len(table.columns) == 1 + 3 * 5
    assert [row[:3] for row in table.rows] == [
        ("ours (x)", "1.250", "1.000"),
        (fig4.MEAN, "1.250", "1.000"),
    ]


def test_the_second_half_is_the_difference() -> None:
    def made(seconds: float, read: int) -> dict[str, Any]:
        return {"seconds": seconds, "tiers": [{"read_bytes": read, "write_bytes": 10}]}

    found = fig8.steady(made(3.0, 500), made(1.0, 100))
    assert (found.seconds, found.bytes, found.bandwidth) == (2.0, 400.0, 200.0)
    assert found.over(fig8.Steady(1.0, 800.0)) == {"time": 2, "bandwidth": 0.25, "traffic": 0.5}


def test_fig8_s_claims() -> None:
    thermos = {"time": 1.01, "bandwidth": 0.72, "traffic": 0.72}
    cached = {"time": 1.0, "bandwidth": 1.0, "traffic": 1.0}
    sampled = {"time": 1.16, "bandwidth": 0.8, "traffic": 0.8}
    row = {"isolated": thermos, "fastest": thermos, "cache": cached, "sampled": sampled}
    found = {"ours": row, fig8.MEAN: row}
    made = fig8.claims(found, {"roms": "ours"})
    assert made[0].holds
    assert made[1].holds
    assert made[2].holds
    assert "1.0 % slower" in made[0].ours
    assert not made[3].holds  # on 1 of 1, not 4 of 6


def test_table1_s_claims() -> None:
    row = table1.Row("ours (amg)", "amg", "8", "x/s", 0.5, 100, 0.0, 1, 2, 1, 1, 20, 20, 0.0)
    assert [claim.holds for claim in table1.claims([row])] == [True, True, True]
    slow = table1.Row("ours (amg)", "amg", "8", "x/s", 0.95, 100, 0.0, 1, 2, 9, 9, 9, 9, 0.0)
    assert [claim.holds for claim in table1.claims([slow])] == [False, False, False]


def test_what_is_written(tmp_path: Path) -> None:
    def draw(figure: Any) -> None:
        figure.subplots().plot([0, 1])

    claim = Claim("VI", "faster", "slower", False)
    result = Result((Table("t", ("a",), (("1",),)),), (claim,), ("n",), {"x": 1}, draw)
    artefacts.write(tmp_path, "fig", result)
    assert (tmp_path / "fig.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "fig.svg").read_text()
    found = json.loads((tmp_path / "fig.json").read_text())
    assert found["data"] == {"x": 1}
    assert found["claims"][0]["holds"] is False
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fig.json", "fig.png", "fig.svg"]
    assert claim.text == "DISAGREES: VI: faster; here: slower"


# --- The command. ---


def test_without_a_paper_the_list(tmp_path: Path) -> None:
    done = call(tmp_path, "reproduce", "--json")
    names = ["table1", "fig2", "table2", "fig4", "fig5", "fig6", "fig7", "fig8"]
    rows = [row for row in json.loads(done.stdout) if row["paper"] == "membrain"]
    drawings = [row["item"] for row in rows if row["state"].startswith("not made:")]
    assert drawings == ["fig1", "fig3"]
    assert [row["item"] for row in rows if row["item"] not in drawings] == names
    assert [each.name for each in papers()["membrain"].items] == names


def test_misuse(tmp_path: Path) -> None:
    assert "no paper 'optan'" in fails(tmp_path, 2, "reproduce", "optan")
    assert "has no 'fig9'" in fails(tmp_path, 2, "reproduce", "membrain", "fig9")
    assert "--all is every paper" in fails(tmp_path, 2, "reproduce", "membrain", "--all")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "fig2.json").write_text("{}")
    assert "--force" in fails(tmp_path, 2, "reproduce", "membrain", "fig2", "--out", "out")
