"""Fetches mimalloc's source, as the crate libmimalloc-sys, from the crates.io registry.

Debian has only a shared library of an older mimalloc, and a call through its PLT
costs more than the gate on the guided path allows (docs/measurements.md); linked
into our library with LTO it costs nothing.
"""

import hashlib
import io
import sys
import tarfile
import time
import urllib.request
from pathlib import Path

CRATE = "libmimalloc-sys-0.1.49"
URL = f"https://static.crates.io/crates/libmimalloc-sys/{CRATE}.crate"
SHA256 = "6a45a52f43e1c16f667ccfe4dd8c85b7f7c204fd5e3bf46c5b0db9a5c3c0b8e9"
SOURCE = f"{CRATE}/c_src/mimalloc/v2/"


def fetch(attempts: int = 4) -> bytes:
    for attempt in range(attempts):
        try:
            with urllib.request.urlopen(URL, timeout=60) as response:
                return bytes(response.read())
        except OSError as error:
            if attempt + 1 == attempts:
                sys.exit(f"fetch_mimalloc: {URL}: {error}")
            time.sleep(2**attempt)
    raise AssertionError


def main() -> None:
    target = Path(sys.argv[1])
    if (target / "src" / "static.c").exists():
        return
    data = fetch()
    if hashlib.sha256(data).hexdigest() != SHA256:
        sys.exit(f"fetch_mimalloc: {URL} does not have the expected SHA-256 {SHA256}")
    with tarfile.open(fileobj=io.BytesIO(data)) as crate:
        for member in crate.getmembers():
            if member.isfile() and member.name.startswith(SOURCE):
                path = target / member.name[len(SOURCE) :]
                if ".." in path.parts:
                    sys.exit(f"fetch_mimalloc: {URL} names {member.name}")
                path.parent.mkdir(parents=True, exist_ok=True)
                source = crate.extractfile(member)
                assert source is not None
                path.write_bytes(source.read())


if __name__ == "__main__":
    main()
