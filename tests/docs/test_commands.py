"""Every command in README.md and docs/*.md, run where its files are; or its options checked."""

import os
import re
import shutil
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import typer
from commands import PAGES, Command, all_commands, spans
from not_run import NOT_RUN
from workshop import Workshop, prepare

from thermocline.cli import app

ALL = all_commands()
RUN = [command for command in ALL if not any(piece in command.text for piece in NOT_RUN)]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return prepare(tmp_path_factory.mktemp("workshop"))


def outputs(command: Command) -> Iterator[str]:
    """What the command will write, which must not be there."""
    words = command.words
    for option, name in pairwise(words):
        if option in ("-o", "--output", "--html", "--png"):
            yield name


@pytest.mark.parametrize("command", RUN, ids=lambda command: command.id)
def test_it_works(command: Command, shop: Workshop, tmp_path: Path) -> None:
    if "thermocline migrate" in command.text and os.geteuid() != 0:
        pytest.skip("userfaultfd with fork events needs root")
    folder = shop.copy(tmp_path / "copy")
    for name in outputs(command):
        (folder / name).unlink(missing_ok=True)
    done = shop.run(command.text, folder)
    assert done.returncode == 0, done.stdout
    for name in outputs(command):
        assert any(folder.glob(f"{name}*")), f"{name} was not written"
    shutil.rmtree(folder)  # traces add up


def test_the_list_of_what_is_not_run_is_needed() -> None:
    for piece, reason in NOT_RUN.items():
        assert reason
        assert any(piece in command.text for command in ALL), piece
    assert len(RUN) > 60  # most are


def test_no_command_is_where_this_does_not_look() -> None:
    for page in PAGES:
        indented = re.findall(r"^(?: {4}|\t)thermocline .*$", page.read_text(), re.MULTILINE)
        assert indented == [], f"{page.name}: put it between ```"


@cache
def verbs() -> dict[str, Any]:
    """Each verb's click command, groups' as "machine show"."""
    root: Any = typer.main.get_command(app)
    found = dict(root.commands)
    for name, command in list(found.items()):
        for inner, below in getattr(command, "commands", {}).items():
            found[f"{name} {inner}"] = below
    return found


def misspelt(command: Command) -> list[str]:
    """Verbs and options that there are none of."""
    text = command.text.partition("thermocline ")[2]
    words = re.findall(r"[^\s\[\]|]+", text.split(" -- ")[0].partition("  #")[0])
    if not words or words[0].startswith("-"):
        return []  # `thermocline --version`
    name = " ".join(words[:2]) if " ".join(words[:2]) in verbs() else words[0]
    if name not in verbs():
        return [name]
    known = {"--help"}
    known |= {o for p in verbs()[name].params for o in (*p.opts, *p.secondary_opts)}
    if name == "trace":  # its word "record" may be left out
        known |= {o for p in verbs()["trace record"].params for o in p.opts}
    options = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
    return sorted(options - known)


@pytest.mark.parametrize(
    "command",
    [c for c in [*ALL, *spans()] if c not in RUN and "thermocline " in c.text],
    ids=lambda command: command.id,
)
def test_verbs_and_options_exist(command: Command) -> None:
    assert misspelt(command) == []
