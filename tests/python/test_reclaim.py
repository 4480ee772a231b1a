"""The kernel's reclaim under a memory limit, and the item that sets it beside the engine."""

import os
import sys
from pathlib import Path

import pytest

from thermocline.errors import ThermoclineError
from thermocline.measuring import reclaim
from thermocline.reproduce.ryoo import PAPER, migrated
from thermocline.reproduce.ryoo import reclaim as item

ONE = "cgroup {} cgroup rw,relatime,memory 0 0\n"
TWO = "cgroup2 {} cgroup2 rw,relatime 0 0\n"
MB = 2**20
TOUCH = "data = bytearray({0} << 20)\nfor _ in range(2):\n data[::4096] = bytes({0} << 8)"


def test_the_controller_of_either_version_is_found(tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").write_text("cpu memory\n")
    assert reclaim.controller("proc /proc proc rw 0 0\n" + TWO.format(tmp_path)) == (
        reclaim.Controller(tmp_path, "memory.max")
    )
    other = tmp_path / "memory"
    assert reclaim.controller(TWO.format("/nowhere") + ONE.format(other)) == (
        reclaim.Controller(other, "memory.limit_in_bytes")
    )
    with pytest.raises(ThermoclineError, match="no cgroup limits memory"):
        reclaim.controller(TWO.format("/nowhere") + "cgroup /x cgroup rw,cpuset 0 0\n")


@pytest.mark.skipif(os.geteuid() != 0, reason="a limit and swap need root")
def test_what_does_not_fit_is_read_again_and_nothing_is_left_behind() -> None:
    swaps = Path("/proc/swaps").read_text()
    plenty, little = ([sys.executable, "-c", TOUCH.format(size)] for size in (1, 64))
    try:
        with reclaim.compressed_swap(256 * MB):
            assert Path("/proc/swaps").read_text() != swaps
            assert reclaim.run(plenty, 256 * MB, 60).major_faults == 0
            limited = reclaim.run(little, 48 * MB, 60)
    except ThermoclineError as error:
        pytest.skip(str(error))
    assert limited.major_faults > 0
    assert not limited.ended
    assert Path("/proc/swaps").read_text() == swaps
    at = reclaim.controller(reclaim.MOUNTS.read_text()).folder
    assert not (at / f"thermocline-{os.getpid()}").exists()


def test_bounds_and_killed_programs_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    study = PAPER.study(False)
    _, mixes = migrated.chapter6(study)

    def took(seconds: float, ended: bool = False, killed: bool = False) -> dict[str, object]:
        return {"seconds": seconds, "ended": ended, "killed": killed, "faults": 7}

    names = [mix.name for mix in mixes[:4]]
    kernel = [took(3), took(1), took(4, ended=True), took(0.5, killed=True)]
    ours = [took(2), took(2), took(4, ended=True), took(3)]
    found = {
        name: {"plain": 1.0, item.KERNEL: theirs, **dict.fromkeys(item.ENGINE, mine)}
        for name, theirs, mine in zip(names, kernel, ours, strict=True)
    }
    monkeypatch.setitem(study.measurements, item.KERNEL, {"found": found, "notes": []})
    result = item.result(study)
    cells = [row[1:3] for row in result.tables[0].rows[:5]]
    assert cells == [("3.0", "2.0"), ("1.0", "2.0"), ("> 4.0",) * 2, ("killed", "3.0"), ("-", "-")]
    (claim,) = result.claims
    assert f"less: {names[0]}, {names[3]}; more: {names[1]};" in claim.ours
    assert not claim.holds
