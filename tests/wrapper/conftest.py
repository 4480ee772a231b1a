"""Runs the drop-in compilers of the build under test in a scratch folder."""

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PREFIX = Path(os.environ.get("THERMOCLINE_PREFIX") or ROOT / "build").resolve()

ALLOCATES = """
#include <stdio.h>
#include <stdlib.h>
char *make(int n) { return malloc(n); }
"""
MAIN = """
#include <stdio.h>
#include <stdlib.h>
char *make(int n);
int main(int argc, char **argv) {
    char *block = make(argc * 100);
    block[argc] = 'x';
    puts(block[argc] == 'x' ? "fine" : "broken");
    free(block);
    return 0;
}
"""


@dataclass
class Table:
    """The strings that the link put into a program's table."""

    header: str
    keys: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def native(self) -> list[str]:
        return [note for note in self.notes if note.startswith("native: ")]

    @property
    def functions(self) -> set[str]:
        return {key.split("!", 1)[1].split("@")[0] for key in self.keys}


@dataclass
class Workshop:
    """A scratch folder, and the compilers to use in it."""

    folder: Path

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def environment(self, **more: str) -> dict[str, str]:
        """The caller's environment without settings that would change a result."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith("THERMOCLINE_")}
        kept["THERMOCLINE_PREFIX"] = str(PREFIX)
        kept["PATH"] = f"{PREFIX / 'bin'}:{kept['PATH']}"
        kept["LC_ALL"] = "C"
        return kept | more

    def execute(
        self,
        command: Sequence[str | Path],
        environment: dict[str, str],
        cwd: Path | None = None,
        stdin: str | None = None,
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(word) for word in command],
            cwd=cwd or self.folder,
            env=self.environment(**environment),
            capture_output=True,
            text=True,
            input=stdin,
            timeout=300,
            check=False,
        )

    def run(
        self,
        *command: str | Path,
        status: int = 0,
        stderr: str | None = "",
        cwd: Path | None = None,
        stdin: str | None = None,
        **environment: str,
    ) -> str:
        """Runs a command; its exit status and, unless None, its stderr must be as given."""
        done = self.execute(command, environment, cwd, stdin)
        said = f"{command}\n{done.stdout}\n{done.stderr}"
        assert done.returncode == status, said
        if stderr is not None:
            assert done.stderr == stderr, said
        return done.stdout

    def stderr_of(self, *command: str | Path, **environment: str) -> str:
        return self.execute(command, environment).stderr

    def passed_on(self, program: str, *arguments: str | Path) -> list[str]:
        """The arguments with which the wrapper calls the real compiler."""
        fake = self.folder / "fake compiler"
        if not fake.exists():
            fake.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
            fake.chmod(0o755)
        compilers = {f"THERMOCLINE_{name}": str(fake) for name in ("CLANG", "CLANGXX", "FLANG")}
        done = self.execute([program, *arguments], compilers)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    def table(self, program: str | Path) -> Table | None:
        """None: the program was not annotated."""
        dump = self.folder / "keys.bin"
        dump.unlink(missing_ok=True)
        self.run("objcopy", "-O", "binary", "--only-section=thermocline_keys", program, dump)
        text = dump.read_bytes().decode() if dump.exists() else ""
        if not text:
            return None
        header, *rest = text.split("\0")
        sites, notes = rest[: rest.index("")], rest[rest.index("") + 1 :]
        return Table(header, sites[::3], [note for note in notes if note])


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    plugin = PREFIX / "lib" / "thermocline" / "thermocline-plugin.so"
    assert plugin.exists(), f"{plugin} is missing: run make build, or set THERMOCLINE_PREFIX"
    folder = tmp_path / "a folder"  # blanks in paths are common, and break wrappers
    folder.mkdir()
    workshop = Workshop(folder)
    workshop.write("make.c", ALLOCATES)
    workshop.write("main.c", MAIN)
    return workshop
