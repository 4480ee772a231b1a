"""The part of a trace that is looked at: in a function, in a time, in sampling windows."""

from typing import Any

from thermocline.errors import Misuse

_MOST_SECONDS = 10**9


def parse(function: str | None, time: str | None, windows: str | None) -> dict[str, Any]:
    """The simulator's `region` (docs/simulator.md) from options' texts; {}: the whole trace.

    `time` and `windows` are FROM:TO, of which either may be left out; seconds since recording
    began, and windows' numbers from 1.
    """
    region: dict[str, Any] = {}
    if function is not None:
        region["function"] = function
    if time is not None:
        begin, end = seconds(time)
        region["from_ns"] = begin
        if end is not None:
            region["to_ns"] = end
    if windows is not None:
        first, last = _range("--windows", windows)
        if not all(bound.isdecimal() and len(bound) < 10 for bound in (first, last) if bound):
            raise Misuse(f"--windows {windows}: give FROM:TO, such as 2:5")
        region["first_window"] = int(first or 0)
        if last:
            region["last_window"] = int(last)
    return region


def seconds(text: str) -> tuple[int, int | None]:
    """FROM:TO in nanoseconds, such as 2s:5s, 0.5:1.5 or 2s: (to the end, None)."""
    first, last = _range("--time", text)
    begin, end = (_nanoseconds(bound, text) for bound in (first, last))
    if end is not None and end <= (begin or 0):
        raise Misuse(f"--time {text}: nothing is between these times")
    return begin or 0, end


def _nanoseconds(bound: str, text: str) -> int | None:
    if not bound:
        return None
    try:
        value = float(bound.removesuffix("s"))
    except ValueError:
        value = -1.0
    if not 0 <= value <= _MOST_SECONDS:
        raise Misuse(f"--time {text}: give FROM:TO in seconds, such as 2s:5s")
    return round(value * 1e9)


def _range(option: str, text: str) -> tuple[str, str]:
    first, colon, last = text.partition(":")
    if not colon or not first + last:
        raise Misuse(f"{option} {text}: give FROM:TO; one of them may be left out")
    return first.strip(), last.strip()
