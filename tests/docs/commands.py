"""The commands in the documentation, as a reader would type them."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SHELLS = ("", "sh", "bash")
WRAPPERS = ("thermocline-clang", "thermocline-clang++", "thermocline-flang")


@dataclass(frozen=True)
class Command:
    """One line of a block, continued lines put together."""

    page: str
    text: str

    @property
    def words(self) -> list[str]:
        """As a shell takes it apart."""
        return shlex.split(self.text, comments=True)

    @property
    def id(self) -> str:
        """Short, for the test's name."""
        return f"{self.page}:{' '.join(self.words)[:70]}"


def blocks(text: str) -> list[list[str]]:
    """Blocks of shell commands.  In one that has a prompt ("$ "), lines without are output."""
    found = []
    for language, body in re.findall(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        lines = re.sub(r"\\\n\s*", "", body).splitlines()
        if language in SHELLS:
            session = any(line.startswith("$ ") for line in lines)
            found.append(
                [line.removeprefix("$ ") for line in lines if not session or line[:2] == "$ "]
            )
    return found


def is_ours(line: str) -> bool:
    """Whether a line runs a command of ours, or a build with our compilers."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        return False
    if not words or line.startswith(" "):
        return False
    named = {word.rpartition("=")[2].partition(" ")[0] for word in words}
    return "thermocline" in words or bool(named & set(WRAPPERS))


def all_commands() -> list[Command]:
    """Of all pages, each text once."""
    found: dict[str, Command] = {}
    for page in PAGES:
        for block in blocks(page.read_text()):
            for line in filter(is_ours, block):
                found.setdefault(line.partition("  #")[0].strip(), Command(page.name, line))
    return list(found.values())


def spans() -> list[Command]:
    """`thermocline ...` in running text."""
    found = {}
    for page in PAGES:
        text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
        for span in re.findall(r"`(thermocline [^`\n]+)`", text):
            found[span] = Command(page.name, span)
    return list(found.values())
