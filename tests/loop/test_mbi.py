"""thermocline profile --method mbi: each site by itself on the slow tier, simulated here."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from test_loop import BIN, call

# Two streamed arrays, one four times as often, and many small ones that hardly count.
SOURCE = """
#include <stdio.h>
#include <stdlib.h>
enum { N = 1 << 19 };
int main(void) {
    FILE *log = fopen("runs.log", "a");
    fprintf(log, "run\\n");
    fclose(log);
    double *hot = calloc(N, 8), *cold = malloc(N * 8), sum = 0;
    for (int i = 0; i < N; i++)
        cold[i] = i;
    for (int r = 0; r < 4; r++)
        for (int i = 0; i < N; i++)
            hot[i] += r;
%s
    printf("%%g\\n", sum + hot[5] + cold[7]);
    return 0;
}
"""


def build(folder: Path, small: int) -> None:
    lines = [
        f"    volatile int *s{n} = malloc(4096); s{n}[3] = {n}; sum += s{n}[3];"
        for n in range(small)
    ]
    (folder / "two.c").write_text(SOURCE % "\n".join(lines))
    call("thermocline-clang", "-O1", "-g", "two.c", "-o", "two", cwd=folder)


def profile(folder: Path, method: str, *more: str) -> dict[str, Any]:
    out = f"{method}.profile"
    command = ["profile", "--method", method, "--machine", "knl-7230", "-o", out, *more]
    call("thermocline", *command, "--", "./two", cwd=folder)
    return json.loads((folder / out).read_text())  # type: ignore[no-any-return]


def traffic(found: dict[str, Any]) -> dict[str, int]:
    return {
        site["key"]: site["read_bytes"] + site["write_bytes"]
        for site in found["sites"]
        if site["kind"] == "site"
    }


def test_isolated_traffic_is_that_of_the_exact_profile(tmp_path: Path) -> None:
    build(tmp_path, 0)
    exact, isolated = traffic(profile(tmp_path, "trace")), traffic(profile(tmp_path, "mbi"))
    assert isolated.keys() == exact.keys()
    for key, moved in exact.items():
        assert isolated[key] == pytest.approx(moved, rel=0.02), key
    assert not (tmp_path / "mbi.mbi").exists()


def test_an_interrupted_measurement_goes_on(tmp_path: Path) -> None:
    build(tmp_path, 40)
    simulator = tmp_path / "lib" / "thermocline"
    real = BIN.parent.parent / "build"
    # A simulator that gives up after its third run.
    simulator.mkdir(parents=True)
    for path in (real / "lib" / "thermocline").iterdir():
        (simulator / path.name).symlink_to(path)
    (tmp_path / "bin").symlink_to(real / "bin")
    stopping = simulator / "thermocline-simulator"
    stopping.unlink()
    stopping.write_text(
        f"""#!/bin/sh
        case $1 in --survey) ;; *)
            n=$(cat {tmp_path}/count 2>/dev/null || echo 0)
            [ "$n" -lt 3 ] || {{ echo "stopped by the test" >&2; exit 1; }}
            echo $((n + 1)) >{tmp_path}/count ;;
        esac
        exec {real}/lib/thermocline/thermocline-simulator "$@"
        """
    )
    stopping.chmod(stopping.stat().st_mode | stat.S_IEXEC)
    command = ["thermocline", "profile", "--method", "mbi", "--machine", "knl-7230"]
    command += ["--jobs", "1", "-o", "m.profile", "--", "./two"]
    stopped = call(*command, cwd=tmp_path, status=1, THERMOCLINE_PREFIX=str(tmp_path))
    assert "stopped by the test" in stopped.stderr
    runs = (tmp_path / "runs.log").read_text().count("run")
    kept = {path.name for path in (tmp_path / "m.mbi").glob("*.json")}
    assert len(kept) == 3 + 1  # and what they are runs of
    call(*command, cwd=tmp_path)
    assert (tmp_path / "runs.log").read_text().count("run") == runs  # none again
    found = json.loads((tmp_path / "m.profile").read_text())
    # 42 sites are more than have a run each: the light ones share some.
    assert found["sampling"]["runs"] < 42
    assert any(site.get("isolation_group") is not None for site in found["sites"])
    two = sorted(traffic(found).values())[-2:]
    assert two[0] >= 2 * 2**22  # cold: written once
    assert two[1] >= 7 * 2**22  # hot: four times read and written, less what stays in the cache


def test_another_program_is_not_mixed_in(tmp_path: Path) -> None:
    build(tmp_path, 0)
    folder = tmp_path / "m.mbi"
    folder.mkdir()
    (folder / "about.json").write_text("{}")
    command = ["profile", "--method", "mbi", "--machine", "knl-7230", "-o", "m.profile"]
    said = call("thermocline", *command, "--", "./two", cwd=tmp_path, status=1).stderr
    assert "another command" in said


def test_one_kind_of_memory_can_not_be_isolated(tmp_path: Path) -> None:
    build(tmp_path, 0)
    (tmp_path / "one.toml").write_text(
        """
format = 1
name = "one"
[cpu]
model = "one"
sockets = 1
smt = 1
source = "test"
cores = 1
[[cache]]
level = 1
bytes = {value = "32KiB", source = "test"}
ways = 8
line = 64
shared_by = 1
[[tier]]
name = "dram"
kind = "DRAM"
capacity = {value = "1GiB", source = "test"}
modelled = true
"""
    )
    command = ["profile", "--method", "mbi", "--machine", "one.toml"]
    said = call("thermocline", *command, "--", "./two", cwd=tmp_path, status=1).stderr
    assert "--machine knl-7230" in said
