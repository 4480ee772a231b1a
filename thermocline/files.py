"""Writing files so that nobody finds half of one, and nothing is lost by accident."""

import json
import os
import tempfile
from pathlib import Path

from thermocline.errors import Misuse, ThermoclineError

PIPE_LIMIT = 2**28


def refuse_overwrite(path: Path, force: bool) -> None:
    """The rule of every -o."""
    if path.is_dir():
        raise Misuse(f"{path} is a directory: name a file in it with -o")
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


def write_json(path: Path, data: object) -> None:
    """The same for an answer that was refused before if it would overwrite."""
    write_text(path, json.dumps(data, indent=1) + "\n", force=True)


def read_text(path: Path, limit: int = 2**30, errors: str = "strict") -> str:
    """A file from outside, as text; `limit` keeps a wrong file from filling the memory."""
    too_large = ThermoclineError(f"{path} is too large to be what it should be")
    try:
        if path.stat().st_size > limit:
            raise too_large
        if path.is_file():
            return path.read_text(encoding="utf-8", errors=errors)
        # A pipe's or a device's size is not known before: at most a few chunks, never all.
        data = bytearray()
        with path.open("rb", buffering=0) as file:
            while chunk := file.read(2**20):
                data += chunk
                if len(data) > min(limit, PIPE_LIMIT):
                    raise too_large
        return data.decode(encoding="utf-8", errors=errors)
    except OSError as error:
        raise ThermoclineError(f"can't read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ThermoclineError(f"{path}: not a text file") from error
