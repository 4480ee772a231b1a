"""thermocline top on a real program: started by it, and met while it runs."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from test_loop import BIN, call
from test_migrate import MACHINE, needs_rights

SOURCE = """
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
enum { BYTES = 16 << 20 };
int main(int argc, char **argv) {
    char *hot = malloc(BYTES), *cold = malloc(BYTES);
    for (int i = 0; i < BYTES; i += 64)
        hot[i] = cold[i] = 1;
    puts("all is there");
    fflush(stdout);
    // Until the file that the argument names is gone, and for a second at least.
    for (int round = 0; round < 100 || !access(argv[1], F_OK); round++) {
        for (int i = 0; i < BYTES; i += 64)
            ((volatile char *)hot)[i]++;
        usleep(10000);
    }
    return hot[0] == cold[0] ? 3 : 5;
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("top")
    (made / "p.c").write_text(SOURCE)
    call("thermocline-clang", "-O1", "-g", "p.c", "-o", "p", cwd=made)
    return made


def test_a_command_is_watched_to_its_end(folder: Path) -> None:
    command = ["thermocline", "top", "--json", "--interval", "0.2", "--machine", "knl-7230"]
    done = call(*command, "--method", "trace", "--", "./p", "gone", cwd=folder, status=5)
    looks = [json.loads(line) for line in done.stdout.splitlines()]
    assert looks[0]["running"] and not looks[-1]["running"]
    (process,) = looks[-1]["processes"]
    traffic = {site["key"]: site["traffic_bytes"] for site in process["sites"]}
    arrays = sorted(key for key in traffic if "!main@" in key)  # hot, cold
    assert traffic[arrays[0]] > 3 * traffic[arrays[1]] > 0
    assert process["tiers"][0]["name"] == "memory"
    assert "all is there" in done.stderr


def test_a_profiled_process_is_met(folder: Path) -> None:
    stop = folder / "runs"
    stop.touch()
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
    profile = ["profile", "--machine", "knl-7230", "-o", "p.profile", "--", "./p", "runs"]
    with subprocess.Popen(
        [sys.executable, "-m", "thermocline", *profile],
        cwd=folder, env=environment, stdout=subprocess.PIPE, text=True,
    ) as profiled:  # fmt: skip
        assert profiled.stdout is not None
        assert "all is there" in profiled.stdout.readline()
        (pid,) = subprocess.run(
            ["pgrep", "-P", str(profiled.pid)], capture_output=True, text=True, check=True
        ).stdout.split()
        watch = ["top", "--json", "--interval", "0.2", "--pid", pid]
        with subprocess.Popen(
            [sys.executable, "-m", "thermocline", *watch],
            cwd=folder, env=environment, stdout=subprocess.PIPE, text=True,
        ) as watching:  # fmt: skip
            assert watching.stdout is not None
            begin = time.monotonic()
            look = json.loads(watching.stdout.readline())
            while not look["processes"] and time.monotonic() - begin < 120:
                look = json.loads(watching.stdout.readline())
            stop.unlink()
            watching.stdout.read()
        profiled.stdout.read()
    assert [process["program"] for process in look["processes"]] == ["p"]
    assert watching.returncode == 0
    assert profiled.returncode == 5


@needs_rights
def test_a_migrating_program_is_watched_and_met(folder: Path) -> None:
    stop = folder / "moves"
    stop.touch()
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
    migrate = ["thermocline", "migrate", *MACHINE, "--near", "12MiB", "--granularity", "64K"]
    looks = []
    with subprocess.Popen(
        ["thermocline", "top", "--json", "--interval", "0.2", "--", *migrate, "--", "./p", "moves"],
        cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as watching:  # fmt: skip
        assert watching.stdout is not None and watching.stderr is not None
        for line in watching.stdout:
            looks.append(json.loads(line))
            moved = [each["moves"][1]["moves_in"] for each in looks[-1]["processes"]]
            if any(moved):
                break
        pid = looks[-1]["processes"][0]["pid"]
        words = ["thermocline", "top", "--json", "--interval", "0.2", "--pid", str(pid)]
        with subprocess.Popen(
            words, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True
        ) as met:
            assert met.stdout is not None
            look = json.loads(met.stdout.readline())
            stop.unlink()
            met.stdout.read()
        watching.stdout.read()
        said = watching.stderr.read()
    assert (watching.returncode, met.returncode) == (5, 0)
    (process,) = look["processes"]
    assert process["pid"] == pid and process["program"] == "p"
    assert process["near_bytes"] == 12 << 20
    assert 0 < process["resident_near_bytes"] < 24 << 20
    assert process["far_bytes"] > 0 and process["evictions"] > 0
    assert process["moves"][1]["bytes_out"] > 0
    assert process["moves"][0]["moves_in"] == 0
    assert "all is there" in said and "moved by" in said


def test_what_makes_no_sense_is_refused(folder: Path) -> None:
    for words, says in [
        ([], "give a command"),
        (["--pid", "1", "--", "./p"], "not both"),
        (
            ["--json", "--method", "trace", "--", "thermocline", "migrate"],
            "leave out what says how",
        ),
        (["--sort", "colour", "--", "./p"], "--sort 'colour'"),
        (["--json", "--pid", str(os.getpid())], "was not started by Thermocline"),
        (["--machine", "knl-7230", "--method", "pages", "--", "./p", "gone"], "needs a terminal"),
    ]:
        done = call("thermocline", "top", *words, cwd=folder, status=2)
        assert says in done.stderr
