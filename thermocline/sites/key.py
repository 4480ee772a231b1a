"""A site's key, taken apart: module ! frame < frame < ..."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Key:
    """`position` and `function` are of frame 0, `context` the frames after it."""

    module: str
    function: str
    position: str
    context: tuple[str, ...]

    @property
    def without_context(self) -> str:
        """What the key would be at N = 0."""
        frame = f"{self.function}@{self.position}" if self.position else self.function
        return f"{self.module}!{frame}"


def parse(text: str) -> Key:
    """Never fails: what has another form becomes a function without a position."""
    module, bang, rest = text.partition("!")
    if not bang:
        module, rest = "", text
    frames = rest.split(" < ")
    # A function's name may hold @ (versioned symbols); a position never does.
    function, _, position = frames[0].rpartition("@")
    if not function:
        function, position = frames[0], ""
    return Key(module, function, position, tuple(frames[1:]))


def check_all(keys: Iterable[str]) -> None:
    """Raises ValueError on a key that comes twice or could not be printed on one line."""
    seen: set[str] = set()
    for key in keys:
        if key in seen:
            raise ValueError(f"site {key!r} comes twice")
        if not key.isprintable():
            raise ValueError(f"site {key!r} has control characters")
        seen.add(key)
