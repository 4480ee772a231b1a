"""Profiles from bursts of recording, beside exact ones, by the public commands."""

import os
from pathlib import Path
from typing import Any

import pytest
from test_loop import MACHINE, call, json_of

# A small hot array beside a large one that is streamed: what the caches hold matters, and is
# judged wrongly by bursts that are too short for them.
HOT_AND_STREAMED = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
enum { hot_n = 40000, large_n = 3000000 };
static double sweep(double *hot, double *large, int times) {
    double sum = 0;
    unsigned at = 1;
    for (int t = 0; t < times; t++)
        for (int i = 0; i < large_n; i++) {
            at = at * 1664525u + 1013904223u;
            sum += large[i] * hot[(at >> 8) % hot_n];
        }
    return sum;
}
int main(int count, char **words) {
    double *hot = malloc(hot_n * sizeof *hot);
    double *large = malloc(large_n * sizeof *large);
    for (int i = 0; i < hot_n; i++)
        hot[i] = i;
    for (int i = 0; i < large_n; i++)
        large[i] = 1;
    if (count > 1 && fork() == 0) {
        printf("%g\n", sweep(hot, large, 5));
        return 0;
    }
    wait(NULL);
    printf("%g\n", sweep(hot, large, count > 1 ? 1 : 60));
    free(hot), free(large);
    return words[0] == NULL;
}
"""

THROWS = r"""
#include <cstdio>
#include <stdexcept>
#include <vector>
[[gnu::noinline]] static double look(const std::vector<double> &from, size_t at) {
    double sum = 0;
    for (size_t i = at; i < from.size(); i++) {
        if (from[i] < 0)
            throw i + 1;
        sum += from[i];
    }
    return sum;
}
int main() {
    std::vector<double> numbers(3000000, 1.5);
    double sum = 0;
    unsigned long caught = 0;
    for (size_t i = 0; i < numbers.size(); i += 50000)
        numbers[i] = -1;
    for (int round = 0; round < 40; round++)
        for (size_t at = 0;;)
            try {
                sum += look(numbers, at);
                break;
            } catch (size_t next) {
                caught++;
                at = next;
            }
    std::printf("%g %lu\n", sum, caught);
}
"""

THREADS = r"""
#include <stdio.h>
#include <stdlib.h>
enum { n = 2000000 };
int main(void) {
    double *from = malloc(n * sizeof *from), *to = malloc(n * sizeof *to), sum = 0;
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        from[i] = i % 7, to[i] = 0;
    for (int round = 0; round < 60; round++) {
#pragma omp parallel for
        for (int i = 1; i < n - 1; i++)
            to[i] = 0.5 * to[i] + from[i - 1] + from[i + 1];
    }
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += (long)to[i];
    printf("%g\n", sum);
}
"""

FORTRAN = """
program heat
  implicit none
  integer, parameter :: n = 1500
  real(8), allocatable :: a(:,:), b(:,:)
  integer :: t, i, j
  allocate(a(n,n), b(n,n))
  a = 0; b = 0; a(:,1) = 1
  do t = 1, 50
    b(2:n-1,2:n-1) = 0.25d0 * (a(1:n-2,2:n-1) + a(3:n,2:n-1) + a(2:n-1,1:n-2) + a(2:n-1,3:n))
    do j = 2, n - 1
      do i = 2, n - 1
        a(i,j) = 0.5d0 * (a(i,j) + b(i,j))
      end do
    end do
  end do
  print '(es12.5)', sum(a)
