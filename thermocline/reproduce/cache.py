"""What was made once and need not be made again: folders named by what they were made from."""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from thermocline import paths


def root() -> Path:
    """`$XDG_CACHE_HOME/thermocline/reproduce`."""
    return paths.cache() / "reproduce"


def digest_of_files(paths: Iterable[Path]) -> str:
    """Of their contents; a file that isn't there counts as empty."""
    whole = hashlib.sha256()
    for path in paths:
        data = path.read_bytes() if path.is_file() else b""
        whole.update(f"{path.name} {len(data)}\n".encode())
        whole.update(data)
    return whole.hexdigest()


def key(*parts: Any) -> str:
    """A short name for whatever JSON can say."""
    text = json.dumps(parts, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def folder(name: str, fill: Callable[[Path], None]) -> Path:
    """The folder of this name, filled aside and renamed if there is none yet."""
    target = root() / name
    if target.is_dir():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        fill(scratch)
        try:
            scratch.rename(target)
        except OSError:  # another process made the same meanwhile
            if not target.is_dir():
                raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return target
