"""Methods of profiling: where a profile's counts come from.  One file each; registered below.

How to add one: docs/methods.md.
"""

from thermocline.errors import Misuse
from thermocline.methods.base import Method


def registry() -> dict[str, Method]:
    """Name -> method, the best first: `auto` takes the first that the host can do."""
    from thermocline.methods import bursts, mbi, none, owners, pages, sample, trace

    methods: tuple[Method, ...] = (
        sample.Sample(), bursts.Bursts(), trace.Trace(), mbi.Mbi(), pages.Pages(), none.Nothing(),
        owners.Owners(),
    )  # fmt: skip
    return {method.name: method for method in methods}


def find(name: str) -> Method:
    """The method of this name."""
    methods = registry()
    if name not in methods:
        raise Misuse(f"no method {name!r}: there are {', '.join(methods)}")
    return methods[name]
