"""Plans in other tools' words: golden files, read as those tools read them, and what is refused."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from thermocline import exports
from thermocline.cli import app
from thermocline.errors import Misuse
from thermocline.exports.model import Frame, frames
from thermocline.machine import store
from thermocline.machine.model import Machine
from thermocline.planning.model import Plan, PlannedSite, load

from .conftest import GOLDEN

FOLDER = GOLDEN / "exports"
PLAN = FOLDER / "spread.plan"
NODES = GOLDEN / "two-sockets-cxl.toml"


@pytest.mark.parametrize(
    ("form", "machine"),
    [("numactl", str(NODES)), ("flexmalloc", "xeon-max-9480"), ("memkind", "xeon-max-9480")],
)
def test_golden_files(form: str, machine: str, tmp_path: Path) -> None:
    words = ["export", str(PLAN), "--for", form, "--machine", machine]
    done = CliRunner().invoke(app, [*words, "-o", str(tmp_path / "spread")])
    assert done.exit_code == 0, done.output
    made = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert made == {name: (FOLDER / name).read_text() for name in made}
    assert len(made) == (2 if form == "flexmalloc" else 1)
    again = CliRunner().invoke(app, [*words, "-o", str(tmp_path / "spread")])
    assert isinstance(again.exception, Misuse)  # --force
    assert "--force" in str(again.exception)


def test_a_numactl_script_runs_its_arguments(tmp_path: Path) -> None:
    fake = tmp_path / "numactl"
    fake.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    fake.chmod(0o755)
    sites = [PlannedSite(tier=0, key="a", bytes=4096), PlannedSite(tier=1, key="b", bytes=4096)]
    made = exports.export(Plan(strategy="thermos", sites=sites), store.find(str(NODES)), "numactl")
    script = tmp_path / "run.sh"
    script.write_text(made.files[".numactl.sh"])  # equal shares: no weights to set
    done = subprocess.run(
        ["sh", script, "./a program", "-x"],
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.splitlines() == ["--interleave=0,1,2,3", "--", "./a program", "-x"]


def test_one_tier_needs_no_interleaving() -> None:
    sites = [PlannedSite(tier=1, key="a", bytes=4096)]
    plan = Plan(strategy="thermos", sites=sites, nonheap_tier="none")
    made = exports.export(plan, store.find(str(NODES)), "numactl")
    assert "numactl --preferred-many=2,3 --" in made.files[".numactl.sh"]
    assert made.lost == []


@given(st.integers(1, 2**50), st.integers(1, 2**50))
def test_weights_have_the_bytes_ratio(fast: int, slow: int) -> None:
    sites = [PlannedSite(tier=0, key="a", bytes=fast), PlannedSite(tier=1, key="b", bytes=slow)]
    made = exports.export(Plan(strategy="thermos", sites=sites), MACHINE, "numactl")
    lines = [line for line in made.files[".numactl.sh"].splitlines() if line.startswith("echo")]
    weights = [int(line.split()[1]) for line in lines] or [1, 1, 1, 1]
    assert all(1 <= weight <= 255 for weight in weights)
    # 1 of 33 parts is the least that small weights can say.
    assert sum(weights[:2]) / sum(weights) == pytest.approx(fast / (fast + slow), abs=0.031)


MACHINE: Machine = store.find(str(NODES))


@dataclass
class Locations:
    """As flexmalloc reads its file (src/code-locations.cxx)."""

    text: str

    def allocator(self, *path: str) -> str | None:
        for line in self.text.splitlines():
            if not line.startswith("#"):
                places, _, name = line.partition(" @ ")
                if places.split(" > ") == list(path):
                    return name
        return None


def test_flexmalloc_finds_paths() -> None:
    made = exports.export(load(PLAN), store.find("xeon-max-9480"), "flexmalloc")
    text = made.files[".flexmalloc.locations"]
    # It guesses the form by these two characters, wherever they are.
    assert ":" in text
    assert "!" not in text
    found = Locations(text)
    assert found.allocator("lulesh.cc:212", "lulesh.cc:2700") == "memkind/hbwmalloc"
    assert found.allocator("util.cc:41", "lulesh.cc:90") == "memkind/hbwmalloc"
    assert found.allocator("util.cc:41", "lulesh.cc:120") is None  # the fallback's
    definitions = made.files[".flexmalloc.definitions"].splitlines()
    assert definitions[:2] == [
        "# Memory configuration for allocator memkind/hbwmalloc",
        "Size 504 MBytes",  # 512 MiB less what is not heap
    ]


FAKE_MEMKIND = "typedef const char *memkind_t;\n" + "".join(
    f'static const char *const MEMKIND_{name} = "{name}";\n'
    for name in ("HBW_PREFERRED", "DEFAULT")
)


@pytest.mark.parametrize(
    "spelling", ["src/util.cc", "./src/util.cc", "util.cc", "/a/b/src/util.cc"]
)
def test_the_memkind_header_knows_lines(spelling: str, tmp_path: Path) -> None:
    (tmp_path / "memkind.h").write_text(FAKE_MEMKIND)
    (tmp_path / "main.c").write_text(
        "#include <stdio.h>\nint main(void) {\n"
        f'#line 41 "{spelling}"\nputs(THERMOCLINE_KIND);\nputs(THERMOCLINE_KIND);\n'
        '#line 41 "src/other.cc"\nputs(THERMOCLINE_KIND);\n'
        '#line 41 "til.cc"\nputs(THERMOCLINE_KIND);\nreturn 0; }\n'
    )
    options = ["-O2", "-Wall", "-Wextra", "-Werror", "-I."]
    options += ["-include", str(FOLDER / "spread.memkind.h")]
    build = ["clang-22", *options, "main.c", "-o", "main"]
    subprocess.run(build, cwd=tmp_path, check=True)
    done = subprocess.run(["./main"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["HBW_PREFERRED", "DEFAULT", "DEFAULT", "DEFAULT"]


@pytest.mark.parametrize(
    ("form", "machine", "says"),
    [
        ("numactl", "knl-7230", "which nodes mcdram is"),
        ("flexmalloc", "dram-cxl", "no allocator for"),
        ("slurm", "knl-7230", "there are numactl, flexmalloc, memkind"),
    ],
)
def test_what_cannot_be_said_is_refused(form: str, machine: str, says: str) -> None:
    with pytest.raises(Misuse, match=says):
        exports.export(load(PLAN), store.find(machine), form)


def test_a_plan_for_more_tiers_than_there_are() -> None:
    plan = Plan(strategy="x", default_tier=2)
    with pytest.raises(Misuse, match="speaks of 3 tiers"):
        exports.export(plan, MACHINE, "numactl")


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("m!f@a/b.c:3:1 < main@b.c:9", (Frame("a/b.c", 3), Frame("b.c", 9))),
        ("m!f@?:0", None),
        ("m!f+0x12 < main@b.c:9:1", None),
        ("m!f@b.c:3:1 < other.so!+0x40", None),
        ("libc.so.6!unannotated", None),
        ("(other)", None),
        ("m!f@b.c:99999999999999999999999:1", (Frame("b.c", 99999999999999999999999),)),
        ("m!f@b.c:٣:1", None),
    ],
)
def test_places_in_the_source(key: str, expected: tuple[Frame, ...] | None) -> None:
    assert frames(key) == expected
