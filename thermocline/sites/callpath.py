"""Readable keys for raw call paths: the same as an annotated build's, as far as debug information
tells (docs/internals.md, "Site keys")."""

import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from thermocline.sites import paths, symbolizer
from thermocline.sites.paths import Address
from thermocline.sites.symbolizer import Position

LONGEST_NAME = 80  # compiler/plugin/SiteKey.cpp cuts there too
STARTERS = {"_start", "__libc_start_call_main", "__libc_start_main", "start_thread"}
# They allocate for their callers.  runtime/callpath/modules_of_code.cpp has the same.
LIBRARIES = ("libc.so", "libstdc++.so", "libc++.so", "libc++abi.so", "libgfortran.so", "ld-linux-")


@dataclass(frozen=True)
class Named:
    """A path's key, and the routine that was called where that is a library's."""

    key: str
    routine: str


def name_all(
    raw: Iterable[str], modules: Mapping[str, str], context: int | None = None
) -> dict[str, Named]:
    """Raw path -> its name.  `modules`: name with fingerprint -> file; `context`: callers shown."""
    parsed = {key: paths.parse(key) for key in raw}
    calls: dict[str, set[int]] = {}
    for addresses in parsed.values():
        for address in addresses:
            calls.setdefault(address.module, set()).add(address.call)
    known = {
        module: symbolizer.positions(modules.get(module, ""), wanted)
        for module, wanted in calls.items()
    }
    functions = symbolizer.readable(
        frame.function for found in known.values() for frames in found.values() for frame in frames
    )
    return {
        key: _named(addresses, known, functions, context)
        for key, addresses in parsed.items()
        if addresses
    }


def _named(
    addresses: list[Address],
    known: Mapping[str, Mapping[int, list[Position]]],
    functions: Mapping[str, str],
    context: int | None,
) -> Named:
    """Leading frames in a library are the routine; what called main is left out."""
    routine = ""
    rest = list(addresses)
    while len(rest) > 1 and _is_library(rest[0]):
        frames = known[rest[0].module].get(rest[0].call, [])
        routine = _function(frames[-1], functions) if frames else ""
        rest = rest[1:]
    module = rest[0].name
    own: list[str] = []  # frames to show
    headers: list[str] = []  # what there is if there are none
    for address in _without_start(rest, known):
        for frame in known[address.module].get(address.call, [Position()]):
            text = _frame(frame, address, module, functions)
            (headers if _is_library_header(frame.file) else own).append(text)
    shown = own or headers
    if context is not None:
        shown = shown[: context + 1]
    return Named(f"{module}!{' < '.join(shown)}", routine)


def _is_library(address: Address) -> bool:
    return address.name.startswith(LIBRARIES)


def _without_start(
    addresses: list[Address], known: Mapping[str, Mapping[int, list[Position]]]
) -> list[Address]:
    """Without what starts programs and threads."""

    def outermost(address: Address) -> str:
        frames = known[address.module].get(address.call)
        return frames[-1].function if frames else ""

    for index, address in enumerate(addresses):
        if outermost(address) == "main":
            return addresses[: index + 1]
        if index and outermost(address) in STARTERS:
            return addresses[:index]
    return addresses


def _function(frame: Position, functions: Mapping[str, str]) -> str:
    return functions.get(frame.function) or symbolizer.one_word(frame.function)


def _frame(frame: Position, address: Address, module: str, functions: Mapping[str, str]) -> str:
    function = _function(frame, functions)[:LONGEST_NAME]
    if frame.file and frame.line:
        column = f":{frame.column}" if frame.column else ""
        return f"{function or '?'}@{_file(frame.file)}:{frame.line}{column}"
    elsewhere = "" if address.name == module else f"{address.name}!"
    start = frame.start if function and frame.start is not None else 0
    return f"{elsewhere}{function}+{address.offset - start:#x}"


def _file(path: str) -> str:
    """The last two components."""
    parts = posixpath.normpath(path).lstrip("/").split("/")
    return symbolizer.one_word("/".join(parts[-2:]))


def _is_library_header(path: str) -> bool:
    path = posixpath.normpath(path) if path else ""
    return path.startswith(("/usr/include/", "/usr/lib/")) or "/include/c++/" in path
