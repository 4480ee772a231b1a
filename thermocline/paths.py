"""Where the native half (compiler wrappers, plugin, runtime library) and the machine files are."""

import os
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
CHECKOUT = PACKAGE.parent


def native_prefix() -> Path:
    """The prefix that has bin/thermocline-clang and lib/thermocline."""
    chosen = os.environ.get("THERMOCLINE_PREFIX")
    if chosen:
        return Path(chosen)
    build = CHECKOUT / "build"
    if (build / "bin").is_dir() or (build / "lib" / "thermocline").is_dir():
        return build
    # `make install` puts this package into an environment in PREFIX/lib/thermocline/python.
    installed = Path(sys.prefix).parents[2:3]
    if installed and (installed[0] / "bin" / "thermocline-clang").is_file():
        return installed[0]
    return Path(sys.prefix)


def wrapper(name: str = "thermocline-clang") -> Path:
    """A compiler wrapper."""
    return native_prefix() / "bin" / name


def library(name: str) -> Path:
    """A native library: the runtime or the compiler plugin."""
    return native_prefix() / "lib" / "thermocline" / name


def shared(name: str) -> Path:
    """A source that ships, such as workloads/stream.c: of the checkout or of the installation."""
    places = [CHECKOUT / name]
    places += [
        prefix / "share" / "thermocline" / name for prefix in (native_prefix(), Path(sys.prefix))
    ]
    return next((place for place in places if place.is_file()), places[0])


def cache() -> Path:
    """What can be made again, and deleted at any time: `$XDG_CACHE_HOME/thermocline`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "thermocline"


def machine_directories() -> list[Path]:
    """Where machine files are looked for, the first match wins."""
    return [
        directory
        for directory in (
            CHECKOUT / "machines",
            native_prefix() / "share" / "thermocline" / "machines",
            Path(sys.prefix) / "share" / "thermocline" / "machines",
        )
        if directory.is_dir()
    ]
