"""Builds the test programs with the wrappers, and puts them into a guest's initramfs."""

from __future__ import annotations

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from initramfs import Initramfs
from plan import site_keys

REPOSITORY = Path(__file__).resolve().parents[2]
SOURCES = Path(__file__).with_name("programs")
# At a path of their own in the guest; the libraries they load stay at the host's paths.
GUEST_DIRECTORY = "/test"


class Program(NamedTuple):
    name: str
    sources: tuple[str, ...]
    compiler: str = "thermocline-clang"
    flags: tuple[str, ...] = ()


def prefix() -> Path:
    """Where the wrappers are: an installation, or the checkout's build tree."""
    return Path(os.environ.get("THERMOCLINE_PREFIX", REPOSITORY / "build"))


def linked_with(library: str) -> tuple[str, ...]:
    """Flags of a program that uses one of our libraries by itself."""
    top = prefix().resolve()
    where = top / "lib" / "thermocline"
    return (f"-I{top}/include", f"-L{where}", f"-l{library}", f"-Wl,-rpath,{where}")


ANNOTATED = (
    Program("sites", ("sites.c",)),
    Program("reuse", ("reuse.c",)),
    Program("spill", ("spill.c",)),
    Program("split", ("split.c",)),
    Program("phases", ("phases.c",)),
    Program("forked", ("forked.c",)),
    Program("pages", ("pages.c",)),
    Program("threads", ("threads.cc",), "thermocline-clang++", ("-std=c++20", "-pthread")),
    Program("libpart.so", ("part.c",), flags=("-shared", "-fPIC")),
    Program("loader", ("loader.c",)),
    Program("nonheap", ("nonheap.c",), flags=("-pthread",)),
    Program("fields", ("fields.f90", "fields_checks.c"), "thermocline-flang"),
    Program("spread", ("spread.c",)),
    Program("policies", ("policies.c",), "cc", linked_with("thermocline-policies")),
)
BY_HAND = Program("bind_by_hand", ("bind_by_hand.c",), "cc")


class Programs:
    """Test programs, each built once, two at a time; one that fails fails the tests that use it."""

    def __init__(self, directory: Path, wanted: tuple[Program, ...]) -> None:
        self._directory = directory
        with ThreadPoolExecutor(max_workers=2) as pool:
            self._built = {program.name: pool.submit(self._build, program) for program in wanted}

    def built(self, name: str) -> Path:
        return self._built[name].result()

    def keys(self, *names: str) -> list[str]:
        return [key for name in names for key in site_keys(self._built[name].result())]

    def add_to(self, files: Initramfs) -> None:
        for name, built in self._built.items():
            if not built.exception():
                files.add_elf(f"{GUEST_DIRECTORY}/{name}", built.result())

    def _build(self, program: Program) -> Path:
        compiler = program.compiler
        if compiler != "cc":
            compiler = str(prefix() / "bin" / compiler)
        output = self._directory / program.name
        objects = [self._compile(compiler, program, source) for source in program.sources]
        _call([compiler, *objects, *program.flags, "-o", str(output)])
        return output

    def _compile(self, compiler: str, program: Program, source: str) -> str:
        directory = self._directory / f"{program.name}.objects"
        directory.mkdir(exist_ok=True)
        target = directory / f"{Path(source).name}.o"
        if source.endswith(".c") and compiler.endswith("flang"):
            compiler = compiler.removesuffix("flang") + "clang"
        flags = [flag for flag in program.flags if flag != "-shared"]
        if source.endswith(".f90"):
            flags += ["-module-dir", str(directory)]
        _call([compiler, "-O2", *flags, "-c", str(SOURCES / source), "-o", str(target)])
        return str(target)


def _call(command: list[str]) -> None:
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    said = answer.stdout + answer.stderr
    assert answer.returncode == 0 and not said, f"{' '.join(command)}\n{said}"
