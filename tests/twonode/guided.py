"""Runs a test program in a guest under a plan, and reads the run's report back."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from typing import Any, NamedTuple

from guest import Guest
from plan import Tier, configuration, environment
from programs import GUEST_DIRECTORY, Programs

CONFIGURATION = "/job/configuration"
REPORT = "/job/report"


class Outcome(NamedTuple):
    out: str
    reports: list[dict[str, Any]]

    @property
    def report(self) -> dict[str, Any]:
        assert len(self.reports) == 1, f"{len(self.reports)} reports"
        return self.reports[0]


def run_guided(
    guest: Guest,
    programs: Programs,
    command: str,
    tiers: Sequence[Tier],
    *,
    libraries: Sequence[str] = (),
    before: str = "",
    timeout: int = 60,
    **directives: Any,
) -> Outcome:
    """Runs `command` (a program's name, then arguments); it must succeed, with a clean stderr.

    `before` is shell text that runs first, in the same shell.
    """
    name = shlex.split(command)[0]
    text = configuration(tiers, programs.keys(name, *libraries), report=REPORT, **directives)
    guest.write(CONFIGURATION, text)
    variables = environment(tiers) | {"THERMOCLINE_CONFIG": CONFIGURATION}
    exports = " ".join(f"{key}={shlex.quote(value)}" for key, value in variables.items())
    guest.run(f"rm -f {REPORT}.*").check()
    result = guest.run(f"export {exports}\n{before}\n{GUEST_DIRECTORY}/{command}", timeout)
    out = result.check()
    assert result.err == "", f"stderr is not clean: {result.err}\n{out}"
    reports = guest.run(f"cat {REPORT}.*.json").out
    return Outcome(out, list(_documents(reports)))


def _documents(text: str) -> list[dict[str, Any]]:
    decoder = json.JSONDecoder()
    documents, rest = [], text.strip()
    while rest:
        document, end = decoder.raw_decode(rest)
        documents.append(document)
        rest = rest[end:].strip()
    return documents
