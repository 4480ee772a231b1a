"""`thermocline translation`: recorded answers of perf, a perf that gives them, and what is said
without one."""

import json
import os
from pathlib import Path

import pytest

from thermocline import translation_counters
from thermocline.errors import ThermoclineError
from thermocline.translation_counters import EVENTS, Cost, Events

from .test_cli import call, fails

INTEL, HASWELL, ZEN4, ZEN, ARM_CYCLES, ARM = EVENTS
# As perf 6.1 writes it, for one of Intel's; events beyond the counters take turns.
SKYLAKE = """\
# started on Sun Nov 22 07:00:00 2026

2000000;;cycles:u;1000000;100.00;;
4000000;;instructions:u;1000000;100.00;2.00;insn per cycle
700;;dtlb_load_misses.walk_completed:u;500000;50.00;;
200;;dtlb_store_misses.walk_completed:u;500000;50.00;;
100;;itlb_misses.walk_completed:u;500000;50.00;;
30000;;dtlb_load_misses.walk_active:u;500000;50.00;;
8000;;dtlb_store_misses.walk_active:u;500000;50.00;;
2000;;itlb_misses.walk_active:u;500000;50.00;;
"""


def test_the_numbers_of_a_recorded_answer() -> None:
    cost = translation_counters.parse(INTEL, SKYLAKE)
    assert cost == Cost(4e6, 2e6, 1000, 40000, 0.5)
    assert cost.misses_per_kinstr == 0.25
    assert cost.cycles_per_miss == 40
    assert cost.share_of_time == 0.02
    assert cost.bound == pytest.approx(0.02 / 0.98)
    # Equation 7.4: 1,960,000 cycles without misses, and 1,000 misses of 10 cycles each.
    assert cost.improvement(10) == pytest.approx(2e6 / 1.97e6 - 1)
    assert cost.improvement(40) == pytest.approx(0)


def test_what_is_missing_in_an_answer_is_said() -> None:
    with pytest.raises(ThermoclineError, match=r"says nothing of itlb_misses\.walk_active"):
        translation_counters.parse(INTEL, SKYLAKE.rsplit("2000;", 1)[0])
    with pytest.raises(ThermoclineError, match="did not count cycles: <not counted>"):
        translation_counters.parse(INTEL, SKYLAKE.replace("2000000;", "<not counted>;"))
    with pytest.raises(ThermoclineError, match="no cycles"):
        translation_counters.parse(INTEL, SKYLAKE.replace("2000000;", "0;"))


def test_a_processor_without_cycles_of_walks() -> None:
    text = "".join(f"{value};;{event};1;100.00;;\n" for value, event in zip(
        (2000, 1000, 30, 20), ZEN4.all, strict=True))  # fmt: skip
    cost = translation_counters.parse(ZEN4, text)
    assert cost.misses_per_kinstr == 50
    assert [cost.cycles_per_miss, cost.share_of_time, cost.bound, cost.improvement(9)] == [None] * 4


def test_walks_that_overlap_for_the_whole_run_have_no_bound() -> None:
    # Two walkers at once: more cycles of walks than the run has.
    cost = Cost(100, 1000, 10, 1500, 1)
    assert (cost.share_of_time, cost.bound, cost.improvement(1)) == (1.5, None, None)


def fake_perf(folder: Path, has: Events, environment: dict[str, str]) -> None:
    """A perf of a machine that has these events: each counts its place in the list."""
    values = [str(1000 * (1 + has.all.index(event))) for event in has.all]
    text = "".join(
        f"{value};;{event};1;100.00;;\\n" for value, event in zip(values, has.all, strict=True)
    )
    program = folder / "perf"
    program.write_text(
        "#!/bin/sh\nout=/dev/null\n"
        'while [ "$1" != -- ]; do\n'
        "  case $1 in\n"
        "  -o) out=$2 ;;\n"
        f"  -e) case '{' '.join(has.all)} ' in *\"$2 \"*) ;; "
        '*) echo "event syntax error: $2" >&2; exit 129 ;; esac ;;\n'
        "  esac; shift\ndone; shift\n"
        f'"$@"\nprintf \'{text}\' >"$out"\n'
    )
    program.chmod(0o755)
    environment["PATH"] = f"{folder}:{os.environ['PATH']}"


@pytest.mark.parametrize("events", EVENTS, ids=lambda each: each.processors)
def test_the_first_events_that_are_there(
    tmp_path: Path, events: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment: dict[str, str] = {}
    fake_perf(tmp_path, events, environment)
    monkeypatch.setenv("PATH", environment["PATH"])
    assert translation_counters.find() == events
    done = translation_counters.measure(events, ["sh", "-c", "exit 7"], tmp_path)
    assert done.status == 7
    assert (done.cost.cycles, done.cost.instructions) == (1000, 2000)
    killed = translation_counters.measure(events, ["sh", "-c", "kill -9 $$"], tmp_path)
    assert killed.status == 128 + 9


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment: dict[str, str] = {}
    fake_perf(tmp_path, HASWELL, environment)
    monkeypatch.setenv("PATH", environment["PATH"])
    done = call(tmp_path, "translation", "--penalty", "100", "--", "sh", "-c", "echo ran; exit 3")
    assert done.returncode == 3
    assert done.stdout.startswith("ran\n")
    lines = {line.split("  ")[0]: line.split()[-1] for line in done.stdout.splitlines()}
    # 3, 4, 5 thousand misses; 6, 7, 8 thousand cycles, more than the run's.
    assert "Figure 4.4" in done.stdout and " 1.8 " in done.stdout
    assert lines["L2-TLB misses per 1000 instructions"] == "6000"
    assert "next: thermocline trace -- sh" in done.stderr
    done = call(tmp_path, "translation", "--json", "--", "sh", "-c", "echo ran")
    assert json.loads(done.stdout)["cycles_per_miss"] == 1.75
    assert done.stderr == "ran\n"


def test_a_host_without_the_events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    perf = tmp_path / "perf"
    perf.write_text("#!/bin/sh\necho '<not supported>;;cycles;0;100.00;;' >&2\n")
    perf.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    said = fails(tmp_path, 1, "translation", "--", "sh", "-c", "touch ran")
    assert "no counters of TLB misses and page walks" in said
    assert not (tmp_path / "ran").exists()
    perf.write_text("#!/bin/sh\necho 'perf_event_paranoid setting is 4' >&2; exit 255\n")
    assert "sysctl" in fails(tmp_path, 1, "translation", "--", "true")
    monkeypatch.setenv("PATH", str(tmp_path))
    perf.unlink()
    with pytest.raises(ThermoclineError, match="apt install linux-perf"):
        translation_counters.find()


def test_whether_a_host_is_a_guest(tmp_path: Path) -> None:
    file = tmp_path / "cpuinfo"
    file.write_text("model name : hypervisor\nflags : fpu vme\n")
    assert not translation_counters.is_virtual(file)
    file.write_text("flags : fpu hypervisor vme\n")
    assert translation_counters.is_virtual(file)
    assert not translation_counters.is_virtual(tmp_path / "none")
