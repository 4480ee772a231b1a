"""Page migration below unmodified programs, by the public command."""

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from test_loop import BIN, call

MACHINE = ["--machine", "dram-cxl"]


def can_watch() -> bool:
    return os.geteuid() == 0  # following forks takes CAP_SYS_PTRACE


needs_rights = pytest.mark.skipif(not can_watch(), reason="userfaultfd with fork events needs root")


def migrate(*words: str) -> list[str]:
    return [str(BIN / "thermocline"), "migrate", *MACHINE, *words]


def report_of(*words: str) -> dict[str, Any]:
    """Of a run that ended well; what the program printed is on stderr."""
    done = call(*migrate("--json", *words), cwd=Path("/"))
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def process_of(report: dict[str, Any], name: str) -> dict[str, Any]:
    found = [p for p in report["processes"] if Path(p["command"][0]).name == name]
    assert len(found) == 1, report
    process: dict[str, Any] = found[0]
    return process


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("migrate") / "migrated"
    source = Path(__file__).with_name("migrated.c")
    subprocess.run(
        ["clang-22", "-O1", "-o", str(program), str(source), "-lpthread"], check=True, timeout=60
    )
    return program


@needs_rights
@pytest.mark.parametrize("granularity", ["4K", "64K", "history", "sampling", "adaptive"])
def test_what_a_program_does_to_its_memory_is_followed(migrated: Path, granularity: str) -> None:
    words = ["--near", "12MiB", "--check", "--granularity", granularity, "--"]
    report = report_of(*words, str(migrated), "24")
    assert report["status"] == 0
    process = process_of(report, "migrated")
    assert process["limited"]
    assert process["checked_pages"] > 0
    assert process["corrupt_pages"] == 0
    assert process["lost_pages"] == 0
    assert process["forks"] == 9
    assert process["remaps"] >= 1


@needs_rights
def test_regions_of_2m_move_whole(migrated: Path) -> None:
    report = report_of("--near", "64MiB", "--granularity", "2M", "--", str(migrated), "32")
    moves = {m["granularity"]: m for m in process_of(report, "migrated")["moves"]}
    assert moves["4K"]["moves_in"] == moves["64K"]["moves_in"] == 0
    assert moves["2M"]["moves_out"] > 0
    assert report["status"] == 0


def same_output(command: Sequence[str], near: str) -> dict[str, Any]:
    plain = subprocess.run(command, capture_output=True, check=True, timeout=120)
    words = ["--near", near, "--granularity", "64K", "--check", "--json", "--", *command]
    below = call(*migrate(*words), cwd=Path("/"))
    assert below.stderr == plain.stdout.decode()
    answer: dict[str, Any] = json.loads(below.stdout)
    return answer


@needs_rights
def test_sort(tmp_path: Path) -> None:
    numbers = random.Random(1)
    lines = tmp_path / "lines"
    text = "".join(f"{numbers.getrandbits(60):x}\n" for _ in range(600_000))
    lines.write_text(text, encoding="ascii")
    report = same_output(["sort", "--parallel=2", "-S", "200M", str(lines)], "16MiB")
    process = process_of(report, "sort")
    assert process["faults"] > 0
    assert process["corrupt_pages"] == 0


@needs_rights
def test_python() -> None:
    script = (
        "import hashlib; d = {str(i): [i] * 3 for i in range(60000)}; "
        "print(hashlib.sha256(repr(sorted(d.items())).encode()).hexdigest())"
    )
    report = same_output([sys.executable, "-c", script], "16MiB")
    assert any(process["faults"] > 0 for process in report["processes"])


@needs_rights
@pytest.mark.skipif(shutil.which("sqlite3") is None, reason="no sqlite3")
def test_sqlite() -> None:
    script = (
        "create table t(a integer, b text); with recursive n(i) as (select 1 union all select "
        "i + 1 from n where i < 300000) insert into t select i * 7919 % 300007, hex(i) from n; "
        "create index x on t(a); select count(*), sum(a * length(b)), max(b) from t;"
    )
    same_output(["sqlite3", ":memory:", script], "8MiB")


def test_refusals(migrated: Path) -> None:
    for words, says in [
        (["--near", "1MiB"], "less than 4 chunks"),
        (["--near", "64MiB", "--granularity", "1G"], "no granularity"),
        (["--near", "lots"], "is no size"),
    ]:
        done = call(*migrate(*words, "--", str(migrated)), cwd=Path("/"), status=2)
        assert says in done.stderr
