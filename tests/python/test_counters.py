"""Counters of memory traffic: perf's answers, resctrl's files, and what is said without them."""

import os
import textwrap
from pathlib import Path

import pytest

from thermocline import counters
from thermocline.counters import Events, Resctrl
from thermocline.errors import ThermoclineError
from thermocline.machine import store

DRAM = store.find("dram-cxl").tier[0]
INTEL = Events(("DRAM",), ("unc_m_cas_count.rd",), ("unc_m_cas_count.wr",))
ANSWER = """\
# started on Sun Nov 22 07:00:00 2026

1000;;unc_m_cas_count.rd;1000000;100.00;;
500;;unc_m_cas_count.rd;1000000;100.00;;
250;;unc_m_cas_count.wr;1000000;100.00;;
"""


def test_counts_of_all_controllers_are_added() -> None:
    assert INTEL.parse(ANSWER) == (1500 * 64, 250 * 64)
    both = Events(("DRAM",), ("dram_channel_data_controller_0",), ())
    assert both.parse("7;;dram_channel_data_controller_0;1;100;;\n") == (448, 0)


def test_what_was_not_counted_is_an_error() -> None:
    with pytest.raises(ThermoclineError, match="not supported"):
        INTEL.parse(ANSWER.replace("250;", "<not supported>;"))
    with pytest.raises(ThermoclineError, match=r"says nothing of unc_m_cas_count\.wr"):
        INTEL.parse("1;;unc_m_cas_count.rd;1;100;;\n")


def fake_perf(folder: Path, body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A perf that answers as the real one does on a machine that has the events."""
    program = folder / "perf"
    program.write_text("#!/bin/sh\n" + textwrap.dedent(body))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


KNOWS_INTEL = """
    out=/dev/null; known=yes
    while [ "$1" != -- ]; do
        case $1 in
        -o) out=$2 ;;
        unc_m_*) ;;
        umc_*|dram_channel*|uncore_hisi*) known= ;;
        esac
        shift
    done
    shift
    [ "$known" ] || { echo "event syntax error: unknown event" >&2; exit 129; }
    "$@" || exit $?
    printf '3;;unc_m_cas_count.rd;1;100;;\\n4;;unc_m_cas_count.wr;1;100;;\\n' >"$out"
"""


def test_a_run_under_perf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_perf(tmp_path, KNOWS_INTEL, monkeypatch)
    monkeypatch.setattr(counters, "RESCTRL", tmp_path / "none")
    meter, missing = counters.find(DRAM)
    assert (meter, missing) == (INTEL, "")
    assert meter is not None
    program = ["sh", "-c", f"echo $HELLO >{tmp_path}/ran"]
    assert meter.measure(program, {**os.environ, "HELLO": "x"}, tmp_path) == (192, 256)
    assert (tmp_path / "ran").read_text() == "x\n"
    with pytest.raises(ThermoclineError, match="failed with status 3"):
        meter.measure(["sh", "-c", "exit 3"], dict(os.environ), tmp_path)


def test_no_counters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counters, "RESCTRL", tmp_path / "none")
    fake_perf(tmp_path, "echo 'event syntax error' >&2; exit 129", monkeypatch)
    assert counters.find(DRAM)[0] is None
    assert "virtual machines" in counters.find(DRAM)[1]
    fake_perf(tmp_path, "echo 'perf_event_paranoid setting is 2' >&2; exit 255", monkeypatch)
    assert "sysctl" in counters.find(DRAM)[1]


def test_resctrl_counts_what_is_not_local(tmp_path: Path) -> None:
    # A directory's kernel-made files, stood in for by the program that is counted.
    (tmp_path / "mon_groups").mkdir()
    group = tmp_path / "mon_groups" / f"thermocline-{os.getpid()}"
    script = f"""
        test -s {group}/tasks || exit 9
        for domain in 00 01; do
            mkdir -p {group}/mon_data/mon_L3_$domain
            echo 1000 >{group}/mon_data/mon_L3_$domain/mbm_total_bytes
            echo 400 >{group}/mon_data/mon_L3_$domain/mbm_local_bytes
        done
    """
    with pytest.raises(OSError, match="not empty"):  # the kernel's rmdir takes the files along
        Resctrl(tmp_path).measure(["sh", "-c", script], dict(os.environ), tmp_path)
    assert Resctrl._remote(group) == 1200


def test_resctrl_that_is_not_mounted(tmp_path: Path) -> None:
    with pytest.raises(ThermoclineError, match="can't make"):
        Resctrl(tmp_path / "none").measure(["true"], dict(os.environ), tmp_path)
