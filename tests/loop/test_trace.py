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
    # Each site's block is larger than 4 KiB; the first came before the thread's first reference.
    blocks = {o["key"]: o["allocations"] for o in found["owners"]}
    assert sum(blocks[key] for key in sites) >= 2
    # Four references an element in two loops of some ten instructions.
    assert 4 * 20000 < found["references"] < recorded[0]["threads"][0]["instructions"]


def test_instructions_are_named_by_their_place_in_the_source(tmp_path: Path) -> None:
    """Equal references of two functions are two instructions, each with its own position."""
    (tmp_path / "walk.c").write_text(SOURCE)
    call("thermocline-clang", "-O2", "-g", "walk.c", "-o", "walk", cwd=tmp_path)
    answer("trace", "-o", "walk.trace", "--json", "--", tmp_path / "walk", cwd=tmp_path)
    found = answer("trace", "info", "walk.trace", "--count", "--json", cwd=tmp_path)
    lines = SOURCE.splitlines()
    gather = lines.index("        b[i] += a[order[i]];") + 1
    counts: dict[str, int] = {}
    for row in found["instructions"]:
        place, function = row["position"].split(" ")
        assert function == "main"
        assert place.startswith(f"{tmp_path.name}/walk.c:")
        line = place.split(":")[1]
        counts[line] = counts.get(line, 0) + row["references"] * row["bytes"]
    # b[i] is read and written; a[...] and order[i] are read; vectors of them or not.
    assert counts[str(gather)] == 20000 * (8 + 8 + 8 + 4)
    shown = call(BIN / "thermocline", "trace", "info", "walk.trace", "--count", cwd=tmp_path).stdout
    assert f"walk.c:{gather}:" in shown
    assert "dependent load" in shown


LIST = r"""
#include <stdio.h>
#include <stdlib.h>
struct node { struct node *next[2]; long pad[6]; };
enum { n = 40000 };
INLINED static struct node *step(struct node *at, long *steps) {
    return at->next[++*steps & 1];
}
int main(void) {
    struct node *nodes = malloc(n * sizeof *nodes);
    for (int i = 0; i < n; i++)
        nodes[i * 1237l % n].next[0] = nodes[i * 1237l % n].next[1] = &nodes[(i + 1) * 1237l % n];
    long steps = 0;
    struct node *at = nodes;
    do {
        at = step(at, &steps);
    } while (at != nodes && steps < n);
    printf("%ld\n", steps);
    return 0;
}
"""


@pytest.mark.parametrize("inlined", ["inline", "__attribute__((noinline))"])
def test_loads_that_make_addresses_are_known(program: Path, tmp_path: Path, inlined: str) -> None:
    """A list's next is made by itself; a[order[i]] by order[i]; an array's elements by no load."""
    (tmp_path / "list.c").write_text(LIST.replace("INLINED", inlined))
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
    assert run["rows"][0]["result"]["seconds"] > 40000 * 150e-9


REGIONS = r"""
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#define KEEP __attribute__((noinline))
static long *data;
static jmp_buf place;
namespace grid {
// Each element is a load and a store; `data` is a load.
KEEP void touch(long at, long n) {
    for (long i = at; i < at + n; i++)
        data[i * 8]++;
}
KEEP void outside() { touch(0, 10); }
KEEP void solve(int depth) { // refers to nothing itself
    touch(100, 20);
    if (depth)
        solve(depth - 1);
    touch(200, 1);
}
KEEP void throws() { touch(300, 5); throw std::runtime_error("x"); }
KEEP void jumps() { touch(400, 7); longjmp(place, 1); }
KEEP void tail(int n) { touch(500, 3); return touch(600, long(n)); }
KEEP void parallel() {
#pragma omp parallel for num_threads(2)
    for (long i = 700; i < 740; i++)
        data[i * 8]++;
}
}
int main() {
    data = static_cast<long *>(calloc(10000, 64));
    grid::outside();
    grid::solve(2);
    grid::outside();
    try { grid::throws(); } catch (const std::exception &) { grid::outside(); }
    grid::outside();
    if (!setjmp(place))
        grid::jumps();
    grid::outside();
    grid::tail(4);
    grid::outside();
    grid::parallel();
    grid::outside();
    printf("%ld\n", data[0]);
}
"""


