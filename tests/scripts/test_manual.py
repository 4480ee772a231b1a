"""Man pages and the reference: one for each verb, all its options, nothing that mandoc warns of."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from thermocline import paths
from thermocline.cli import app

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "manual.py"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("share") / "man1"
    made_with("man", made, paths.wrapper())
    return made


def made_with(*arguments: object) -> None:
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    subprocess.run(command, env={**os.environ, "SOURCE_DATE_EPOCH": "0"}, check=True)


def verbs(*path: str) -> Iterator[tuple[str, ...]]:
    """As --help lists them, which is another way than the generator's."""
    yield path
    shown = told(*path)
    if "\nCommands:\n" in shown:
        for name in re.findall(r"^  (\w+) ", shown.split("\nCommands:\n")[1], re.MULTILINE):
            yield from verbs(*path, name)


def told(*path: str) -> str:
    shown = CliRunner().invoke(app, [*path, "--help"], prog_name="thermocline")
    assert shown.exit_code == 0
    return shown.stdout


def read(page: Path) -> str:
    done = subprocess.run(
        ["mandoc", "-T", "ascii", "-O", "width=1000", page],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return re.sub(".\b", "", done.stdout)


def test_every_verb_has_a_page_with_all_its_options(folder: Path) -> None:
    expected = {f"{'-'.join(('thermocline', *path))}.1" for path in verbs()}
    compilers = {f"thermocline-{name}.1" for name in ("clang", "clang++", "flang")}
    assert {page.name for page in folder.iterdir()} == expected | compilers
    for verb in ("plan", "simulate"):
        text = read(folder / f"thermocline-{verb}.1")
        options = set(re.findall(r"--[a-z-]+", told(verb).split("\nOptions:\n")[1]))
        assert len(options) > 5
        assert options <= set(re.findall(r"--[a-z-]+", text))


def test_nothing_to_warn_of(folder: Path) -> None:
    lint = ["mandoc", "-T", "lint", "-W", "warning", *map(str, sorted(folder.iterdir()))]
    done = subprocess.run(lint, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_the_compilers_options_are_their_own_words(folder: Path) -> None:
    text = read(folder / "thermocline-flang.1")  # the same page
    asked = [str(paths.wrapper()), "--thermocline-help"]
    shown = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    options = re.findall(r"^  (--\S+)", shown, re.MULTILINE)
    assert len(options) >= 7
    assert all(option in text for option in options)
    assert "strip and ld can't read them" in text  # of two lines there


def test_the_reference_has_every_verb(tmp_path: Path) -> None:
    made_with("markdown", tmp_path / "reference.md")
    headings = re.findall(r"^## (.*)$", (tmp_path / "reference.md").read_text(), re.MULTILINE)
    assert sorted(headings) == sorted(" ".join(("thermocline", *path)) for path in verbs())
