"""Traces through the command line: collected, described, exported, imported."""

import gzip
import json
import lzma
import os
import random
import subprocess
import threading
from pathlib import Path

import pytest

from thermocline import traces

from .conftest import GOLDEN
from .raw_trace import Ref, write
from .test_cli import answer, call, fails, ok

OWNERS = ["(other)", "(stack)", "a.out!f@x.c:1:2"]

pytestmark = pytest.mark.skipif(not traces.tool().exists(), reason="thermocline-trace not built")


def references(count: int, seed: int = 1) -> list[Ref]:
    """A stream, and a gather whose addresses it loads."""
    chance = random.Random(seed)
    refs = []
    for i in range(count // 2):
        refs.append(Ref(0x10000 + 8 * i, owner=1, gap=2))
        refs.append(Ref(0x40000000 + 64 * chance.randrange(10000), owner=2, gap=0, instruction=1))
    return refs


def collected(path: Path, *threads: list[Ref], large: list[tuple[int, int]] | None = None) -> Path:
    raw = write(path / "raw", list(threads), OWNERS, producers=((), (0,)), large=large)
    with raw.open("rb") as stream:
        done = subprocess.run(
            [traces.tool(), "collect", "--force", "-o", path / "a.trace"],
            stdin=stream,
            capture_output=True,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, "")
    return path / "a.trace"


def test_info_counts_by_owner(tmp_path: Path) -> None:
    collected(tmp_path, references(20000), references(600))
    found = answer(ok(tmp_path, "trace", "info", "a.trace", "--count", "--json"))
    assert found["complete"]
    assert [thread["references"] for thread in found["threads"]] == [20000, 600]
    assert [row["loads"] for row in found["owners"]] == [0, 10300, 10300]
    assert found["dependent_instructions"] == 1
    assert found["meta"]["command"] == ["./a.out"]
    assert found["bytes"] == (tmp_path / "a.trace").stat().st_size
    assert found["threads"][0]["instructions"] == 10000 * 4
    text = ok(tmp_path, "trace", "info", "a.trace", "--count")
    assert "20600 references" in text
    assert "a.out!f@x.c:1:2" in text


def test_info_tells_large_pages(tmp_path: Path) -> None:
    refs = [Ref((1 << 30) + 4096 * page) for page in range(2048)]  # 8 MiB
    large = [((1 << 30) + (6 << 20), 4 << 20), (1 << 40, 2 << 20), ((1 << 30) + (2 << 20), 2 << 20)]
    collected(tmp_path, refs, large=large)
    found = answer(ok(tmp_path, "trace", "info", "a.trace", "--json"))
    assert found["large_page_bytes"] == 8 << 20
    found = answer(ok(tmp_path, "trace", "info", "a.trace", "--count", "--json"))
    assert (found["touched_bytes"], found["touched_large_bytes"]) == (8 << 20, 4 << 20)
    assert found["references_in_large_pages"] == 1024
    assert "4 MiB of the 8 MiB that are referred to (50.0 %)" in ok(
        tmp_path, "trace", "info", "a.trace", "--count"
    )
    collected(tmp_path, refs)  # by a recorder that does not look
    assert "pages of 2 MiB: not recorded" in ok(tmp_path, "trace", "info", "a.trace")
    collected(tmp_path, refs, large=[])
    assert "pages of 2 MiB: 0 B of the" in ok(tmp_path, "trace", "info", "a.trace")


@pytest.mark.parametrize("rows", [[(4096, 2 << 20)], [(0, 4096)], [(1 << 57, 2 << 20)], [(0, 0)]])
def test_a_damaged_table_of_large_pages_is_said(
    tmp_path: Path, rows: list[tuple[int, int]]
) -> None:
    raw = write(tmp_path / "raw", [references(10)], OWNERS, ((), (0,)), large=rows)
    done = subprocess.run(
        [traces.tool(), "collect", "-o", tmp_path / "a.trace"], stdin=raw.open("rb"),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "table of large pages is damaged" in done.stderr


def test_a_live_pipe_is_collected(tmp_path: Path) -> None:
    raw = write(tmp_path / "raw", [references(50000)], OWNERS, ((), (0,))).read_bytes()
    read, written = os.pipe()

    def program() -> None:
        with os.fdopen(written, "wb") as pipe:
            for begin in range(0, len(raw), 3000):
                pipe.write(raw[begin : begin + 3000])

    thread = threading.Thread(target=program)
    thread.start()
    command = [str(traces.tool()), "collect", "-o", "a.trace", "--fd", str(read)]
    command += ["--meta", json.dumps({"command": ["a b", "é"]})]
    subprocess.run([*command, "--max-references", "30000"], cwd=tmp_path, pass_fds=[read],
                   check=True, capture_output=True)  # fmt: skip
    thread.join()
    os.close(read)
    done = call(tmp_path, "trace", "info", "a.trace")
    assert "records beyond the limit were dropped" in done.stderr
    found = traces.info(tmp_path / "a.trace")
    assert 30000 <= found["references"] <= 32000
    assert found["references"] + found["meta"]["dropped_records"] == 50000
    assert found["meta"]["command"] == ["a b", "é"]


def test_what_is_added_must_be_an_object(tmp_path: Path) -> None:
    done = subprocess.run(
        [traces.tool(), "collect", "-o", tmp_path / "a.trace", "--meta", "[1"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == "thermocline: --meta takes a JSON object\n"
    assert list(tmp_path.iterdir()) == []


def test_a_killed_program_leaves_a_trace_that_says_so(tmp_path: Path) -> None:
    raw = write(tmp_path / "raw", [references(9000)], OWNERS, ((), (0,)))
    with raw.open("r+b") as stream:
        stream.truncate(100_000)
        done = subprocess.run(
            [traces.tool(), "collect", "-o", tmp_path / "a.trace"],
            stdin=stream, capture_output=True, text=True, check=True,
        )  # fmt: skip
    assert "cut off" in done.stderr
    done = call(tmp_path, "trace", "info", "a.trace")
    assert "did not end while it was recorded" in done.stderr
    assert traces.info(tmp_path / "a.trace")["references"] == 4000


def test_a_cut_off_file_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    path = collected(tmp_path, references(200000))
    os.truncate(path, path.stat().st_size // 2)
    done = call(tmp_path, "trace", "info", "a.trace", "--count")
    assert done.returncode == 0
    assert "read to its last whole chunk" in done.stderr
    assert 0 < traces.info(path)["references"] < 200000


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
def test_ramulators_loads_and_stores(tmp_path: Path, suffix: str) -> None:
    refs = [Ref(0x1000, store=True), Ref(0x2040), Ref(0x1000)]
    collected(tmp_path, refs)
    ramulator = ("--format", "ramulator2-loadstore")
    ok(tmp_path, "trace", "export", *ramulator, "-o", f"r{suffix}", "a.trace")
    data = (tmp_path / f"r{suffix}").read_bytes()
    if suffix:
        data = gzip.decompress(data) if suffix == ".gz" else lzma.decompress(data)
    assert data == b"ST 0x1000\nLD 0x2040\nLD 0x1000\n"
    done = call(tmp_path, "trace", "import", *ramulator, f"r{suffix}")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "r.trace\n"
    assert "next: thermocline trace info r.trace" in done.stderr
    done = call(tmp_path, "trace", "info", "r.trace")
    assert "it can't say sites, threads" in done.stderr
    assert traces.info(tmp_path / "r.trace")["references"] == 3


def test_champsim_there_and_back(tmp_path: Path) -> None:
    collected(tmp_path, references(5000))
    champsim = ("--format", "champsim")
    ok(tmp_path, "trace", "export", *champsim, "-o", "a.champsim.xz", "a.trace")
    instructions = lzma.decompress((tmp_path / "a.champsim.xz").read_bytes())
    assert len(instructions) == 64 * 2500 * 4
    ok(tmp_path, "trace", "import", *champsim, "-o", "b.trace", "a.champsim.xz")
    found = traces.info(tmp_path / "b.trace")
    assert (found["references"], found["dependent_instructions"]) == (5000, 1)
    assert found["threads"][0]["instructions"] == 10000


def test_part_of_a_trace_is_exported(tmp_path: Path) -> None:
    collected(tmp_path, references(4000), references(100))
    form = ("--format", "ramulator2-readwrite", "-o", "part")
    message = fails(tmp_path, 2, "trace", "export", *form, "a.trace")
    assert "2 threads" in message
    organization = ("--organization", "2,1,1024,128")
    ok(tmp_path, "trace", "export", *form, *organization, "--thread", "1", "a.trace")
    lines = (tmp_path / "part").read_text().splitlines()
    assert len(lines) == 100
    assert lines[0] == "R 0,0,4,0"  # line 0x10000 / 64 = 1024: 512 columns on, of 128
    assert "no thread 7" in fails(
        tmp_path, 2, "trace", "export", *form, "--thread", "7", "--force", "a.trace"
    )


@pytest.mark.parametrize(
    ("arguments", "status", "complaint"),
    [
        (("info", "missing"), 1, "missing can't be read"),
        (("info", "text"), 1, "text is not a trace"),
        (("info", "raw"), 1, "raw is a raw stream"),
        (("import", "--format", "vax", "text"), 2, "no trace format is called vax"),
        (("import", "--format", "champsim", "text"), 1, "no ChampSim trace"),
        (("import", "--format", "ramulator2-loadstore", "text"), 1, "text, line 1: not LD or ST"),
        (("export", "--format", "champsim", "-o", "a.trace", "a.trace"), 2, "--force"),
        (("export", "--format", "champsim", "-o", "x", "--time", "2:1", "a.trace"), 2, "2:1"),
    ],
)
def test_complaints_are_one_line(
    tmp_path: Path, arguments: tuple[str, ...], status: int, complaint: str
) -> None:
    (tmp_path / "text").write_text("this is a line of text, and it is no trace at all. " * 2)
    before = collected(tmp_path, references(100)).read_bytes()
    names = {path.name for path in tmp_path.iterdir()}
    assert complaint in fails(tmp_path, status, "trace", *arguments)
    assert {path.name for path in tmp_path.iterdir()} == names
    assert (tmp_path / "a.trace").read_bytes() == before


def test_a_description_of_other_types_does_no_harm(tmp_path: Path) -> None:
    raw = write(tmp_path / "raw", [references(100)], OWNERS, ((), (0,))).read_bytes()
    strange = b'{"complete": "yes", "unknown": 7, "command": [{}], "dropped_records": []}'
    # The chunk of the description has its length at byte 8.
    length = int.from_bytes(raw[8:12], "little")
    head = raw[:8] + len(strange).to_bytes(4, "little") + raw[12:64]
    (tmp_path / "raw").write_bytes(head + strange + raw[64 + length :])
    with (tmp_path / "raw").open("rb") as stream:
        command = [str(traces.tool()), "collect", "-o", str(tmp_path / "a.trace")]
        subprocess.run(command, stdin=stream, check=True)
    ok(tmp_path, "trace", "info", "a.trace")
    ok(tmp_path, "trace", "info", "a.trace", "--json", "--count")


def test_the_tool_says_what_it_prints_as_json(tmp_path: Path) -> None:
    path = collected(tmp_path, references(100))
    assert json.loads(traces.call("info", path))["format"] == "thermocline-trace"


def test_a_trace_of_version_1_is_still_read(tmp_path: Path) -> None:
    form = ("--format", "ramulator2-loadstore", "--thread", "0")
    ok(tmp_path, "trace", "export", *form, "-o", "x", str(GOLDEN / "version1.trace"))
    assert (tmp_path / "x").read_text() == (GOLDEN / "version1.trace.txt").read_text()
    found = answer(
        ok(tmp_path, "trace", "info", str(GOLDEN / "version1.trace"), "--count", "--json")
    )
    assert [thread["references"] for thread in found["threads"]] == [301, 8]
    assert [row["stores"] for row in found["owners"]] == [0, 0, 1]
    assert found["threads"][0]["instructions"] == 150 * 4 + 301
    assert found["meta"]["command"] == ["./a.out"]
