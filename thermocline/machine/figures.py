"""Numbers with a unit and a source, as machine files and device files hold them."""

from collections.abc import Callable
from typing import Annotated

from pydantic import BeforeValidator

from thermocline import units
from thermocline.errors import Misuse
from thermocline.validation import Strict


class Figure(Strict):
    """A number, where it comes from, and whether it is an input of a published result.

    What a machine file was built from can't count as agreement with the paper that published it:
    such numbers are marked `input`.
    """

    value: float
    source: str = ""
    input: bool = False


def _figure(parse: Callable[[str], float]) -> BeforeValidator:
    def read(raw: object) -> object:
        try:
            if isinstance(raw, str):
                return {"value": parse(raw)}
            if isinstance(raw, dict) and isinstance(raw.get("value"), str):
                return {**raw, "value": parse(raw["value"])}
        except Misuse as error:
            raise ValueError(str(error)) from error
        if isinstance(raw, Figure):
            return raw
        raise ValueError('needs a unit: a string such as "16GiB", "115.2GB/s", "130ns"')

    return BeforeValidator(read)


def _plain(raw: object) -> object:
    """A number without a unit: a count, or the unit is in the field's name."""
    if isinstance(raw, int | float) and not isinstance(raw, bool):
        return {"value": raw}
    return raw


Count = Annotated[Figure, BeforeValidator(_plain)]
Bytes = Annotated[Figure, _figure(units.parse_bytes)]
Bandwidth = Annotated[Figure, _figure(units.parse_bandwidth)]
Seconds = Annotated[Figure, _figure(units.parse_seconds)]
JoulesPerBit = Annotated[Figure, _figure(units.parse_joules_per_bit)]
Frequency = Annotated[Figure, _figure(units.parse_frequency)]
