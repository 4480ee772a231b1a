"""--preload on programs of the system, on several processes, and on what it can't work on."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from test_loop import call
from test_preload import PATHS_C, built, planned

from thermocline.profiles.model import load

COMMANDS = [
    ["python3", "-c", "print(sum(len(str(i)) for i in range(3000)))"],
    ["sort", "numbers"],
    [
        "sqlite3",
        ":memory:",
        "create table t(a); insert into t values (1),(2); select sum(a) from t",
    ],
    ["sh", "-c", "seq 100 | sort -rn | head -1"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_programs_of_the_system(command: list[str], tmp_path: Path) -> None:
    found = shutil.which(command[0])
    if not found:
        pytest.skip(f"no {command[0]}")
    (tmp_path / "numbers").write_text("".join(f"{i * 7919 % 1000}\n" for i in range(1000)))
    if command[0] == "python3":  # not a shell script that looks for one
        command = [str(Path("/usr/bin/python3")), *command[1:]]
    expected = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    done = call("thermocline", "profile", "--preload", "--json", "--", *command, cwd=tmp_path)
    assert expected.stdout in done.stderr
    profiles = json.loads(done.stdout)
    assert all(profile["complete"] for profile in profiles)
    sites = [site for profile in profiles for site in profile["sites"] if site["kind"] == "site"]
    assert sum(site["allocations"] for site in sites) > 10
    largest = max(profiles, key=lambda profile: len(profile["sites"]))
    plan = planned(load(tmp_path / largest["profile"]), "!", tmp_path)
    again = call(
        "thermocline", "run", "--preload", "--plan", plan, "--json", "--", *command, cwd=tmp_path
    )
    assert expected.stdout in again.stderr
    reached = [process["sites"]["reached"] for process in json.loads(again.stdout)["processes"]]
    assert max(reached) > 0.9 * len(largest["sites"]) - 4


def test_each_process_has_its_own(tmp_path: Path) -> None:
    source = r"""
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
void *volatile kept;
int main(void) {
    for (int child = 0; child < 2; child++)
        if (fork() == 0) {
            for (int i = 0; i < 1000; i++)
                kept = malloc(10);
            return 0;
        }
    wait(NULL);
    wait(NULL);
    return 0;
}
"""
    program = built(tmp_path, "forks", source, "gcc", "-O1", "-g")
    done = call("thermocline", "profile", "--preload", "--json", "--", program, cwd=tmp_path)
    counts = sorted(
        sum(s["allocations"] for s in profile["sites"] if s["key"].startswith("forks!main@"))
        for profile in json.loads(done.stdout)
    )
    assert counts == [0, 1000, 1000]


def test_who_brings_a_malloc_is_told(tmp_path: Path) -> None:
    source = r"""
#include <stddef.h>
static char room[1 << 20];
static size_t used;
void *malloc(size_t bytes) {
    void *block = room + used;
    used += (bytes + 15) & ~(size_t)15;
    return used <= sizeof room ? block : NULL;
}
void free(void *block) { (void)block; }
int main(void) { return malloc(10) == NULL; }
"""
    program = built(tmp_path, "own", source, "gcc", "-O1", "-fno-builtin", "-rdynamic")
    done = call("thermocline", "profile", "--preload", "--", program, cwd=tmp_path, status=1)
    assert "malloc is that of the executable" in done.stderr
    assert "brings its own malloc" in done.stderr.splitlines()[-1]
    done = call("thermocline", "run", "--preload", "--json", "--", program, cwd=tmp_path)
    assert json.loads(done.stdout)["processes"][0]["stepped_aside"] == "the executable"


def test_misuse_is_one_line(tmp_path: Path) -> None:
    static = built(tmp_path, "paths", PATHS_C, "gcc", "-static")
    for words in (
        ["profile", "--preload", "--", static],
        ["run", "--preload", "--", static],
        ["profile", "--preload", "--method", "trace", "--", "true"],
        ["profile", "--preload", "--method", "bursts", "--", "true"],
        ["run", "--preload", "--trace", "--", "true"],
        ["profile", "--context", "3", "--", "true"],
    ):
        done = call("thermocline", *words, cwd=tmp_path, status=2)
        assert len(done.stderr.splitlines()) == 1, done.stderr
    assert not list(tmp_path.glob("*.profile"))