@pytest.fixture(scope="module")
def regions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("regions")
    (folder / "regions.cc").write_text(REGIONS)
    options = ("-O2", "-g", "-fopenmp", "-fno-vectorize")
    call("thermocline-clang++", *options, "regions.cc", "-o", "regions", cwd=folder)
    return folder / "regions"


@pytest.mark.parametrize(
    ("function", "references"),
    [
        ("solve", 3 * (20 + 1) * 2 + 6),
        ("grid::solve", 3 * (20 + 1) * 2 + 6),
        ("throws", 5 * 2 + 1),
        ("jumps", 7 * 2 + 1),
        ("tail", (3 + 4) * 2 + 2),
    ],
)
def test_only_a_function_is_recorded(
    regions: Path, tmp_path: Path, function: str, references: int
) -> None:
    """However the function ends: by its return, an exception, longjmp or a call it ends with."""
    (recorded,) = answer(
        "trace", "--function", function, "-o", "a.trace", "--json", "--", regions, cwd=tmp_path
    )
    assert recorded["references"] == references
    assert recorded["functions"] == [function]


def test_marked_functions_are_regions(regions: Path, tmp_path: Path) -> None:
    (recorded,) = answer(
        "trace", "--mark", "solve,parallel", "-o", "a.trace", "--json", "--", regions, cwd=tmp_path
    )
    assert {"solve", "parallel", "parallel.omp_outlined"} <= set(recorded["functions"])
    assert recorded["references"] > 132 + 80 + 7 * 20
    assert _simulated(tmp_path, "--function", "solve") == 132
    # Two threads, each its half; what they refer to is all in one source function.
    found = answer("trace", "info", "a.trace", "--count", "--json", cwd=tmp_path)
    parallel = [row for row in found["instructions"] if "grid::parallel" in row["position"]]
    assert _simulated(tmp_path, "--function", "parallel") == sum(
        row["references"] for row in parallel
    )


def _simulated(folder: Path, *options: str) -> int:
    """References, of which none lies in two lines."""
    found = answer(
        "simulate", "a.trace", "--machine", MACHINE, "--scheme", "all-slow", "--json", *options,
        cwd=folder,
    )  # fmt: skip
    return sum(found["rows"][0]["result"]["lines_found"])


def test_a_function_that_is_not_there_is_said(regions: Path, tmp_path: Path) -> None:
    done = call(BIN / "thermocline", "trace", "--function", "sole", "--", regions, cwd=tmp_path)
    assert "no annotated function is called sole" in done.stderr
    assert "has no references" in done.stderr


REUSE = r"""
#include <stdlib.h>
enum { n = 1 << 20 };
static volatile double *cold(void) { return malloc(n * sizeof(double)); }
static volatile double *hot(void) { return malloc(n * sizeof(double)); }
int main(void) {
    volatile double *a = cold();
    for (int i = 0; i < n; i++)
        a[i] = i;
    free((void *)a);
    volatile double *b = hot();
    for (int turn = 0; turn < 3; turn++)
        for (int i = 0; i < n; i++)
            b[i] += turn;
    free((void *)b);
    return a != b; // it has the other's addresses
}
"""


def test_pages_that_went_back_are_placed_anew(tmp_path: Path) -> None:
    (tmp_path / "reuse.c").write_text(REUSE)
    call("thermocline-clang", "-O2", "-g", "reuse.c", "-o", "reuse", cwd=tmp_path)
    thermocline = BIN / "thermocline"
    call(
        thermocline, "profile", "--machine", MACHINE, "-o", "a.profile", "--", "./reuse",
        cwd=tmp_path,
    )  # fmt: skip
    call(
        thermocline, "plan", "a.profile", "--machine", MACHINE, "--capacity", "9MiB",
        "--strategy", "knapsack", "-o", "a.plan", cwd=tmp_path,
    )  # fmt: skip
    call(thermocline, "trace", "-o", "a.trace", "--", "./reuse", cwd=tmp_path)
    found = answer(
        "simulate", "a.trace", "--machine", MACHINE, "--plan", "a.plan", "--scheme", "membrain",
        "--json", cwd=tmp_path,
    )  # fmt: skip
    result = found["rows"][0]["result"]
    tiers = {
        name: [tier["read_bytes"] for tier in site["tiers"]]
        for site in result["sites"]
        for name in ("hot", "cold")
        if f"!{name}@" in site["key"]
    }
    assert tiers["hot"][0] >= 3 * 8 * 2**20 * 0.9
    assert tiers["hot"][1] == 0
    assert tiers["cold"][0] == 0
    assert tiers["cold"][1] >= 8 * 2**20 * 0.9
    assert all(tier["resident_bytes"] >= 8 * 2**20 for tier in result["tiers"])


