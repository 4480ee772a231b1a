"""What all files that people write share: strictness, and one clause for the first mistake."""

from pydantic import BaseModel, ConfigDict, ValidationError


class Strict(BaseModel):
    """A misspelt key is an error, never ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def first_problem(error: ValidationError) -> str:
    """pydantic's first complaint, as one clause."""
    problem = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in problem["loc"])
    message = str(problem["msg"]).removeprefix("Value error, ")
    return f"{place}: {message}" if place else message
