"""Profiles of an MPI program's ranks, as launchers tell them apart, and one plan for all."""

import tomllib
from pathlib import Path

import pytest
from test_loop import call, json_of

SOURCE = """
#include <stdlib.h>
enum { BYTES = 8 << 20 };
int main(void) {
    volatile char *hot = malloc(BYTES);
    volatile char *cold = malloc(BYTES);
    for (int round = 0; round < 20; round++)
        for (int i = 0; i < BYTES; i += 64)
            hot[i]++;
    for (int i = 0; i < BYTES; i += 64)
        cold[i]++;
    return hot[0] + cold[0] == 21 ? 0 : 1;
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("ranks")
    (made / "p.c").write_text(SOURCE)
    call("thermocline-clang", "-O1", "-g", "p.c", "-o", "p", cwd=made)
    return made


def test_ranks_are_profiled_and_planned_together(folder: Path) -> None:
    for rank, variable in enumerate(("OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")):
        profile = ["profile", "--machine", "knl-7230", "-o", f"{rank}.profile", "--", "./p"]
        call("env", f"{variable}={rank}", "thermocline", *profile, cwd=folder)
        assert json_of(folder / f"{rank}.profile")["rank"] == rank
    files = [f"{rank}.profile" for rank in range(3)]
    plan = ["plan", *files, "--ranks", "--machine", "knl-7230", "--capacity", "36MiB"]
    done = call("thermocline", *plan, "-o", "all.plan", cwd=folder)
    assert "3 ranks share a host's memory: each has 12 MiB" in done.stderr
    made = tomllib.loads((folder / "all.plan").read_text())
    assert made["capacity_bytes"] == 12 << 20
    (hot,) = [site for site in made["sites"] if site["tier"] == 0 and site["bytes"] >= 8 << 20]
    assert hot["traffic_bytes"] > 100 << 20
    call("thermocline", "run", "--plan", "all.plan", "--", "./p", cwd=folder, PMI_RANK="1")


@pytest.mark.parametrize("text", ["first", "99999999999"])
def test_what_is_no_rank_is_told(folder: Path, text: str) -> None:
    profile = ["profile", "--machine", "knl-7230", "-o", "odd.profile", "--force", "--", "./p"]
    call("thermocline", *profile, cwd=folder, PMI_RANK=text)
    found = json_of(folder / "odd.profile")
    assert "rank" not in found and found["host"]
    plan = ["plan", "odd.profile", "--ranks", "--machine", "knl-7230"]
    assert "no MPI rank's" in call("thermocline", *plan, cwd=folder, status=2).stderr
