"""Fetches upstream sources from Debian's archive by package name, without touching apt's own setup.

    python3 -m thermocline.measuring.debian_source PACKAGE...

prints where each was unpacked. The list of sources, the index and the archives live in a
cache of our own, so that /etc/apt stays as it is and no root is needed.
"""

from __future__ import annotations

import fcntl
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from thermocline import paths
from thermocline.errors import ThermoclineError, one_line

SOURCES = (Path("/etc/apt/sources.list"), Path("/etc/apt/sources.list.d/debian.sources"))


class SourceError(ThermoclineError):
    """A source package that cannot be had; the message says what to do."""


def cache_directory() -> Path:
    return paths.cache() / "sources"


def fetch(package: str) -> Path:
    """The directory of a package's upstream source, unpacked; from the cache if it is there."""
    cache = cache_directory()
    target = cache / package
    cache.mkdir(parents=True, exist_ok=True)
    with _locked(cache):
        if not (target.exists() and _archive_of(package).exists()):
            _download(package, cache, target)
    return target


def archive(package: str) -> str:
    """The name of the archive that fetch() unpacked, which has the version in it."""
    return _archive_of(package).read_text(encoding="utf-8")


def _archive_of(package: str) -> Path:
    return cache_directory() / f"{package}.archive"


@contextmanager
def _locked(cache: Path) -> Iterator[None]:
    """One at a time: apt's lists are not for two."""
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _download(package: str, cache: Path, target: Path) -> None:
    options = _private_apt(cache)
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        command = ["apt-get", *options, "source", "--download-only", "--tar-only", package]
        _call(command, Path(scratch))
        archives = sorted(Path(scratch).glob("*.orig.tar.*"))
        archives = [each for each in archives if each.suffix != ".asc"]
        if not archives:
            raise SourceError(f"Debian's {package} has no upstream archive")
        unpacked = Path(scratch) / "unpacked"
        unpacked.mkdir()
        # Only the first: further ones (orig-NAME) belong inside it, and no one here needs them.
        _call(["tar", "-xf", str(archives[0]), "--strip-components=1"], unpacked)
        shutil.rmtree(target, ignore_errors=True)
        unpacked.rename(target)
        _archive_of(package).write_text(archives[0].name, encoding="utf-8")


def _private_apt(cache: Path) -> list[str]:
    """apt options for a list of sources of our own, made of the mirror that apt already uses."""
    lists = cache / "lists"
    file = cache / "sources.list"
    options = []
    for option in (
        f"Dir::Etc::sourcelist={file}",
        "Dir::Etc::sourceparts=-",
        f"Dir::State::lists={lists}",
        f"Dir::Cache::srcpkgcache={cache}/srcpkgcache.bin",
        f"Dir::Cache::pkgcache={cache}/pkgcache.bin",
        "APT::Sandbox::User=root",
    ):
        options += ["-o", option]
    if not file.exists():
        mirror, suite = _mirror()
        (lists / "partial").mkdir(parents=True, exist_ok=True)
        scratch = file.with_suffix(".new")
        scratch.write_text(f"deb-src {mirror} {suite} main\n")
        fresh = [option.replace(str(file), str(scratch)) for option in options]
        _call(["apt-get", *fresh, "update", "--error-on=any"], cache)
        scratch.rename(file)
    return options


def _mirror() -> tuple[str, str]:
    for path in SOURCES:
        text = path.read_text() if path.exists() else ""
        line = re.search(r"^deb +(?:\[.*?\] +)?(\S+) +(\w+) ", text, re.MULTILINE)
        if line:
            return line.group(1), line.group(2)
        uris = re.search(r"^URIs: *(\S+)", text, re.MULTILINE)
        suites = re.search(r"^Suites: *(\S+)", text, re.MULTILINE)
        if uris and suites:
            return uris.group(1), suites.group(1)
    raise SourceError("no Debian mirror in /etc/apt: this needs Debian")


def _call(command: list[str], directory: Path) -> None:
    try:
        answer = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    except OSError as error:
        raise SourceError(f"can't run {command[0]}: {error.strerror}: this needs Debian") from error
    if answer.returncode != 0:
        said = one_line(answer.stderr or answer.stdout) or f"status {answer.returncode}"
        raise SourceError(f"{command[0]} failed: {said}")


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(
            "thermocline: name the packages: python3 -m thermocline.measuring.debian_source sqlite3"
        )
    try:
        for package in sys.argv[1:]:
            print(fetch(package))
    except SourceError as error:
        sys.exit(f"thermocline: {error}")


if __name__ == "__main__":
    main()
