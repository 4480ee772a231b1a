"""Records a command's memory references: one trace a process."""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thermocline import files, traces
from thermocline.errors import Misuse, ThermoclineError
from thermocline.machine import store
from thermocline.notes import note
from thermocline.run import config, launch, recording
from thermocline.simulation import regions

MAX_FUNCTIONS = 32


@dataclass(frozen=True)
class Recorded:
    """The traces that a command left, what each holds (`traces.info`), and how it ended."""

    traces: list[tuple[Path, dict[str, Any]]]
    outcome: launch.Outcome


def part(budget: str, function: str | None, mark: str | None, time: str | None) -> config.Part:
    """What is recorded, from options' texts: `100M` references; functions with commas; `2s:5s`."""
    if function is not None and mark is not None:
        raise Misuse("--function leaves out what --mark keeps: give one of them")
    text = function if mark is None else mark
    names = () if text is None else tuple(name.strip() for name in text.split(","))
    if not all(name.isprintable() and name for name in names) or len(names) > MAX_FUNCTIONS:
        raise Misuse(f"{text!r}: give up to {MAX_FUNCTIONS} functions' names, commas between them")
    begin, end = (0, None) if time is None else regions.seconds(time)
    return config.Part(_references(budget), names, begin, end, only_functions=function is not None)


def _references(text: str) -> int:
    scale = {"k": 10**3, "M": 10**6, "G": 10**9}.get(text[-1:], 1)
    number = text[:-1] if scale > 1 else text
    if not number.isdecimal() or not 0 < len(number) <= 15 or not 0 < int(number) * scale < 2**48:
        raise Misuse(f"--budget {text}: give a number of references, such as 500k, 100M or 2G")
    return int(number) * scale


def record(
    command: Sequence[str], wanted: config.Part, out: Path | None, force: bool, aside: bool = False
) -> Recorded:
    """Runs the command; each process's references go to `out` or PROGRAM.PID.trace.

    `aside`: the command's output goes to stderr.  ThermoclineError where no annotated process ran.
    """
    if out is not None:
        files.refuse_overwrite(out, force)
    prefix = out.with_name(out.name.removesuffix(".trace")) if out else Path(Path(command[0]).name)
    with tempfile.TemporaryDirectory(prefix="thermocline-trace-") as scratch:
        collector = recording.Collector(Path(scratch), prefix)
        file = Path(scratch) / "config"
        # The caches are of no account: a trace has every reference.
        text = config.for_recording(collector.socket, store.find("knl-7230"), wanted)
        file.write_text(text, encoding="utf-8")
        try:
            outcome = launch.launch(command, file, aside)
        finally:
            made = collector.finish()
    if outcome.text:
        note(outcome.text)
    if not made:
        raise ThermoclineError(launch.nothing_ran(command, outcome, "there is no trace"))
    paths = [collected.path for collected in made]
    if out is not None and len(paths) == 1:
        paths = [paths[0].replace(out)]
    for line in sorted({line for collected in made for line in collected.said}):
        note(line)
    found = [(path, traces.info(path)) for path in paths]
    for line in [*_not_found(wanted, found), *_empty(found)]:
        note(line)
    return Recorded(found, outcome)


def _not_found(wanted: config.Part, found: list[tuple[Path, dict[str, Any]]]) -> Iterator[str]:
    """A line for each function that was asked for and that no annotated module has."""
    known = {name for _, described in found for name in described["functions"]}
    for name in wanted.functions:
        if not any(other == name or other.startswith(f"{name}.") for other in known):
            yield (
                f"no annotated function is called {name}, or it was inlined wherever it is "
                "called (then __attribute__((noinline)) keeps it)"
            )


def _empty(found: list[tuple[Path, dict[str, Any]]]) -> Iterator[str]:
    for path, described in found:
        if described["references"] == 0:
            yield f"{path} has no references: nothing that was asked for ran in this process"
