"""A program's trace, recorded and simulated by the public commands."""

import json
from pathlib import Path
from typing import Any

import pytest
from test_loop import BIN, MACHINE, call

SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
enum { n = 20000 };
int main(int count, char **words) {
    double *a = malloc(n * sizeof *a);
    double *b = calloc(n, sizeof *b);
    int *order = malloc(n * sizeof *order);
    for (int i = 0; i < n; i++) {
        a[i] = i;
        order[i] = (int)(i * 7919l % n);
    }
    if (count > 1)
        waitpid(fork(), NULL, 0);
    for (int i = 0; i < n; i++)
        b[i] += a[order[i]];
    printf("%g\n", b[n - 1]);
    free(a), free(b), free(order);
    return words[0] == NULL;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trace")
    (folder / "walk.c").write_text(SOURCE)
    call("thermocline-clang", "-O2", "walk.c", "-o", "walk", cwd=folder)
    return folder / "walk"


def answer(*command: str | Path, cwd: Path) -> Any:
    return json.loads(call(BIN / "thermocline", *command, cwd=cwd).stdout)


def test_a_trace_has_what_the_profile_counts(program: Path, tmp_path: Path) -> None:
    recorded = answer("trace", "-o", "walk.trace", "--json", "--", program, cwd=tmp_path)
    assert recorded[0]["complete"]
    found = answer("trace", "info", "walk.trace", "--count", "--json", cwd=tmp_path)
    call(
        BIN / "thermocline", "profile", "--machine", MACHINE, "-o", "walk.profile", "--", program,
        cwd=tmp_path,
    )  # fmt: skip
    profile = json.loads((tmp_path / "walk.profile").read_text())
    sites = {s["key"]: (s["loads"], s["stores"]) for s in profile["sites"] if s["kind"] == "site"}
    traced = {o["key"]: (o["loads"], o["stores"]) for o in found["owners"]}
    assert len(sites) == 3
    assert {key: traced[key] for key in sites} == sites
    # Four references an element in two loops of some ten instructions.
    assert 4 * 20000 < found["references"] < recorded[0]["threads"][0]["instructions"]


LIST = r"""
#include <stdio.h>
#include <stdlib.h>
struct node { struct node *next; long pad[7]; };
enum { n = 40000 };
int main(void) {
    struct node *nodes = malloc(n * sizeof *nodes);
    for (int i = 0; i < n; i++)
        nodes[i * 1237l % n].next = &nodes[(i + 1) * 1237l % n];
    long steps = 0;
    struct node *at = nodes;
    do {
        at = at->next;
        steps++;
    } while (at != nodes && steps < n);
    printf("%ld\n", steps);
    return 0;
}
"""


def test_loads_that_make_addresses_are_known(program: Path, tmp_path: Path) -> None:
    """A list's next is made by itself; a[order[i]] by order[i]; an array's elements by no load."""
    (tmp_path / "list.c").write_text(LIST)
    call("thermocline-clang", "-O2", "list.c", "-o", "list", cwd=tmp_path)
    called = answer("trace", "-o", "list.trace", "--json", "--", tmp_path / "list", cwd=tmp_path)
    walked = answer("trace", "-o", "walk.trace", "--json", "--", program, cwd=tmp_path)
    assert called[0]["dependent_instructions"] >= 1
    assert walked[0]["dependent_instructions"] >= 1
    assert walked[0]["dependent_instructions"] < walked[0]["static_instructions"]
    run = answer(
        "simulate", "list.trace", "--machine", MACHINE, "--scheme", "all-slow", "--json",
        cwd=tmp_path,
    )  # fmt: skip
    # 40,000 nodes of a line each, more than the caches hold, one after the other: none can start
    # before the last has come.
    assert run["rows"][0]["result"]["seconds"] > 40000 * 100e-9


def test_a_budget_is_kept_in_windows(program: Path, tmp_path: Path) -> None:
    (recorded,) = answer(
        "trace", "--budget", "20k", "-o", "walk.trace", "--json", "--", program, cwd=tmp_path
    )
    assert 10_000 < recorded["references"] <= 23_000
    assert recorded["windows"]


def test_every_process_has_a_trace(program: Path, tmp_path: Path) -> None:
    made = answer("trace", "--json", "--", program, "fork", cwd=tmp_path)
    assert len(made) == 2
    assert all((tmp_path / trace["trace"]).exists() for trace in made)
    parent, child = sorted(made, key=lambda trace: -int(trace["references"]))
    assert 0 < child["references"] < parent["references"]


def test_what_is_recorded_can_be_simulated(program: Path, tmp_path: Path) -> None:
    call(BIN / "thermocline", "trace", "-o", "walk.trace", "--", program, cwd=tmp_path)
    found = answer(
        "simulate", "walk.trace", "--machine", MACHINE, "--scheme", "all-fast,first-touch",
        "--capacity", "25%", "--json", cwd=tmp_path,
    )  # fmt: skip
    assert "first-touch" in json.dumps(found)


def test_a_program_that_is_not_annotated_leaves_no_trace(tmp_path: Path) -> None:
    done = call(BIN / "thermocline", "trace", "--", "true", cwd=tmp_path, status=1)
    assert "there is no trace" in done.stderr
    assert not list(tmp_path.glob("*.trace"))
    done = call(BIN / "thermocline", "trace", "--budget", "x", "--", "true", cwd=tmp_path, status=2)
    assert "--budget" in done.stderr
