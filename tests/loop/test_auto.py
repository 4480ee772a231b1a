"""thermocline auto: the whole loop in one command."""

import json
import tomllib
from pathlib import Path

import pytest
from test_loop import call

SOURCE = """
#include <stdio.h>
#include <stdlib.h>
enum { N = 1 << 19 };
int main(void) {
    double *cold = malloc(N * 8), *hot = malloc(N * 8);
    for (int i = 0; i < N; i++)
        cold[i] = i;
    for (int r = 0; r < 60; r++)
        for (int i = 0; i < N; i++)
            hot[i] += r;
    printf("%g\\n", hot[5] + cold[7]);
    return 0;
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("auto")
    (made / "two.c").write_text(SOURCE)
    call("thermocline-clang", "-O1", "-g", "two.c", "-o", "two", cwd=made)
    call("cc", "-O1", "-g", "two.c", "-o", "plain", cwd=made)
    return made


def test_the_whole_loop(folder: Path) -> None:
    command = ["thermocline", "auto", "--machine", "knl-7230", "--capacity", "60%"]
    done = call(*command, "--", "./two", cwd=folder)
    verbs = [
        line.split()[2] for line in done.stdout.splitlines() if line.startswith("$ thermocline ")
    ]
    assert verbs == ["profile", "plan", "trace", "simulate", "run", "report"]
    made = folder / "two.auto"
    plan = tomllib.loads((made / "two.plan").read_text())
    tiers = {
        site["key"].split("@")[1]: site["tier"] for site in plan["sites"] if "main@" in site["key"]
    }
    (hot,) = [tier for place, tier in tiers.items() if place.endswith(":42")]
    assert hot == 0
    assert "Simulated schemes" in (made / "two.html").read_text()
    run = json.loads((made / "two.run.json").read_text())
    assert run["fast_traffic_share"] > 0.6
    assert "method " in done.stderr
    assert done.stderr.rstrip().splitlines()[-1].startswith("next: thermocline run --plan")


def test_what_is_there_is_kept(folder: Path) -> None:
    (folder / "kept").mkdir()
    (folder / "kept" / "mine").write_text("")
    said = call("thermocline", "auto", "-o", "kept", "--", "./two", cwd=folder, status=2).stderr
    assert "kept exists: choose another with -o, or add --force" in said


def test_a_program_that_fails_ends_it(folder: Path) -> None:
    command = ["thermocline", "auto", "-o", "failed", "--", "./two", "x"]
    (folder / "failing.c").write_text(
        "#include <stdlib.h>\nint main(void){free(malloc(9));return 3;}"
    )
    call("thermocline-clang", "failing.c", "-o", "failing", cwd=folder)
    done = call(*command[:-2], "./failing", cwd=folder, status=3)
    assert done.stdout.count("$ thermocline") == 1


def test_a_program_that_was_not_annotated(folder: Path) -> None:
    command = ["thermocline", "auto", "--preload", "--machine", "knl-7230", "-o", "loaded"]
    done = call(*command, "--", "./plain", cwd=folder)
    assert "$ thermocline trace" not in done.stdout
    assert (folder / "loaded" / "plain.run.json").exists()
