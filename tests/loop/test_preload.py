"""Programs that were not annotated, by the public commands."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from test_loop import call, json_of

from thermocline.planning.model import Plan, PlannedSite, to_toml
from thermocline.profiles.model import Profile, load

PATHS_C = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MIB = 1 << 20 };
__attribute__((noinline)) static char *make(size_t bytes) {
    char *block = malloc(bytes);
    memset(block, 1, bytes);
    return block;
}
__attribute__((noinline)) static char *hot(void) {
    char *block = make(24 * MIB);
    block[5]++;
    return block;
}
__attribute__((noinline)) static char *cold(void) {
    char *block = make(8 * MIB);
    block[6]++;
    return block;
}
int main(void) {
    char *a = hot(), *b = cold(), *c = strdup("a string");
    for (int i = 0; i < 100; i++) {
        char *d = make(100);
        d = realloc(d, 100000);
        d[99999] = 1;
        free(d);
    }
    printf("%d %d %s\n", a[5], b[6], c);
    free(a);
    free(b);
    free(c);
    return 0;
}
"""

THREADS_CC = r"""
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct Node {
    std::string name;
    explicit Node(int n) : name(std::string(40, 'x') + std::to_string(n)) {
        if (n % 10 == 9)
            throw std::runtime_error("no nines");
    }
};
__attribute__((noinline)) std::unique_ptr<Node> make_node(int n) {
    return std::make_unique<Node>(n);
}
int main() {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++)
        threads.emplace_back([] {
            std::map<int, std::unique_ptr<Node>> nodes;
            int thrown = 0;
            for (int n = 0; n < 2000; n++) {
                try {
                    nodes[n] = make_node(n);
                } catch (const std::runtime_error &) {
                    thrown++;
                }
            }
            if (thrown != 200)
                std::puts("wrong");
        });
    for (std::thread &thread : threads)
        thread.join();
    std::puts("done");
    return 0;
}
"""


def built(folder: Path, name: str, source: str, *command: str) -> Path:
    if not shutil.which(command[0]):
        pytest.skip(f"no {command[0]}")
    suffix = ".c" if "main(void)" in source else ".cc"
    (folder / f"{name}{suffix}").write_text(source)
    subprocess.run([*command, f"{name}{suffix}", "-o", name], cwd=folder, check=True)
    return folder / name


def profiled(folder: Path, command: Sequence[str | Path], *options: str) -> tuple[Profile, str]:
    out = folder / "out.profile"
    done = call(
        "thermocline", "profile", *options, "--force", "-o", out, "--", *command, cwd=folder
    )
    return load(out), done.stdout


def sites_of(profile: Profile) -> dict[str, int]:
    return {site.key: site.allocations for site in profile.sites if site.kind == "site"}


def test_a_path_is_what_an_annotated_build_calls_a_site(tmp_path: Path) -> None:
    plain = built(tmp_path, "paths", PATHS_C, "clang-22", "-O1", "-g")
    preloaded, output = profiled(
        tmp_path, [plain], "--preload", "--context", "2", "--method", "none"
    )
    assert "2 2 a string" in output and "not measured" in output
    plain.rename(tmp_path / "plain")
    annotated = built(
        tmp_path, "paths", PATHS_C, "thermocline-clang", "-O1", "-g", "--thermocline-context=2"
    )
    compared, _ = profiled(tmp_path, [annotated], "--method", "none")
    expected = sites_of(compared)
    # What printf allocates is no annotated site.
    found = {key: count for key, count in sites_of(preloaded).items() if key in expected}
    assert found == expected
    assert len(expected) == 5
    routines = {site.key: site.routine for site in compared.sites}
    for site in preloaded.sites:
        if site.key in expected:
            assert site.routine == routines[site.key]
    # So a plan made without annotation guides the annotated build.
    process = guided(tmp_path, planned(preloaded, "hot@", tmp_path), "--", annotated)
    assert process["tiers"][0]["peak_resident_bytes"] >> 20 == 24


