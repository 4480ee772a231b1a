"""Source positions of addresses, from debug information or symbol tables, by llvm-symbolizer."""

import json
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = ("llvm-symbolizer-22", "llvm-symbolizer-19", "llvm-symbolizer")
DEMANGLERS = ("llvm-cxxfilt-22", "llvm-cxxfilt-19", "llvm-cxxfilt")


@dataclass(frozen=True)
class Position:
    """One source frame at an address; several where functions were inlined."""

    function: str = ""  # mangled, or empty
    file: str = ""
    line: int = 0
    column: int = 0
    start: int | None = None  # of the function, where there is only a symbol


def find(programs: Iterable[str] = PROGRAMS) -> str | None:
    """The program of this host."""
    return next((path for name in programs if (path := shutil.which(name))), None)


def positions(path: str, addresses: Iterable[int]) -> dict[int, list[Position]]:
    """Address in the file -> its frames, innermost first; what is not known is left out."""
    program = find()
    wanted = sorted(set(addresses))
    if program is None or not wanted or not Path(path).is_file():
        return {}
    done = subprocess.run(
        [program, f"--obj={path}", "--output-style=JSON", "--no-demangle", "--functions=linkage"],
        input="".join(f"{address:#x}\n" for address in wanted),
        capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
    found = {}
    for address, line in zip(wanted, done.stdout.splitlines(), strict=False):
        symbols = _symbols(line)
        frames = [_position(symbol) for symbol in symbols]
        if any(frame.function for frame in frames):
            found[address] = frames
    return found


def _symbols(line: str) -> list[Mapping[str, object]]:
    try:
        answer = json.loads(line)
    except ValueError:
        return []
    symbols = answer.get("Symbol", []) if isinstance(answer, dict) else []
    return [symbol for symbol in symbols if isinstance(symbol, dict)]


def _position(symbol: Mapping[str, object]) -> Position:
    start = str(symbol.get("StartAddress") or "")
    line, column = symbol.get("Line"), symbol.get("Column")
    return Position(
        function=str(symbol.get("FunctionName") or ""),
        file=str(symbol.get("FileName") or ""),
        line=line if isinstance(line, int) else 0,
        column=column if isinstance(column, int) else 0,
        start=int(start, 16) if start.startswith("0x") else None,
    )


def readable(names: Iterable[str]) -> dict[str, str]:
    """Mangled -> as in keys: qualified, without parameters, one word."""
    wanted = sorted({name for name in names if name.startswith("_Z")})
    program = find(DEMANGLERS)
    plain = wanted
    if program and wanted:
        done = subprocess.run(
            [program, "--no-params"],
            input="\n".join(wanted) + "\n",
            capture_output=True, text=True, errors="replace", check=False,
        )  # fmt: skip
        lines = done.stdout.splitlines()
        plain = lines if len(lines) == len(wanted) else wanted
    return {name: one_word(text) for name, text in zip(wanted, plain, strict=True)}


def one_word(text: str) -> str:
    """As compiler/plugin/SiteKey.cpp does."""
    return "".join("_" if c <= " " or c == "\x7f" else c for c in text)
