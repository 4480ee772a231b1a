"""Allocation-heavy programs from Debian's source packages, each with a job of a second or less.

Each is built by its own build system with thermocline-clang as the compiler, unchanged.
Other variants are links of the very same objects: the command of the last link is in the
executable's own table (docs/internals.md), and is run again with another compiler or other
options. So variants differ in what the link adds and in nothing else.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from elftools.elf.elffile import ELFFile

from thermocline import paths
from thermocline.measuring import debian_source
from thermocline.measuring.paired import BenchError, Command

JOBS = Path(__file__).with_name("jobs")


def prefix() -> Path:
    return paths.native_prefix().resolve()


class RealProgram(NamedTuple):
    package: str
    build: str  # shell; $CC, $CXX and $CFLAGS are set, the directory is the unpacked source
    executable: str
    # Arguments: {jobs} is JOBS, {0} and {1} are the size, {inputs} what was written for that size.
    job: tuple[str, ...]
    size: tuple[str, ...]  # of a job of a second or less
    stdin: str | None = None


REAL_PROGRAMS = {
    "lua": RealProgram(
        "lua5.4",
        'make -C src CC="$CC" CFLAGS="$CFLAGS -DLUA_USE_POSIX" lua',
        "src/lua",
        ("{jobs}/trees.lua", "{0}", "{1}"),
        ("13", "60000"),
    ),
    "gawk": RealProgram(
        "gawk",
        "./configure --disable-nls --disable-mpfr --without-readline"
        " && make -C support && make gawk",
        "gawk",
        ("-v", "words={0}", "-f", "{jobs}/words.awk"),
        ("150000",),
    ),
    "mujs": RealProgram(
        "mujs",
        'make CC="$CC" CFLAGS="$CFLAGS" HAVE_READLINE=no LDFLAGS= build/release/mujs',
        "build/release/mujs",
        ("{jobs}/objects.js", "{0}", "{1}"),
        ("6000", "12"),
    ),
    "sqlite": RealProgram(
        "sqlite3",
        "mkdir -p out && cd out && ../configure --disable-readline --disable-tcl --disable-shared"
        " && make sqlite3.c shell.c && $CC $CFLAGS -DSQLITE_THREADSAFE=0 -c sqlite3.c shell.c"
        " && $CC $CFLAGS sqlite3.o shell.o -lm -o sqlite3",
        "out/sqlite3",
        ("-cmd", ".parameter set @rows {0}", ":memory:"),
        ("30000",),
        "{jobs}/tables.sql",
    ),
    "ninja": RealProgram(
        "ninja-build",
        'cmake -S . -B out -DBUILD_TESTING=OFF -DCMAKE_CXX_FLAGS="$CFLAGS"'
        " && cmake --build out --target ninja",
        "out/ninja",
        ("-C", "{inputs}", "-n", "--quiet"),
        ("20000",),
    ),
}


class Link(NamedTuple):
    """One more link of a program's objects; `run` makes `executable`."""

    executable: Path
    run: Command

    @property
    def loaded_bytes(self) -> int:
        """What a process loads of the file: no symbols, no debug information."""
        with self.executable.open("rb") as stream:
            segments = ELFFile(stream).iter_segments("PT_LOAD")
            return sum(segment["p_filesz"] for segment in segments)


class BuiltProgram:
    """A program built with the wrapper, in a directory of its own; relinked at will."""

    def __init__(self, name: str, directory: Path) -> None:
        self.name = name
        self._program = REAL_PROGRAMS[name]
        self.folder = directory
        self._directory = directory / name
        self._source = self._directory / "source"
        self.executable = self._source / self._program.executable
        if not self.executable.exists():
            self._build()
        self._cwd, self._arguments = link_command(self.executable)

    def _build(self) -> None:
        source = debian_source.fetch(self._program.package)
        shutil.rmtree(self._directory, ignore_errors=True)
        shutil.copytree(source, self._source, symlinks=True)
        compilers = prefix() / "bin"
        environment = {
            "CC": str(compilers / "thermocline-clang"),
            "CXX": str(compilers / "thermocline-clang++"),
            "CFLAGS": "-O2",
            "CXXFLAGS": "-O2",
        }
        with (self._directory / "build.log").open("w") as log:
            answer = subprocess.run(
                ["sh", "-ec", self._program.build],
                cwd=self._source,
                env={**os.environ, **environment},
                stdout=log,
                stderr=subprocess.STDOUT,
                check=False,
            )
        if answer.returncode != 0:
            raise BenchError(f"{self.name} did not build: see {self._directory}/build.log")

    def link(self, variant: str, compiler: Sequence[str]) -> Link:
        """The build's last link with `compiler` in the wrapper's place, with options of its own."""
        output = self._directory / variant
        arguments = list(self._arguments[1:])
        position = arguments.index("-o")
        arguments[position + 1] = str(output)
        cxx = self._arguments[0].endswith("++")
        driver = compiler[0].replace("clang", "clang++") if cxx else compiler[0]
        return Link(output, Command((driver, *arguments, *compiler[1:]), directory=self._cwd))

    def command(
        self,
        executable: Path,
        environment: Mapping[str, str] | None = None,
        size: tuple[str, ...] = (),
    ) -> Command:
        """A run of the job, at its own size or another."""
        chosen = size or self._program.size
        places = {"jobs": str(JOBS)}
        if self.name == "ninja":
            inputs = self._directory / f"inputs-{chosen[0]}"
            if not (inputs / "build.ninja").exists():
                write_ninja_manifest(inputs, int(chosen[0]))
            places["inputs"] = str(inputs)
        job = tuple(argument.format(*chosen, **places) for argument in self._program.job)
        stdin = self._program.stdin
        return Command(
            (str(executable), *job),
            environment or {},
            stdin=Path(stdin.format(**places)) if stdin else None,
        )


def link_command(executable: Path) -> tuple[Path, list[str]]:
    """The directory and the arguments of the link that made an annotated executable."""
    with executable.open("rb") as stream:
        section = ELFFile(stream).get_section_by_name("thermocline_keys")
        strings = section.data().decode().split("\0") if section else []
    for string in strings:
        if string.startswith("link\t"):
            fields = [_unescaped(part) for part in string.split("\t")]
            return Path(fields[1]), fields[2:]
    raise BenchError(f"{executable} carries no link command: was it built with the wrappers?")


def _unescaped(text: str) -> str:
    for escaped, plain in (("\\t", "\t"), ("\\n", "\n"), ("\\\\", "\\")):
        text = text.replace(escaped, plain)
    return text


def write_ninja_manifest(directory: Path, edges: int) -> None:
    """A build of many small steps, none of which runs: ninja -n only reads and orders them."""
    directory.mkdir(parents=True, exist_ok=True)
    lines = ["rule copy", "  command = cp $in $out", "  description = $out"]
    (directory / "source").touch()
    for number in range(edges):
        inputs = "source" if number < 10 else f"out/{number // 3} out/{number - 7}"
        lines += [f"build out/{number}: copy {inputs}", f"  note = step {number} of {edges}"]
    (directory / "build.ninja").write_text("\n".join(lines) + "\n")
