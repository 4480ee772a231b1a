"""Written and accessed pages, by each means that the guest's kernel has."""

from __future__ import annotations

import json
import re

import pytest
from guest import Guest
from programs import GUEST_DIRECTORY, Programs

BYTES = 4 << 20
PAGE = 4096
CONFIGURATION = """thermocline-config 1
heap sites
sampler pages
option overhead-ppm 1000000
profile /job/pages
interval-ms 100
"""


@pytest.mark.parametrize(
    ("options", "means"),
    [("", "userfaultfd"), ("option soft-dirty 1\n", "soft-dirty")],
    ids=["protection", "soft-dirty"],
)
def test_what_is_written_is_told_from_what_is_read_and_idle(
    two_nodes: Guest, programs: Programs, options: str, means: str
) -> None:
    programs.keys("pages")  # a failed build fails this test
    two_nodes.write("/job/configuration", CONFIGURATION + options)
    two_nodes.run("rm -f /job/pages.*").check()
    result = two_nodes.run(
        f"export THERMOCLINE_CONFIG=/job/configuration\n{GUEST_DIRECTORY}/pages", 120
    )
    result.check()
    assert result.err == ""
    profile = json.loads(two_nodes.run("cat /job/pages.*.profile").out)
    sampling = profile["sampling"]
    assert means in sampling["written_by"]
    assert sampling["looks_written"] > 2 and sampling["looks_accessed"] > 1
    sites = [site for site in profile["sites"] if site["allocated_bytes"] == BYTES]
    sites.sort(key=lambda site: int(re.findall(r"pages\.c:(\d+)", site["key"])[0]))
    written, read, idle = sites
    twice = PAGE * sampling["looks_written"]  # pages that were being written
    # Soft-dirty bits are read, and then cleared: an array filled between the two is missed.
    least = BYTES if means == "userfaultfd" else 0
    for site in (read, idle):
        assert least <= site["written_page_bytes"] <= BYTES + twice
    assert read["written_page_bytes"] + idle["written_page_bytes"] >= BYTES
    assert written["written_page_bytes"] >= 2 * BYTES
    assert read["accessed_page_bytes"] >= 2 * BYTES
    assert idle["accessed_page_bytes"] <= 1.2 * BYTES
