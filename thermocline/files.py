"""Writing files so that nobody finds half of one, and nothing is lost by accident."""

import os
import tempfile
from pathlib import Path

from thermocline.errors import Misuse, ThermoclineError


def refuse_overwrite(path: Path, force: bool) -> None:
    """The rule of every -o."""
    if path.exists() and not force:
        raise Misuse(f"{path} exists: choose another name with -o, or add --force")
    if not path.parent.is_dir():
        raise Misuse(f"{path.parent} is no directory: make it first")


def write_text(path: Path, text: str, force: bool) -> None:
    """Writes aside and renames."""
    refuse_overwrite(path, force)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(text)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
        os.replace(name, path)
    except OSError as error:
        raise ThermoclineError(f"can't write {path}: {error.strerror}") from error


def read_text(path: Path, limit: int = 2**30, errors: str = "strict") -> str:
    """A file from outside, as text; `limit` keeps a wrong file from filling the memory."""
    try:
        if path.stat().st_size > limit:
            raise ThermoclineError(f"{path} is too large to be what it should be")
        return path.read_text(encoding="utf-8", errors=errors)
    except OSError as error:
        raise ThermoclineError(f"can't read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ThermoclineError(f"{path}: not a text file") from error
