"""The Linux kernel that the two-node guests boot: Debian's cloud kernel, fetched once.

The package is downloaded and unpacked, never installed, so no root is needed and
the host's own kernel stays as it is.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

# MPOL_PREFERRED_MANY needs 5.15, MPOL_WEIGHTED_INTERLEAVE 6.9.  Debian 12's own 6.1 hangs here.
METAPACKAGE = "linux-image-6.12-cloud-amd64"
SERIES = (6, 12)
SECURITY = "deb http://deb.debian.org/debian-security bookworm-security main\n"


class KernelError(Exception):
    """The kernel cannot be had; the message says what to do."""


def cache_directory() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "thermocline" / "kernel"


def fetch() -> Path:
    """The path of a kernel image, from the cache or from Debian's archive."""
    chosen = os.environ.get("THERMOCLINE_TEST_KERNEL")
    if chosen:
        if not Path(chosen).is_file():
            raise KernelError(f"THERMOCLINE_TEST_KERNEL names {chosen}, which is not a file")
        return Path(chosen)
    cache = cache_directory()
    # A cached kernel is as good as a newer one: tests must not depend on the network.
    # An older one, that an earlier test run left, is not.
    cached = [image for image in cache.glob("vmlinuz-*") if _version(image) >= [*SERIES]]
    return max(cached, key=_version) if cached else _download(cache)


def _version(image: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", image.name)]


def _apt(directory: Path, options: list[str], *command: str) -> subprocess.CompletedProcess[str]:
    """apt-get or apt-cache in this directory."""
    program, *rest = command
    if os.geteuid() == 0:
        # apt's own user cannot write into root's directories; apt warns without this.
        options = ["-o", "APT::Sandbox::User=root", *options]
    return subprocess.run(
        [program, *options, *rest], cwd=directory, capture_output=True, text=True, check=False
    )


def _security_only(directory: Path) -> list[str]:
    """Options of apt for Debian 12's security updates and nothing else, its state kept here."""
    parts = directory / "sources"
    parts.mkdir()
    (directory / "lists").mkdir()
    (parts / "security.list").write_text(SECURITY, encoding="ascii")
    options = {
        "Dir::Etc::SourceList": "/dev/null",
        "Dir::Etc::SourceParts": str(parts),
        "Dir::State::Lists": str(directory / "lists"),
        "Dir::Cache": str(directory),
    }
    return [word for name, value in options.items() for word in ("-o", f"{name}={value}")]


def _package(directory: Path, options: list[str]) -> str | None:
    answer = _apt(directory, options, "apt-cache", "depends", METAPACKAGE)
    found = re.search(r"Depends: (linux-image-\S+)", answer.stdout)
    return found.group(1) if found else None


def _download(cache: Path) -> Path:
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        directory = Path(scratch)
        options: list[str] = []
        package = _package(directory, options)
        if not package:
            # A bare Debian 12's lists do not name the security updates, where this series is.
            options = _security_only(directory)
            _apt(directory, options, "apt-get", "update")
            package = _package(directory, options)
        if not package:
            raise KernelError(
                f"apt knows no {METAPACKAGE} (Debian 12 has it among its security updates): name "
                "another kernel's image with THERMOCLINE_TEST_KERNEL"
            )
        answer = _apt(directory, options, "apt-get", "download", package)
        archives = list(directory.glob("*.deb"))
        if answer.returncode != 0 or not archives:
            raise KernelError(f"apt-get download {package} failed: {answer.stderr.strip()}")
        subprocess.run(["dpkg", "-x", archives[0], f"{scratch}/root"], check=True)
        image = next(Path(scratch, "root", "boot").glob("vmlinuz-*"))
        # Renamed into place: a second test run beside this one sees all of it or nothing.
        complete = directory / image.name
        shutil.copyfile(image, complete)
        return complete.rename(cache / image.name)


if __name__ == "__main__":
    print(fetch())
