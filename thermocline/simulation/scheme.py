"""Schemes: a placement (the operating system's side) times an organisation (the hardware's).

`guided*flat`, or with options `first-touch*memory-cache:share=0.25`, or a nickname.
"""

import difflib
from collections.abc import Callable
from dataclasses import dataclass, field

from thermocline import units
from thermocline.errors import Misuse
from thermocline.machine import configurations

Option = str | float | int | list[int]

PLACEMENTS = ("one-tier", "first-touch", "random", "interleave", "guided", "hma", "migrate")
ORGANISATIONS = ("flat", "memory-cache", "alloy", "cameo", "pom", "silc-fm")
# Near and far memory are one space in which the hardware swaps lines.
SWAPPING = ("cameo", "pom", "silc-fm")
_OPTIONS = {
    "one-tier": ("tier", "socket"),
    "interleave": ("weights", "socket"),
    "hma": ("epoch", "bytes", "threshold", "start", "operation", "shootdown", "sweep", "copiers"),
    "migrate": (
        "policy", "used", "regions", "ratio", "sample", "execution", "run", "gone", "again",
        "fault", "operation", "page", "shootdown",
    ),
    "memory-cache": ("share", "lookup", "blocks"),
    "alloy": ("row_bytes", "predictor"),
    "cameo": ("prefetch", "predictor", "row_bytes", "entry_bytes", "split"),
    "pom": ("threshold", "cache_bytes"),
    "silc-fm": (
        "ways", "threshold", "aging", "split", "metadata", "counters", "lookup", "locking",
        "history", "predictor", "bypass", "plan",
    ),
}  # fmt: skip
_WHOLE = (
    "tier", "row_bytes", "threshold", "copiers", "prefetch", "entry_bytes", "cache_bytes", "ways",
    "aging", "regions", "run", "gone",
)  # fmt: skip
_TIMES = ("epoch", "operation", "shootdown", "sweep", "sample", "execution", "fault", "page")
# What people call them.  all-fast is given as much near memory as the program touches.
NICKNAMES = {
    "first-touch": "first-touch*flat",
    "membrain": "guided*flat",
    "all-fast": "one-tier:tier=0*flat",
    "all-slow": "one-tier:tier=1*flat",
    "random": "random*flat",
    "interleave": "interleave*flat",
    "hma": "hma*flat",
    "migrate": "migrate*flat",
    "knl-cache": "one-tier:tier=1*memory-cache",
    "knl-hybrid": "first-touch*memory-cache:share=0.5",
    "memory-mode": "one-tier:tier=1*memory-cache",
    "memory-mode-latency": "one-tier:tier=1*memory-cache:lookup=parallel",
    "cache": "one-tier:tier=1*memory-cache",
    "alloy": "one-tier:tier=1*alloy",
    "cameo": "random*cameo",
    "cameo-p": "random*cameo:prefetch=3",
    "pom": "random*pom",
    "silc-fm": "random*silc-fm",
    **configurations.SCHEMES,
}
# Where pages of an option socket= are; all threads are on the first socket.
_SOCKETS: dict[str, Option] = {"local": 0, "remote": 1, "in-turn": "in-turn"}


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
        return self.guided or self.organisation.options.get("plan") == "on"

    @property
    def guided(self) -> bool:
        """Whether it says so to the operating system, which places their pages."""
        return self.placement.name == "guided"

    @property
    def one_socket(self) -> bool:
        """Whether all threads are on one socket, whose memory or the other's they use."""
        return isinstance(self.placement.options.get("socket"), int)

    @property
    def unlimited(self) -> bool:
        """Whether near memory takes all of the program, whatever the machine has."""
        return self.name == "all-fast"

    @property
    def swaps(self) -> bool:
        """Whether the hardware swaps lines between near and far memory."""
        return self.organisation.name in SWAPPING


def parse(text: str) -> Scheme:
    """Reads one scheme."""
    name = text.strip()
    nickname, colon, options = name.partition(":")
    # A nickname's options are its organisation's, or, if that is flat, its placement's.
    known = nickname in NICKNAMES and "*" not in name
    full = NICKNAMES[nickname] if known else name
    if known and colon:
        full = f"{full.removesuffix('*flat')}:{options}"
        full += "*flat" if NICKNAMES[nickname].endswith("*flat") else ""
    parts = full.split("*")
    if len(parts) != 2:
        close = difflib.get_close_matches(nickname, NICKNAMES, n=1)
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
        values[f"{key}_ps" if key in _TIMES else key] = _value(key, value)
    return Part(name, values)


def _value(key: str, text: str) -> Option:
    if key in _TIMES:
        return round(units.parse_seconds(text) * 1e12)
    if key == "bytes":
        return units.parse_bytes(text)
    if key == "socket":
        return _socket(text)
    read = _NUMBERS.get(key)
    try:
        return read(text) if read else text
    except ValueError as error:
        raise Misuse(
            f"option {key}={text!r} is no number that it could be: see docs/simulator.md"
        ) from error


def _socket(text: str) -> Option:
    if text not in _SOCKETS:
        raise Misuse(f"option socket={text!r}: give {', '.join(_SOCKETS)}")
    return _SOCKETS[text]


def _whole(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError(text)
    return number


def _weights(text: str) -> list[int]:
    return [int(each) for each in text.split("/")]


_NUMBERS: dict[str, Callable[[str], Option]] = {
    **dict.fromkeys(_WHOLE, _whole),
    "share": float,
    "split": float,
    "used": float,
    "ratio": float,
    "again": float,
    "weights": _weights,  # 3/1
}
