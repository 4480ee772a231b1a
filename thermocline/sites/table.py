"""The site table inside an annotated executable or shared library."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from thermocline.errors import BadFile, ThermoclineError, one_line
from thermocline.sites import key as keys

if TYPE_CHECKING:
    from elftools.elf.elffile import ELFFile
    from pandas import DataFrame

    from thermocline.profiles.model import Profile

Taken = TypeVar("Taken")

SECTION = "thermocline_keys"
RECORDING = "thermocline_text"  # code that only a trace profile runs
HEADER = "thermocline-sites "
LINK = "link\t"


@dataclass(frozen=True)
class SiteEntry:
    """A site as the linker left it."""

    key: str
    routine: str
    calls: int


@dataclass
class SiteTable:
    """A file's sites and what was noted at its link."""

    module: str
    context: int
    sites: list[SiteEntry] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def remarks(self) -> list[str]:
        """Notes for people: the link's own is for a sweep."""
        return [note for note in self.notes if not note.startswith(LINK)]

    def reached(self, profile: "Profile | None") -> set[str] | None:
        """The sites that a profile's run came to; None without a profile."""
        if profile is None:
            return None
        came = {site.key for site in profile.sites if site.allocations}
        return {site.key for site in self.sites if site.key in came}

    def counts(self, reached: set[str] | None = None) -> dict[str, int]:
        """As Table I of Olson et al. 2018: static and reached, with and without context."""
        counts = {
            "sites": len(self.sites),
            "sites_without_context": _places(site.key for site in self.sites),
        }
        if reached is not None:
            counts["reached"] = len(reached)
            counts["reached_without_context"] = _places(reached)
        return counts

    def rows(self, reached: set[str] | None = None) -> list[dict[str, Any]]:
        """A row for each site, its key taken apart."""
        rows = []
        for site in self.sites:
            key = keys.parse(site.key)
            row: dict[str, Any] = {
                "key": site.key,
                "routine": site.routine,
                "calls": site.calls,
                "module": key.module,
                "function": key.function,
                "position": key.position,
                "context": list(key.context),
            }
            if reached is not None:
                row["reached"] = site.key in reached
            rows.append(row)
        return rows

    def frame(self, profile: "Profile | None" = None) -> "DataFrame":
        """A row a site; with a profile, whether its run `reached` it.  Callers by ` < `."""
        from thermocline import frames

        reached = self.reached(profile)
        columns = {
            "key": frames.TEXT,
            "function": frames.TEXT,
            "position": frames.TEXT,
            "routine": frames.TEXT,
            "calls": frames.COUNT,
            "context": frames.TEXT,
            **({} if reached is None else {"reached": frames.YES}),
        }
        rows = ({**row, "context": " < ".join(row["context"])} for row in self.rows(reached))
        return frames.of(rows, columns)

    @property
    def link(self) -> tuple[str, list[str]] | None:
        """The directory and command of the link, for a sweep."""
        for note in self.notes:
            if note.startswith(LINK):
                directory, *arguments = [unescape(part) for part in note.split("\t")[1:]]
                if arguments:
                    return directory, arguments
        return None


def _places(found: Iterable[str]) -> int:
    """Sites without their context."""
    return len({keys.parse(key).without_context for key in found})


def unescape(text: str) -> str:
    """Undoes \\t, \\n and \\\\."""
    out: list[str] = []
    characters = iter(text)
    for character in characters:
        if character == "\\":
            following = next(characters, "")
            out.append({"t": "\t", "n": "\n"}.get(following, following))
        else:
            out.append(character)
    return "".join(out)


def read(path: Path) -> SiteTable:
    """Reads the table of an ELF file."""

    def keys(elf: "ELFFile") -> bytes:
        section = elf.get_section_by_name(SECTION)
        return b"" if section is None else bytes(section.data())

    data = _from_elf(path, keys)
    if not data:
        raise ThermoclineError(
            f"{path} has no allocation sites in it: build it with thermocline-clang, "
            "thermocline-clang++ or thermocline-flang (for make: CC=thermocline-clang)"
        )
    return parse(data, path)


def code_bytes(path: Path) -> tuple[int, int]:
    """Bytes of machine code: the program's, and the recording twins'."""

    def sizes(elf: "ELFFile") -> tuple[int, int]:
        code = {
            section.name: int(section["sh_size"])
            for section in elf.iter_sections()
            if section["sh_flags"] & 4  # SHF_EXECINSTR
        }
        recording = code.pop(RECORDING, 0)
        return sum(code.values()), recording

    return _from_elf(path, sizes)


def _from_elf(path: Path, take: Callable[["ELFFile"], Taken]) -> Taken:
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    try:
        with path.open("rb") as file:
            return take(ELFFile(file))
    except OSError as error:
        raise ThermoclineError(f"can't read {path}: {error.strerror}") from error
    except ELFError as error:
        raise BadFile(path, f"not an ELF executable or library: {error}") from error
    except Exception as error:  # a damaged file can break the parser in any way
        raise BadFile(path, f"a damaged ELF file: {type(error).__name__}") from error


def parse(data: bytes, path: object) -> SiteTable:
    """Several tables in one section (partial links) become one."""
    strings = [part.decode("utf-8", "replace") for part in data.split(b"\0")]
    if not strings[0].startswith(HEADER):
        raise BadFile(path, f"its {SECTION} section is not a site table")
    result: SiteTable | None = None
    position = 0
    while position < len(strings):
        text = strings[position]
        position += 1
        if not text.startswith(HEADER):
            if text and result is not None:
                result.notes.append(text)
            continue
        version, _, rest = text.removeprefix(HEADER).partition(" ")
        if version != "1":
            raise BadFile(path, f"site table of version {one_line(version, 20)}: rebuild it")
        facts = dict(part.partition("=")[::2] for part in rest.rsplit(" ", 1))
        if result is None:
            context = facts.get("context", "0")
            result = SiteTable(facts.get("module", ""), int(context) if context.isdecimal() else 0)
        while position < len(strings) and strings[position]:
            key, *values = strings[position : position + 3]
            if len(values) != 2 or not values[1].isdecimal():
                raise BadFile(path, f"damaged site table at {one_line(key, 80)!r}")
            result.sites.append(SiteEntry(key, values[0], int(values[1][:18])))
            position += 3
    assert result is not None
    return result
