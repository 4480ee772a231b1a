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

# MPOL_PREFERRED_MANY needs 5.15, MPOL_WEIGHTED_INTERLEAVE 6.9: newest series first.
METAPACKAGES = ("linux-image-6.12-cloud-amd64", "linux-image-cloud-amd64")


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
    cached = sorted(cache.glob("vmlinuz-*"), key=_version)
    return cached[-1] if cached else _download(cache)


def _version(image: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", image.name)]


def _package() -> str:
    for metapackage in METAPACKAGES:
        answer = subprocess.run(
            ["apt-cache", "depends", metapackage], capture_output=True, text=True, check=False
        )
        found = re.search(r"Depends: (linux-image-\S+)", answer.stdout)
        if found:
            return found.group(1)
    raise KernelError(f"apt knows no {METAPACKAGES[-1]}: run apt-get update")


def _download(cache: Path) -> Path:
    package = _package()
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        command = ["apt-get", "download", package]
        if os.geteuid() == 0:
            # apt's own user cannot write into root's cache; apt warns without this.
            command[1:1] = ["-o", "APT::Sandbox::User=root"]
        answer = subprocess.run(command, cwd=scratch, capture_output=True, text=True, check=False)
        archives = list(Path(scratch).glob("*.deb"))
        if answer.returncode != 0 or not archives:
            raise KernelError(f"apt-get download {package} failed: {answer.stderr.strip()}")
        subprocess.run(["dpkg", "-x", archives[0], f"{scratch}/root"], check=True)
        image = next(Path(scratch, "root", "boot").glob("vmlinuz-*"))
        # Renamed into place: a second test run beside this one sees all of it or nothing.
        complete = Path(scratch) / image.name
        shutil.copyfile(image, complete)
        return complete.rename(cache / image.name)


if __name__ == "__main__":
    print(fetch())