def test_a_budget_is_kept_in_windows(program: Path, tmp_path: Path) -> None:
    (recorded,) = answer(
        "trace", "--budget", "20k", "-o", "walk.trace", "--json", "--", program, cwd=tmp_path
    )
    assert 10_000 < recorded["references"] <= 23_000
    assert recorded["windows"]


PHASES = r"""
#include <stdlib.h>
#include <time.h>
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}
int main(void) {
    volatile int *before = calloc(1000, 4);
    volatile int *during = calloc(1000, 4);
    volatile int *after = calloc(1000, 4);
    double begin = now(), at;
    for (unsigned i = 0; (at = now() - begin) < 2; i++)
        (at < 0.4 ? before : at < 1.4 ? during : after)[i % 1000]++;
    return 0;
}
"""


def test_only_a_time_is_recorded(tmp_path: Path) -> None:
    (tmp_path / "phases.c").write_text(PHASES)
    call("thermocline-clang", "-O1", "-g", "phases.c", "-o", "phases", cwd=tmp_path)
    (recorded,) = answer(
        "trace", "--time", "0.8s:1", "-o", "a.trace", "--json", "--", tmp_path / "phases",
        cwd=tmp_path,
    )  # fmt: skip
    (thread,) = recorded["threads"]
    assert 0.8 <= thread["begin_seconds"] < 1
    # What went by before it is a hole, not lost.
    assert thread["instructions"] > 3 * recorded["references"]
    found = answer("trace", "info", "a.trace", "--count", "--json", cwd=tmp_path)
    lines = PHASES.splitlines()
    touched = {lines[int(key.split(":")[1]) - 1].split("*")[1].split()[0]: row["loads"]
               for row in found["owners"] if "main@" in (key := row["key"])}  # fmt: skip
    assert set(touched) == {"during"}
    assert touched["during"] > 1000
    done = call(BIN / "thermocline", "trace", "--time", "2", "--", "true", cwd=tmp_path, status=2)
    assert "FROM:TO" in done.stderr


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


HUGE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
enum { large = 2 << 20, n = 8 };
int main(void) {
    char *block = aligned_alloc(large, (size_t)n * large);
    madvise(block, (size_t)n * large, MADV_HUGEPAGE);
    for (long i = 0; i < (long)n * large; i += 512)
        block[i]++;
    FILE *maps = fopen("/proc/self/smaps", "r");
    char line[256];
    unsigned long from, to, kib, huge = 0;
    int here = 0;
    while (fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
            here = from < (unsigned long)block + n * large && to > (unsigned long)block;
        if (here && sscanf(line, "AnonHugePages: %lu kB", &kib) == 1)
            huge += kib << 10;
    }
    printf("%lu\n", huge);
    return block[0] == 2;
}
"""


def test_where_pages_are_large_is_recorded(tmp_path: Path) -> None:
    """The kernel's word of the program's own block, from within, is what the trace tells."""
    (tmp_path / "huge.c").write_text(HUGE)
    call("thermocline-clang", "-O2", "huge.c", "-o", "huge", cwd=tmp_path)
    done = call(
        BIN / "thermocline", "trace", "-o", "huge.trace", "--", tmp_path / "huge", cwd=tmp_path
    )
    found = answer("trace", "info", "huge.trace", "--count", "--json", cwd=tmp_path)
    if "touched_large_bytes" not in found:
        pytest.skip("this kernel has no PAGEMAP_SCAN")
    assert found["touched_large_bytes"] == int(done.stdout.split()[0])
