"""`thermocline reproduce optane` on a tiny machine: each item, from simulations to its tables."""

import json
import struct
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from thermocline.errors import ThermoclineError
from thermocline.executors import Piece
from thermocline.machine import configurations, store
from thermocline.machine.model import Machine
from thermocline.reproduce import artefacts, tail
from thermocline.reproduce.item import Item
from thermocline.reproduce.optane import (
    PAPER,
    accumulate,
    common,
    fig3,
    fig4,
    fig5,
    fig9,
    fig13,
    fig14_15,
    graphs,
    host,
    mixed,
    patterns,
    runs,
    small,
    split,
    staged,
    weighted,
)
from thermocline.reproduce.optane.dealer import ENTER, LEAVE, LINES, NO_STATIC, PAGE, Dealer
from thermocline.reproduce.optane.patterns import Pattern
from thermocline.reproduce.optane.runs import OptaneStudy
from thermocline.simulation import runner

MACHINE = store.find("optane-8260l")
OURS = ["staged", "weighted"]
SURVEY = {"owners": ["(stack)", "a.out!x::fillStaged@b.h:12:9", "a.out!x::fillStaged@b.h:9:18"]}


class Here:
    """An executor that starts no processes of its own."""

    def run(self, pieces: Sequence[Piece], done: Callable[[int], None]) -> list[Any]:
        """One after the other."""
        return [piece.call() for piece in pieces]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OptaneStudy]:
    """Few sizes, divided by much more; graphs are kernels of a page."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.setattr(small, "DIVISOR", 2**16)
        for module in (accumulate, fig5, fig13):
            patch.setattr(module, "SIZES", (16, 256, 512))
        patch.setattr(fig13, "LARGE", 512)
        patch.setattr(fig3, "SIZES", (16, 64, 160))
        patch.setattr(fig4, "THREADS", (4,))
        patch.setattr(mixed, "_PAGES", 8)
        patch.setattr(fig14_15, "SIZES", (32, 192))
        patch.setattr(weighted, "MACHINES", dict.fromkeys(weighted.MACHINES, 2))
        patch.setattr(split, "INTENSITIES", (0.125, 2.0, 4.0))
        patch.setattr(split, "OPTANE", (0.0, 0.1, 0.5, 0.9, 1.0))
        patch.setattr(runs, "_graph_trace", graph_trace)
        yield OptaneStudy(MACHINE)


def graph_trace(graph: graphs.Graph, machine: Machine) -> runs.Made:
    """As if a program had been recorded: an update of a page a thread, whatever the kernel."""
    made = runs._kernel_trace(Pattern("1r1w", graph.threads, 1, 1, 2))
    return replace(made, touched=24 * 2**20, facts={"kept": 1000, "swept": 2, "survey": SURVEY})


@pytest.mark.parametrize("item", PAPER.items, ids=lambda item: str(item.name))
def test_each_item_makes_its_tables(item: Item, tiny: OptaneStudy, tmp_path: Path) -> None:
    tiny.simulate(item.runs(tiny), Here(), lambda *_: None)
    result = item.result(tiny)
    assert result.tables
    for table in result.tables:
        assert table.rows
        assert all(len(row) == len(table.columns) for row in table.rows)
    assert any("divided by" in note for note in result.notes)
    artefacts.write(tmp_path, item.name, result)
    data = json.loads((tmp_path / f"{item.name}.json").read_text())
    assert len(data["claims"]) == len(result.claims)


def test_the_paper_has_its_tables_and_figures() -> None:
    names = [item.name for item in PAPER.items]
    assert names == ["table1", "table2", *(f"fig{number}" for number in range(3, 18)), *OURS]
    assert [name for name, _, _ in PAPER.left_out] == ["fig1", "fig2"]


def test_ratios_to_dram_stay() -> None:
    for divisor in (2048, 16384):
        for mode, gib in ((False, 168), (True, 192)):
            made = small.machine(MACHINE, mode, False, divisor)
            assert made.tier[0].capacity_bytes == gib * 2**30 // divisor
            assert made.tier[1].capacity_bytes == 1536 * 2**30 // divisor
        last = made.cache[-1]
        assert last.shared_by == small.THREADS
        assert last.bytes.value == pytest.approx(35.75 * 2**20 / divisor, rel=0.4)


# --- Kernels as traces. ---


def test_a_kernel_s_traffic_is_what_it_says(tiny: OptaneStudy) -> None:
    reads = {"read": 1, "nt-write": 0, "nt-copy": 1, "1r1w": 1, "2r1w": 2, "3r1w": 3, "copy": 2}
    for kernel, lines in reads.items():
        pattern = Pattern(kernel, 4, 1, 16, 3)
        run = runs.of_kernel(pattern, "DRAM-local", non_temporal=kernel.startswith("nt"))
        tiny.simulate(common.needs(run), Here(), lambda *_: None)
        per_pass = 4 * 16 * PAGE
        whole = tiny.answer(run)["tiers"][0]
        written = per_pass * (kernel not in ("read",))
        assert whole["read_bytes"] == pytest.approx(3 * lines * per_pass, rel=0.01)
        assert whole["write_bytes"] == pytest.approx(3 * written, rel=0.05)
        found = common.measured(tiny, run)
        assert found.bytes == 2 * tiny.factor * pattern.bytes


def test_threads_work_on_their_own_socket(tiny: OptaneStudy) -> None:
    pattern = Pattern("read", 8, 2, 8, 2)
    spread = runs.of_kernel(pattern, runs.GUIDED, placed=(("a", (1.0, 0.0)),))
    split_ = runs.of_kernel(pattern, runs.GUIDED, placed=(("a", (0.25, 0.75)),))
    interleaved = runs.of_kernel(pattern, "DRAM-PMM-interleave")
    tiny.simulate([spread, split_, interleaved], Here(), lambda *_: None)
    assert tiny.answer(spread)["remote_lines"] == 0
    assert tiny.answer(split_)["remote_lines"] == 0
    assert tiny.answer(interleaved)["remote_lines"] > 0
    near, far = (tier["read_bytes"] for tier in tiny.answer(split_)["tiers"])
    assert far / (near + far) == pytest.approx(0.75, abs=0.05)


def test_a_stage_is_the_first_site_of_its_function(tiny: OptaneStudy) -> None:
    item = PAPER.item("staged")
    assert item is not None
    tiny.simulate(item.runs(tiny), Here(), lambda *_: None)
    configuration = tiny.configuration(staged._run(staged.STAGED))
    assert configuration["placement"]["sites"] == {SURVEY["owners"][2]: 0}
    assert configuration["placement"]["spread"] == [SURVEY["owners"][2]]
    assert configuration["placement"]["default_tier"] == 1


def test_spilling_follows_eq1(tiny: OptaneStudy) -> None:
    item = PAPER.item("fig13")
    assert item is not None
    tiny.simulate(item.runs(tiny), Here(), lambda *_: None)
    data = item.result(tiny).data
    for rate, model in zip(data["rate"], data["eq1"], strict=True):
        assert rate > 0.9 * model  # tiny: each memory has a few rows only
    assert data["dram_share"] == pytest.approx([1, 168 / 256, 168 / 512], rel=0.05)


def test_a_chain_takes_the_latency_of_each_load(tiny: OptaneStudy) -> None:
    item = PAPER.item("fig3")
    assert item is not None
    tiny.simulate(item.runs(tiny), Here(), lambda *_: None)
    for order, dram, optane in (("sequential", 79, 174), ("random", 87, 302)):
        assert fig3.latency(tiny, order, "DRAM-local", 64) == pytest.approx(dram, rel=0.3)
        assert fig3.latency(tiny, order, "PMM-numa-local", 64) == pytest.approx(optane, rel=0.3)


def test_a_trace_is_checked_by_its_collector(tmp_path: Path) -> None:
    patterns.write(Pattern("copy", 2, 1, 3, 2), tmp_path / "trace")
    survey = runner.survey(tmp_path / "trace")
    assert survey["threads"] == 2 and survey["references"] == 2 * 2 * 2 * 3 * LINES
    assert survey["touched_bytes"] == 2 * 2 * 3 * PAGE
    with pytest.raises(ThermoclineError, match="was not written"):
        patterns.write(Pattern("copy", 2, 1, 3, 2), tmp_path / "none" / "trace")


def test_eq1() -> None:
    assert common.eq1(1, 204, 78) == 204 and common.eq1(0, 204, 78) == pytest.approx(78)
    assert common.eq1(0.5, 200, 100) == pytest.approx(400 / 3)


def test_power_is_bytes_and_blocks() -> None:
    found = common.Measured(1e9, 0.01, 1.04e9, 0, 0.5)
    drawn = common.watts(MACHINE, found, 1)
    assert drawn.dram == pytest.approx(60, rel=0.01)  # 104 GB/s
    assert drawn.optane == 50 and drawn.static == 38
    assert drawn.cpu == pytest.approx(165, rel=0.01)
    assert found.rate == 100


# --- A recorded thread, dealt. ---


def record(address: int, kind: int = 0, gap: int = 1, owner: int = 0) -> tuple[int, ...]:
    return (address, 0, owner, gap, kind | 8 << 5)


def chunk(records: Sequence[tuple[int, ...]], kind: int = tail.RECORDS) -> tuple[bytes, bytes]:
    payload = np.array(list(records), tail.RECORD).tobytes()
    fields = (tail.MAGIC, 1, kind, len(payload), len(records), 0, 0, 0, 0, 0, 0, 0)
    return tail.HEADER.pack(*fields), payload


def read(made: Sequence[tuple[bytes, bytes]]) -> list[tuple[int, Any]]:
    """Threads and records."""
    return [(tail.HEADER.unpack(head)[5], np.frombuffer(body, tail.RECORD)) for head, body in made]


def test_a_dealer_sweeps_and_then_deals_the_kernel() -> None:
    dealer = Dealer(threads=2, skip=1, most=5)
    build = [record(page * PAGE, owner=3) for page in (7, 5, 6)]
    back = (6 * PAGE, 0, 0, 0, tail.RETURN | PAGE << 5)
    assert dealer.chunk(*chunk([*build, back])) == []
    # The first reference of the kernel is skipped.
    kernel = [record(0, ENTER), *(record(page * PAGE, owner=1) for page in (8, 9, 5))]
    made = read(dealer.chunk(*chunk(kernel)))
    sweeps = {thread: records for thread, records in made[:-1]}
    assert dealer.swept == 1
    assert {thread: len(records) for thread, records in sweeps.items()} == {0: LINES, 1: LINES}
    pages = [set((sweeps[thread]["address"] // PAGE).tolist()) for thread in (0, 1)]
    assert pages == [{5}, {7}]  # 6 went back; 8 and 9 are the kernel's own
    assert set(sweeps[0]["instruction"]) == {NO_STATIC} and set(sweeps[0]["owner"]) == {3}
    assert made[-1][1]["address"].tolist() == [9 * PAGE, 5 * PAGE]
    # What follows the kernel is left out; a second run of it is not.
    after = [record(0, LEAVE), record(PAGE), record(0, ENTER), *(record(2 * PAGE),) * 4]
    made = read(dealer.chunk(*chunk(after))[:-1])
    [(thread, records)] = made
    assert thread == 1 and records["address"].tolist() == [2 * PAGE] * 3
    assert dealer.done and dealer.kept == 5


def test_a_dealer_counts_each_thread_s_instructions() -> None:
    dealer = Dealer(threads=2, skip=0, most=100)
    dealer.chunk(*chunk([record(0, ENTER), record(PAGE, gap=4)]))
    for _ in range(3):
        dealer.chunk(*chunk([record(PAGE, gap=4), record(PAGE, gap=2)]))
    head, body = dealer.chunk(*chunk([], tail.END))[0]
    assert tail.HEADER.unpack(head)[4] == 2
    rows = [struct.unpack_from("<QQQQ", body, 32 * thread) for thread in range(2)]
    # 5 of the first chunk, 8 of each other, and the sweep's.
    assert [row[1] for row in rows] == [LINES + 5 + 8, LINES + 8 + 8]
    assert [row[2] for row in rows] == [LINES + 1 + 2, LINES + 2 + 2]


def test_several_recorded_threads_are_refused() -> None:
    head, body = chunk([record(0)])
    fields = list(tail.HEADER.unpack(head))
    fields[5] = 1
    with pytest.raises(ThermoclineError, match="several threads"):
        Dealer(2, 0, 1).chunk(tail.HEADER.pack(*fields), body)


PROGRAM = """
import os, socket, sys
lines = [line.split() for line in open(os.environ["THERMOCLINE_CONFIG"])]
path = next(words[1] for words in lines if words[0] == "stream")
s = socket.socket(socket.AF_UNIX)
s.connect(path)
data = open(sys.argv[1], "rb").read()
begin, again = data[: int(sys.argv[2])], data[int(sys.argv[2]) :]
s.sendall(begin)
while True:
    s.sendall(again)