end program
"""


def compiled(folder: Path, compiler: str, name: str, text: str, *options: str) -> Path:
    (folder / name).write_text(text)
    program = folder / name.partition(".")[0]
    call(compiler, "-O2", *options, name, "-o", program.name, cwd=folder)
    return program


def profile(program: Path, method: str, *options: str) -> tuple[dict[str, Any], str]:
    out = program.with_name(f"{method}.profile")
    done = call(
        "thermocline", "profile", "--method", method, *options, "--machine", MACHINE,
        "-o", out, "--force", "--", program, cwd=program.parent, OMP_NUM_THREADS="2",
    )  # fmt: skip
    return json_of(out), done.stdout


def by_key(profile: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {site["key"]: site for site in profile["sites"] if site["kind"] == "site"}


def miss_ratio(site: dict[str, Any]) -> float:
    return float(site["read_bytes"] / 64 / (site["loads"] + site["stores"]))


def test_a_hot_array_beside_a_streamed_one(tmp_path: Path) -> None:
    """What a burst finds in the caches is what the program would have found there."""
    program = compiled(tmp_path, "thermocline-clang", "two.c", HOT_AND_STREAMED)
    exact, found = (by_key(profile(program, method)[0]) for method in ("trace", "bursts"))
    hot, large = sorted(exact, key=lambda key: exact[key]["peak_live_bytes"])
    for key in (hot, large):
        assert miss_ratio(found[key]) == pytest.approx(miss_ratio(exact[key]), rel=0.1, abs=0.002)
        for count in ("loads", "read_bytes"):
            # What happens once, as the hot array's first fill does, bursts may miss.
            once = 0.01 * exact[large][count]
            assert found[key][count] == pytest.approx(exact[key][count], rel=0.1, abs=once)
    assert miss_ratio(exact[large]) > 5 * miss_ratio(exact[hot])
    # Blocks come and go by the heap, which bursts leave alone.
    for key, site in exact.items():
        assert found[key]["allocations"] == site["allocations"]


@pytest.mark.parametrize(
    ("compiler", "name", "text", "options"),
    [
        ("thermocline-clang++", "throws.cc", THROWS, ()),
        ("thermocline-clang", "threads.c", THREADS, ("-fopenmp",)),
        ("thermocline-flang", "heat.f90", FORTRAN, ()),
    ],
)
def test_programs_go_on_as_ever(
    tmp_path: Path, compiler: str, name: str, text: str, options: tuple[str, ...]
) -> None:
    program = compiled(tmp_path, compiler, name, text, *options)
    wanted = call(program, cwd=tmp_path, OMP_NUM_THREADS="2").stdout
    exact, _ = profile(program, "trace")
    found, output = profile(program, "bursts", "--overhead", "0.3")
    assert wanted in output
    assert found["method"] == "bursts"
    sampling = found["sampling"]
    assert sampling["bursts"] > 1
    assert 0 < sampling["counted_share"] < sampling["recorded_share"] < 1
    sites = by_key(found)
    for key, site in by_key(exact).items():
        traffic = site["read_bytes"] + site["write_bytes"]
        guess = sites[key]["read_bytes"] + sites[key]["write_bytes"]
        # Twice the 95 % interval: one in many thousand is further off.
        slack = 2 * sites[key]["traffic_error_bytes"] + 0.1 * traffic + 1e6
        assert guess == pytest.approx(traffic, abs=slack)


def test_each_process_has_its_own_bursts(tmp_path: Path) -> None:
    program = compiled(tmp_path, "thermocline-clang", "two.c", HOT_AND_STREAMED)
    call(
        "thermocline", "profile", "--method", "bursts", "--machine", MACHINE, "--", program, "1",
        cwd=tmp_path,
    )  # fmt: skip
    parts = [json_of(path) for path in tmp_path.glob("two.*.profile")]
    assert len(parts) == 2
    loads = sorted(sum(site["loads"] for site in part["sites"]) for part in parts)
    assert loads[1] == pytest.approx(5 * loads[0], rel=0.2)  # five sweeps and one


def test_a_short_run_is_recorded_whole(tmp_path: Path) -> None:
    text = HOT_AND_STREAMED.replace("3000000", "30000").replace(": 60", ": 2")
    program = compiled(tmp_path, "thermocline-clang", "two.c", text)
    exact, found = (by_key(profile(program, method)[0]) for method in ("trace", "bursts"))
    for key, site in exact.items():
        assert found[key]["loads"] == site["loads"]
        assert found[key]["stores"] == site["stores"]


def test_misuse_is_said(tmp_path: Path) -> None:
    for options in (("--rate", "100"), ("--event", "x")):
        done = call(
            "thermocline", "profile", "--method", "bursts", *options, "--", "true",
            cwd=tmp_path, status=2,
        )  # fmt: skip
        assert "--overhead" in done.stderr


@pytest.mark.parametrize("option", ["", "option overhead-ppm 0", "option overhead-ppm 2000000"])
def test_a_bad_configuration_leaves_the_program_alone(tmp_path: Path, option: str) -> None:
    program = compiled(tmp_path, "thermocline-clang", "two.c", HOT_AND_STREAMED)
    lines = ["thermocline-config 1", "heap sites", "sampler bursts", option]
    lines.append("cache 1 bytes 4096 ways 4 line 64 private")
    (tmp_path / "config").write_text("\n".join(lines) + "\n")
    done = call(program, cwd=tmp_path, THERMOCLINE_CONFIG=os.fspath(tmp_path / "config"))
    assert "overhead-ppm" in done.stderr and "without Thermocline" in done.stderr
