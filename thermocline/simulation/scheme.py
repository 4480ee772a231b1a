"""Schemes: a placement (the operating system's side) times an organisation (the hardware's).

`guided*flat`, or with options `first-touch*memory-cache:share=0.25`, or a nickname.
"""

import difflib
from dataclasses import dataclass, field

from thermocline.errors import Misuse

Option = str | float | int | list[int]

PLACEMENTS = ("one-tier", "first-touch", "random", "interleave", "guided")
ORGANISATIONS = ("flat", "memory-cache", "alloy")
_OPTIONS = {
    "one-tier": ("tier",),
    "interleave": ("weights",),
    "memory-cache": ("share", "lookup"),
    "alloy": ("row_bytes", "predictor"),
}
# What people call them.  all-fast is given as much near memory as the program touches.
NICKNAMES = {
    "first-touch": "first-touch*flat",
    "membrain": "guided*flat",
    "all-fast": "one-tier:tier=0*flat",
    "all-slow": "one-tier:tier=1*flat",
    "random": "random*flat",
    "interleave": "interleave*flat",
    "knl-cache": "one-tier:tier=1*memory-cache",
    "knl-hybrid": "first-touch*memory-cache:share=0.5",
    "memory-mode": "one-tier:tier=1*memory-cache",
    "memory-mode-latency": "one-tier:tier=1*memory-cache:lookup=parallel",
    "alloy": "one-tier:tier=1*alloy",
}


@dataclass(frozen=True)
class Part:
    """A placement or an organisation with its options."""

    name: str
    options: dict[str, Option] = field(default_factory=dict)


@dataclass(frozen=True)
class Scheme:
    """What one simulation runs."""

    name: str  # as it was asked for
    placement: Part
    organisation: Part

    @property
    def needs_plan(self) -> bool:
        """Whether a plan says where sites go."""
        return self.placement.name == "guided"

    @property
    def unlimited(self) -> bool:
        """Whether near memory takes all of the program, whatever the machine has."""
        return self.name == "all-fast"


def parse(text: str) -> Scheme:
    """Reads one scheme."""
    name = text.strip()
    parts = NICKNAMES.get(name, name).split("*")
    if len(parts) != 2:
        close = difflib.get_close_matches(name, NICKNAMES, n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        raise Misuse(
            f"no scheme {name!r}: {hint}give PLACEMENT*ORGANISATION"
            f" or one of {', '.join(NICKNAMES)}"
        )
    return Scheme(
        name,
        _part(parts[0], "placement", PLACEMENTS),
        _part(parts[1], "organisation", ORGANISATIONS),
    )


def parse_all(text: str) -> list[Scheme]:
    """Reads schemes separated by commas."""
    schemes = [parse(each) for each in text.split(",") if each.strip()]
    if not schemes:
        raise Misuse("--scheme is empty: name schemes, separated by commas")
    names = [scheme.name for scheme in schemes]
    for name in names:
        if names.count(name) > 1:
            raise Misuse(f"scheme {name!r} is named twice")
    return schemes


def _part(text: str, what: str, known: tuple[str, ...]) -> Part:
    name, *options = text.strip().split(":")
    if name not in known:
        close = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        raise Misuse(f"no {what} {name!r}: {hint}there are {', '.join(known)}")
    values: dict[str, Option] = {}
    for option in options:
        key, equals, value = option.partition("=")
        if not equals or key not in _OPTIONS.get(name, ()):
            allowed = ", ".join(_OPTIONS.get(name, ())) or "none"
            raise Misuse(f"{name} has no option {option!r}: it takes {allowed}, as KEY=VALUE")
        values[key] = _value(key, value)
    return Part(name, values)


def _value(key: str, text: str) -> Option:
    try:
        if key in ("tier", "row_bytes"):
            return int(text)
        if key == "share":
            return float(text)
        if key == "weights":  # 3/1
            return [int(each) for each in text.split("/")]
    except ValueError as error:
        raise Misuse(f"option {key}={text!r} is no number") from error
    return text