def planned(profile: Profile, fast: str, folder: Path) -> Path:
    """Of a profile without traffic: one function's data in the fast tier."""
    sites = [
        PlannedSite(tier=0 if fast in site.key else 1, key=site.key, paths=site.paths)
        for site in profile.heap
    ]
    plan = Plan(
        strategy="by hand",
        machine="knl-7230",
        nonheap_tier="none",
        preload_context=profile.preload_context,
        sites=sites,
    )
    path = folder / "hand.plan"
    path.write_text(to_toml(plan))
    return path


def guided(folder: Path, plan: Path, *words: str | Path) -> dict[str, Any]:
    report = folder / "run.json"
    call("thermocline", "run", "--plan", plan, "-o", report, "--force", *words, cwd=folder)
    [process] = json_of(report)["processes"]
    assert isinstance(process, dict)
    return process


def test_a_guided_run_finds_the_paths_again(tmp_path: Path) -> None:
    program = built(tmp_path, "paths", PATHS_C, "gcc", "-O2", "-g", "-fcf-protection=none")
    profile, _ = profiled(tmp_path, [program], "--preload")
    plan = planned(profile, "hot@", tmp_path)
    process = guided(tmp_path, plan, "--preload", "--", program)
    assert process["sites"]["never_came"] == [] and process["sites"]["unplanned"] == []
    fast, slow = (tier["peak_resident_bytes"] >> 20 for tier in process["tiers"])
    assert fast == 24 and 8 <= slow < 16


def test_the_loop_without_recompiling(tmp_path: Path) -> None:
    """Profile, plan, guided run: what is used often goes to the fast tier."""
    source = PATHS_C.replace(
        "    free(a);\n",
        "    for (int i = 0; i < 20; i++)\n        memset(a, i, 24 * MIB);\n    free(a);\n",
    )
    program = built(tmp_path, "loops", source, "gcc", "-O1", "-g")
    profile, _ = profiled(tmp_path, [program], "--preload", "--method", "pages")
    hot = next(site for site in profile.sites if "hot@" in site.key)
    assert hot.traffic_bytes == max(site.traffic_bytes for site in profile.sites) > 0
    plan = tmp_path / "loops.plan"
    done = call(
        "thermocline", "plan", "out.profile", "--machine", "knl-7230", "--capacity", "28MiB",
        "--strategy", "knapsack", "-o", plan, cwd=tmp_path,
    )  # fmt: skip
    assert f"next: thermocline run --preload --plan {plan}" in done.stderr
    process = guided(tmp_path, plan, "--preload", "--", program)
    assert process["sites"]["never_came"] == []
    assert process["tiers"][0]["peak_resident_bytes"] >> 20 == 24


def test_another_build_is_no_match(tmp_path: Path) -> None:
    program = built(tmp_path, "paths", PATHS_C, "gcc", "-O2", "-g")
    plan = planned(profiled(tmp_path, [program], "--preload")[0], "hot@", tmp_path)
    built(tmp_path, "paths", PATHS_C.replace("24 * MIB", "MIB + 20 * MIB"), "gcc", "-O0", "-g")
    process = guided(tmp_path, plan, "--preload", "--", program)
    gone = process["sites"]["never_came"]
    assert any("hot@" in key for key in gone)
    assert process["tiers"][0]["peak_resident_bytes"] < 1 << 20


def test_cxx_without_frame_pointers_with_threads_and_exceptions(tmp_path: Path) -> None:
    program = built(
        tmp_path, "threads", THREADS_CC, "g++", "-O2", "-g", "-fomit-frame-pointer", "-pthread"
    )
    profile, output = profiled(tmp_path, [program], "--preload", "--context", "3")
    assert "done" in output and "wrong" not in output
    made = {site.key: site for site in profile.sites if "make_node" in site.key}
    routines = {site.routine: site.allocations for site in made.values()}
    assert routines["operator_new"] == 8000
    assert routines["__cxa_allocate_exception"] == 800
    for key in made:
        assert key.startswith("threads!")


def test_an_executable_whose_segments_lie_apart(tmp_path: Path) -> None:
    """As node's do."""
    program = built(
        tmp_path, "paths", PATHS_C, "gcc", "-O2", "-g", "-no-pie", "-Wl,-Ttext=0x2000000"
    )
    profile, _ = profiled(tmp_path, [program], "--preload")
    assert any("hot@" in key for key in sites_of(profile))
