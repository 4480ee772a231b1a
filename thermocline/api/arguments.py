"""What the API's functions take, made into what the package's take."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from thermocline.errors import Misuse

if TYPE_CHECKING:
    from thermocline.machine.model import Machine
    from thermocline.planning.model import Plan
    from thermocline.profiles.model import Profile

AnyPath = str | PathLike[str]
Command = Sequence[str | PathLike[str]]
One = TypeVar("One")


def words(command: Command) -> list[str]:
    """A command's words; Misuse for a string, which no shell would split."""
    if isinstance(command, str) or not command:
        raise Misuse("give the command as a list of words, such as ['./a.out', '56']")
    return [str(word) for word in command]


def path(given: AnyPath | None) -> Path | None:
    """Maybe a path."""
    return None if given is None else Path(given)


def listed(given: One | Sequence[One]) -> list[One]:
    """One or several as a list; a string is one."""
    if isinstance(given, Sequence) and not isinstance(given, str):
        return list(given)
    return [given]


def machine(given: "Machine | str") -> "Machine":
    """By name, path or `detect`."""
    from thermocline.machine import store

    return store.find(given) if isinstance(given, str) else given


def machine_name(given: "Machine | str") -> str:
    """As a command line would name it."""
    return given if isinstance(given, str) else given.name


def plan(given: "Plan | AnyPath | None") -> "Plan":
    """None: no guidance."""
    from thermocline.planning import model

    if given is None:
        return model.unguided()
    return given if isinstance(given, model.Plan) else model.load(Path(given))


def profiles(
    given: "Profile | AnyPath | Sequence[Profile | AnyPath]",
) -> "tuple[list[Profile], list[str]]":
    """Loaded, and what each is called."""
    from thermocline.profiles import model

    found, names = [], []
    several: list[Profile | AnyPath] = listed(given)
    for each in several:
        if isinstance(each, model.Profile):
            found.append(each)
            names.append(f"{each.program}.{each.pid}")
        else:
            found.append(model.load(Path(each)))
            names.append(str(each))
    return found, names


def capacity(given: str | int) -> str:
    """A number is bytes."""
    return f"{given}B" if isinstance(given, int) else given
