"""The manual, from the command line's own tree of verbs: man pages, and the site's reference.

    manual.py man FOLDER WRAPPER      a page for each verb, and thermocline-clang.1 from
                                      `WRAPPER --thermocline-help`
    manual.py markdown FILE           all verbs on one page

click-man knows click's classes only, and typer has its own copy of them.
"""

import os
import re
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Terms = list[tuple[str, str]]  # what is explained, and how

WHOLE, COMPILER = "thermocline", "thermocline-clang"
EXIT_STATUS: Terms = [
    ("0", "All went well."),
    ("1", "It could not be done; one line on stderr says why."),
    ("2", "The command line is wrong; one line on stderr says what."),
    ("other", "That of the command which the verb ran."),
]


@dataclass(frozen=True)
class Page:
    """What one command says of itself."""

    name: str  # "thermocline machine show"
    summary: str
    usage: str
    text: list[str]  # paragraphs
    options: Terms
    commands: Terms = field(default_factory=list)
    examples: list[str] = field(default_factory=list)

    @property
    def file(self) -> str:
        return f"{self.name.replace(' ', '-')}.1"


def pages() -> Iterator[Page]:
    """Of the whole command line, each group before its commands."""
    import typer

    from thermocline.cli import app

    root = typer.main.get_command(app)
    yield from _below(root, root.make_context(WHOLE, [], resilient_parsing=True))


def _below(command: Any, context: Any) -> Iterator[Page]:
    paragraphs = (command.help or "").split("\n\n")
    examples = [part for part in paragraphs if part.startswith("Example: ")]
    commands = getattr(command, "commands", {})
    records = (option.get_help_record(context) for option in command.get_params(context))
    yield Page(
        context.command_path,
        " ".join(paragraphs[0].split()).rstrip("."),
        " ".join([context.command_path, *command.collect_usage_pieces(context)]),
        [" ".join(part.split()) for part in paragraphs if part not in examples],
        [record for record in records if record],
        [(name, below.get_short_help_str(200)) for name, below in commands.items()],
        [part.removeprefix("Example: ") for part in examples],
    )
    for name, below in commands.items():
        inner = below.make_context(name, [], parent=context, resilient_parsing=True)
        yield from _below(below, inner)


def wrapper_page(wrapper: Path) -> Page:
    """Of the compilers, from what they say at --thermocline-help."""
    help_asked = [str(wrapper), "--thermocline-help"]
    told = subprocess.run(help_asked, capture_output=True, text=True, check=False)
    if told.returncode:
        sys.exit(f"manual: {wrapper} --thermocline-help failed: build it first (make build)")
    blocks = told.stdout.strip().split("\n\n")
    options: Terms = []
    for line in told.stdout.splitlines():
        if found := re.fullmatch(r"  (--\S+) +(.*)", line):
            options.append((found[1], found[2]))
        elif line.startswith("  "):
            options[-1] = (options[-1][0], f"{options[-1][1]} {line.strip()}")
    text = [" ".join(block.split()) for block in blocks if not block.startswith("  ")]
    return Page(
        COMPILER,
        "drop-in compilers that tell allocation sites apart",
        "thermocline-clang [CLANG'S OPTIONS] [--thermocline-...] FILE...",
        text,
        options,
        examples=["CC=thermocline-clang CXX=thermocline-clang++ FC=thermocline-flang ./configure"],
    )


def _roff(text: str) -> str:
    """Lines for man(7), which takes one that begins with a dot or a quote for a macro."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join(
        f"\\&{line}" if line.startswith((".", "'")) else line for line in escaped.splitlines()
    )


def _text(text: str) -> str:
    return _roff(textwrap.fill(text, 72, break_on_hyphens=False, break_long_words=False))


def _terms(title: str, terms: Terms) -> list[str]:
    lines = [f".SH {title}"]
    for term, text in terms:
        lines += [".TP", f"\\fB{_roff(term)}\\fP", _text(text)]
    return lines if terms else []


def man(page: Page, related: list[str]) -> str:
    """The page in man(7)'s macros."""
    title = page.name.replace(" ", "-")
    # Reproducible builds say what day it is.
    day = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH") or time.time()))
    lines = [
        f'.TH {title.upper()} 1 "{time.strftime("%Y-%m-%d", day)}" thermocline',
        ".SH NAME",
        f"{_roff(title)} \\- {_roff(page.summary)}",
        ".SH SYNOPSIS",
        _roff(page.usage),
        ".SH DESCRIPTION",
        "\n.PP\n".join(map(_text, page.text)),
        *_terms("OPTIONS", page.options),
        *_terms("COMMANDS", page.commands),
    ]
    if page.examples:
        lines += [".SH EXAMPLES", ".nf", "\n\n".join(map(_roff, page.examples)), ".fi"]
    if title != COMPILER:
        lines += _terms("EXIT STATUS", EXIT_STATUS)
    lines += [".SH SEE ALSO", ",\n".join(f"\\fB{_roff(name)}\\fP(1)" for name in related)]
    return "\n".join(lines) + "\n"


def write_man(folder: Path, wrapper: Path) -> None:
    """All pages: that of the whole command line names every other, each of these the whole's."""
    folder.mkdir(parents=True, exist_ok=True)
    made = [*pages(), wrapper_page(wrapper)]
    names = sorted(page.name.replace(" ", "-") for page in made)
    for page in made:
        seen_from = names if page.name == WHOLE else [WHOLE, COMPILER]
        related = [name for name in seen_from if name != page.name]
        (folder / page.file).write_text(man(page, related))
    for language in ("clang++", "flang"):
        link = folder / f"thermocline-{language}.1"
        link.unlink(missing_ok=True)
        link.symlink_to(f"{COMPILER}.1")


def _cell(text: str) -> str:
    return re.sub(r"([|<>*_\[\]])", r"\\\1", text)


def markdown() -> str:
    """All verbs, as the site's reference."""
    lines = ["# The command line", "", "Made from the commands' own `--help`.", ""]
    for page in pages():
        lines += [f"## {page.name}", "", "```text", page.usage, "```", ""]
        lines += [line for part in page.text for line in (_cell(part), "")]
        if page.options:
            lines += ["| option | meaning |", "|---|---|"]
            lines += [f"| `{term}` | {_cell(text)} |" for term, text in page.options] + [""]
        if page.commands:
            lines += ["| command | |", "|---|---|"]
            lines += [f"| `{term}` | {_cell(text)} |" for term, text in page.commands] + [""]
        if page.examples:
            lines += ["```text", *page.examples, "```", ""]
    return "\n".join(lines)


def main() -> int:
    match sys.argv[1:]:
        case ["man", folder, wrapper]:
            write_man(Path(folder), Path(wrapper))
        case ["markdown", file]:
            Path(file).write_text(markdown())
        case _:
            print("manual: say 'man FOLDER WRAPPER' or 'markdown FILE'", file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
