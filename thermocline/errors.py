"""Errors that reach the user: one line that says what is wrong and what to do."""


class ThermoclineError(Exception):
    """Something failed; the command ends with status 1."""

    status = 1


class Misuse(ThermoclineError):
    """The command was asked for something that makes no sense; it ends with status 2."""

    status = 2


class BadFile(ThermoclineError):
    """A file that cannot be used, with the place in it where it goes wrong."""

    def __init__(self, path: object, problem: str) -> None:
        super().__init__(f"{path}: {one_line(problem)}")


def one_line(text: str, limit: int = 300) -> str:
    """Folds text from outside (a parser's message, a file's value) into one printable line."""
    folded = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return folded if len(folded) <= limit else folded[: limit - 1] + "…"