"""


def test_recording_ends_when_enough_is_kept(tmp_path: Path) -> None:
    names = patterns._chunk(tail.OWNERS, patterns._names(["main!a@a.c:1"]), 1)
    begin = patterns._chunk(patterns.META, b"{}", 1)
    begin += patterns._chunk(patterns.STATICS, patterns._statics(), 2) + names
    begin += b"".join(chunk([record(PAGE, owner=0), record(0, ENTER)]))
    again = b"".join(chunk([record(place * 64) for place in range(100)]))
    (tmp_path / "stream").write_bytes(begin + again)
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, str(tmp_path / "program.py"), str(tmp_path / "stream")]
    dealer = Dealer(threads=2, skip=0, most=250)
    tail.record([*command, str(len(begin))], MACHINE, 0, tmp_path / "trace", dealer, ("main",))
    survey = runner.survey(tmp_path / "trace")
    assert dealer.kept == 250
    assert survey["threads"] == 2 and survey["references"] == 250 + 2 * LINES


# --- What the items make of numbers. ---


def test_fig9_s_claims() -> None:
    def of(bfs: float, tc: float) -> fig9.Times:
        slow = {"bfs": bfs, "tc": tc}
        return {
            (style, kernel, divisor): {
                "DRAM": 1.0,
                "MemoryMode": 1.1,
                "PMM": slow.get(kernel, 6.0),
                "DRAM-PMM-interleave": slow.get(kernel, 6.0) / 2,
            }
            for style in graphs.STYLES
            for kernel in graphs.KERNELS
            for divisor in fig9.DIVISORS
        }

    assert [claim.holds for claim in fig9.claims(of(18, 2))] == [True] * 5
    assert [claim.holds for claim in fig9.claims(of(4, 7))] == [False] * 3 + [True] * 2


def test_inputs_are_marked(tiny: OptaneStudy) -> None:
    for name in ("table1", "fig3", "fig4", "fig6", "fig13"):
        item = PAPER.item(name)
        assert item is not None
        tiny.simulate(item.runs(tiny), Here(), lambda *_: None)
        result = item.result(tiny)
        text = json.dumps([artefacts.to_json(result), result.notes])
        assert "input" in text, name


def test_this_host_is_labelled(tiny: OptaneStudy, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {
        "what": "latency",
        "model": "a processor",
        "curves": {"random": [[16384.0, 1.5], [65536.0, 3.5]], "paged": [[16384.0, 1.2]]},
        "notes": ["busy"],
    }
    monkeypatch.setitem(tiny.measurements, "fig3", found)
    [table] = host.tables(tiny, "fig3")
    assert table.title.startswith("Measured on this host, not simulated (a processor); busy")
    assert table.rows == (("16 KiB", "1.5", "1.2"), ("64 KiB", "3.5", ""))
    assert host.tables(tiny, "fig4") == []


def test_what_can_t_be_measured_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from thermocline.machine import measurement

    def fails(*_: Any) -> None:
        raise ThermoclineError("no memory")

    monkeypatch.setattr(measurement, "measure", fails)
    assert host.measure("latency", lambda *_: None)["notes"] == ["no memory"]


def test_all_configurations_have_a_run(tiny: OptaneStudy) -> None:
    item = PAPER.item("table2")
    assert item is not None
    tiny.simulate(item.runs(tiny), Here(), lambda *_: None)
    result = item.result(tiny)
    assert [row[0] for row in result.tables[0].rows] == [c.name for c in configurations.ALL]
    assert result.claims[0].holds
