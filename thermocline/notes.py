"""What a person should know, one line each, while the package works: the logger `thermocline`.

The command line shows them on stderr; a Python program shows, keeps or silences them as it does
with any other logger's.
"""

import logging

LOGGER = logging.getLogger("thermocline")


def note(text: str) -> None:
    """A warning, which Python shows on stderr where nobody configured logging."""
    LOGGER.warning("%s", text)
