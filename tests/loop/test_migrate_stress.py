"""Page migration under stress, every far page's checksum compared when it returns.

For THERMOCLINE_STRESS_SECONDS (20) by make test-slow.
"""

import itertools
import json
import os
import random
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from test_loop import call
from test_migrate import migrate, migrated, needs_rights, process_of

from thermocline.run.migrate import GRANULARITIES

__all__ = ["migrated"]  # the fixture
SECONDS = float(os.environ.get("THERMOCLINE_STRESS_SECONDS", "20"))


def stressed(program: Path, words: list[str], more: int) -> dict[str, Any]:
    """One run of it below the engine, and another beside it that is not; both are right."""
    with subprocess.Popen([program, str(more)], stdout=subprocess.DEVNULL) as beside:
        done = call(
            *migrate("--check", "--json", *words, "--", str(program), str(more)), cwd=Path("/")
        )
        assert beside.wait(300) == 0
    assert done.stderr == "all as it should be\n"
    return process_of(json.loads(done.stdout), program.name)


@needs_rights
@pytest.mark.skipif("THERMOCLINE_SLOW" not in os.environ, reason="long: make test-slow")
def test_no_page_is_lost_or_changed_under_stress(migrated: Path) -> None:
    numbers = random.Random(SECONDS)
    until = time.monotonic() + SECONDS
    runs = checked = forks = 0
    for granularity in itertools.cycle(GRANULARITIES):
        near, more = numbers.randint(8, 40), numbers.randint(12, 32)  # MiB
        words = ["--near", f"{near}MiB", "--granularity", granularity]
        words += ["--prefetch"] if numbers.random() < 0.5 else []
        process = stressed(migrated, words, more)
        said = f"{words}, {more} MiB at a time: {process}"
        assert process["corrupt_pages"] == process["lost_pages"] == 0, said
        checked += process["checked_pages"]
        forks += process["forks"]
        runs += 1
        if time.monotonic() >= until:
            break
    print(f"{runs} runs, {forks} forks, {checked} pages checked")
    assert checked > 0
