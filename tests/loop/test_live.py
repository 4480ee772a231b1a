"""A program simulated while it runs, by the public commands."""

from pathlib import Path
from typing import Any

import pytest
from test_loop import BIN, MACHINE, call
from test_trace import SOURCE, answer

PAIR = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
enum { n = 100000 };
static long *data;
static void *sum(void *from) {
    long total = 0;
    for (int round = 0; round < 20; round++)
        for (long i = (long)from; i < n; i += 2)
            total += data[i] ^ round;
    return (void *)total;
}
int main(void) {
    data = calloc(n, sizeof *data);
    pthread_t other;
    void *total;
    pthread_create(&other, NULL, sum, (void *)1);
    long mine = (long)sum(NULL);
    pthread_join(other, &total);
    printf("%ld\n", mine + (long)total);
    return 0;
}
"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("live")
    for name, source in (("walk", SOURCE), ("pair", PAIR)):
        (folder / f"{name}.c").write_text(source)
        call("thermocline-clang", "-O2", "-pthread", f"{name}.c", "-o", name, cwd=folder)
    return folder


def simulate(*arguments: str | Path, cwd: Path) -> dict[str, dict[str, Any]]:
    found = answer("simulate", "--machine", MACHINE, "--json", *arguments, cwd=cwd)
    return {row["scheme"]: row["result"] for row in found["rows"]}


def test_a_live_run_says_what_its_trace_says(programs: Path, tmp_path: Path) -> None:
    schemes = ("--scheme", "first-touch,knl-cache,interleave", "--capacity", "256KiB")
    live = simulate(*schemes, "--", programs / "walk", cwd=tmp_path)
    answer("trace", "-o", "walk.trace", "--json", "--", programs / "walk", cwd=tmp_path)
    recorded = simulate("walk.trace", *schemes, cwd=tmp_path)
    assert live.keys() == recorded.keys()
    for scheme, result in live.items():
        references = recorded[scheme]["references"]
        assert references > 80_000
        # Where malloc put things may differ from run to run, and what is around main with it.
        assert result["references"] == pytest.approx(references, rel=0.001)
        assert result["seconds"] == pytest.approx(recorded[scheme]["seconds"], rel=0.05)
        mine, theirs = (
            sum(tier["read_bytes"] + tier["write_bytes"] for tier in found["tiers"])
            for found in (result, recorded[scheme])
        )
        assert mine == pytest.approx(theirs, rel=0.02)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["walk.trace"]


def test_only_the_first_process_counts_and_the_status_is_the_commands(
    programs: Path, tmp_path: Path
) -> None:
    forked = call(
        BIN / "thermocline", "simulate", "--machine", MACHINE, "--", programs / "walk", "fork",
        cwd=tmp_path,
    )  # fmt: skip
    assert "1 more annotated processes ran: only the first counts" in forked.stderr
    failed = call(
        BIN / "thermocline", "simulate", "--machine", MACHINE, "--",
        "sh", "-c", f"{programs / 'walk'}; exit 3", cwd=tmp_path, status=3,
    )  # fmt: skip
    assert "the command failed with status 3" in failed.stderr
    assert "first-touch" in failed.stdout


def test_threads_must_be_told_of(programs: Path, tmp_path: Path) -> None:
    two = simulate("--threads", "2", "--", programs / "pair", cwd=tmp_path)
    assert len(two["first-touch"]["threads"]) == 2
    for arguments, said, status in (
        (["--", programs / "pair"], "give --threads", 1),
        (["--capacity", "25%", "--", programs / "walk"], "give bytes", 2),
        (["--", "true"], "no annotated program ran", 1),
        (["t.trace", "--", programs / "walk"], "give traces, or --", 2),
        ([], "give traces, or --", 2),
    ):
        failed = call(
            BIN / "thermocline", "simulate", "--machine", MACHINE, *arguments,
            cwd=tmp_path, status=status,
        )  # fmt: skip
        assert said in failed.stderr
        assert failed.stderr.count("\n") == 1


def test_a_budget_ends_the_simulation_not_the_program(programs: Path, tmp_path: Path) -> None:
    done = call(
        BIN / "thermocline", "simulate", "--machine", MACHINE, "--budget", "1000", "--scheme",
        "first-touch,all-slow", "--", programs / "walk", cwd=tmp_path,
    )  # fmt: skip
    whole = call(programs / "walk", cwd=tmp_path)
    assert done.stdout.startswith(whole.stdout)
    assert "the budget of references was reached" in done.stderr
