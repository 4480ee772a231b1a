"""Raw call paths of code that was not annotated, as the runtime writes them.

`@prog#1a2b3c4d+0x123<libfoo.so#5e6f7a8b+0x456`: the module's file name, a fingerprint of its code,
and the return address as in the file; the allocating call first.
"""

import re
from dataclasses import dataclass

_FRAME = re.compile(
    r"(?P<name>[\w.+-]+)#(?P<fingerprint>[0-9a-f]{8})\+0x(?P<offset>[0-9a-f]{1,16})"
)


@dataclass(frozen=True)
class Address:
    """A return address."""

    name: str  # the module's file name
    module: str  # with the fingerprint: tells it from another file of this name
    offset: int

    @property
    def call(self) -> int:
        """In the call instruction, which may be its function's last."""
        return self.offset - 1


def is_path(key: str) -> bool:
    """Whether a site's key is a raw path."""
    return key.startswith("@")


def parse(key: str) -> list[Address]:
    """The path's addresses; empty if it is none."""
    if not is_path(key):
        return []
    addresses = []
    for text in key[1:].split("<"):
        found = _FRAME.fullmatch(text)
        if not found:
            return []
        name, fingerprint = found["name"], found["fingerprint"]
        addresses.append(Address(name, f"{name}#{fingerprint}", int(found["offset"], 16)))
    return addresses
