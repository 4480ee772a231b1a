"""Methods that sample, by the public commands, on events that every machine has."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from test_loop import call, json_of

PAGE = 4096

TOUCH = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
volatile long watched;
static void touch(volatile char *block, long pages) {
    for (long i = 0; i < pages; i++)
        block[i * 4096] = 1;
}
static void *other(void *block) {
    touch(block, 300);
    return NULL;
}
int main(void) {
    char *half = malloc(1000 * 4096), *threads = malloc(300 * 4096);
    char *volatile never = malloc(500 * 4096);
    pthread_t thread;
    touch(half, 500);
    pthread_create(&thread, NULL, other, threads);
    pthread_join(thread, NULL);
    for (int i = 0; i < 1234; i++)
        watched = i;
    printf("%d\n", half[0] + threads[0] + (never == NULL));
    return 0;
}
"""

PHASES = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
enum { n = 8 << 20 };
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}
int main(void) {
    volatile char *written = malloc(n), *read = malloc(n), *idle = malloc(n);
    memset((char *)written, 1, n);
    memset((char *)read, 1, n);
    memset((char *)idle, 1, n);
    for (double end = now() + 3; now() < end;)
        for (long i = 0; i < n; i += 64)
            written[i] = read[i];
    printf("%d\n", written[0] + idle[0]);
    return 0;
}
"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("methods")
    for name, source in (("touch", TOUCH), ("phases", PHASES)):
        (folder / f"{name}.c").write_text(source)
        options = ("-O1", "-g", "-pthread", "-fno-pie", "-no-pie")
        call("thermocline-clang", *options, f"{name}.c", "-o", name, cwd=folder)
    return folder


def profiled(folder: Path, program: str, *options: str) -> tuple[dict[str, Any], str]:
    out = folder / f"{program}.profile"
    done = call(
        "thermocline", "profile", *options, "-o", out, "--force", "--", f"./{program}", cwd=folder
    )
    return json_of(out), done.stdout


def by_line(profile: dict[str, Any], source: str) -> list[dict[str, Any]]:
    """The annotated sites, in the order of the source."""
    found = [site for site in profile["sites"] if f"{source}.c:" in site["key"]]
    return sorted(found, key=lambda site: [int(n) for n in re.findall(r":(\d+)", site["key"])])


def test_each_sites_first_touches_are_its_own(programs: Path) -> None:
    options = ("--method", "sample", "--event", "page-faults", "--rate", "1")
    profile, printed = profiled(programs, "touch", *options)
    assert [site["samples"] for site in by_line(profile, "touch")] == [500, 300, 0]
    # They are no traffic, and nothing says so.
    assert profile["method"] == "sample"
    assert all(site["read_bytes"] == site["write_bytes"] == 0 for site in profile["sites"])
    [event] = profile["sampling"]["events"]
    assert (event["name"], event["period"]) == ("page-faults", 1)
    assert profile["sampling"]["lost"] == 0
    assert "exact" in printed and "no loads or stores" in printed
    assert "memory traffic" not in printed


def test_a_rate_stands_for_what_it_left_out(programs: Path) -> None:
    options = ("--method", "sample", "--event", "page-faults", "--rate", "16", "--json")
    out = programs / "thinned.profile"
    done = call(
        "thermocline", "profile", *options, "-o", out, "--force", "--", "./touch", cwd=programs
    )
    [answer] = json.loads(done.stdout)
    sites = {site["key"]: site for site in answer["sites"]}
    half, threads, never = (sites[s["key"]] for s in by_line(json_of(out), "touch"))
    # One counter for each thread and processor: each may hold back up to a period.
    assert half["events"] == half["samples"] * 16
    assert half["events"] == pytest.approx(500, abs=16 * 8)
    low, high = half["events_interval"]
    assert low < half["events"] < high
    assert threads["samples"] > 0 == never["samples"]
    assert never["events_interval"] is None


def test_a_breakpoint_sees_every_write(programs: Path) -> None:
    """A data address that the processor itself reports."""
    names = subprocess.run(
        ["nm", programs / "touch"], capture_output=True, text=True, check=True
    ).stdout
    address = next(line.split()[0] for line in names.splitlines() if line.endswith(" watched"))
    event = f"mem:0x{address.lstrip('0')}/8:w"
    profile, _ = profiled(programs, "touch", "--method", "sample", "--event", event, "--rate", "1")
    samples = {site["key"]: site["samples"] for site in profile["sites"]}
    assert samples.pop("(globals)") == 1234
    assert not any(samples.values())


def test_an_event_that_is_not_there_is_refused(programs: Path) -> None:
    for event, status in (("nonsense", 2), ("cpu/no such/", 2)):
        done = call(
            "thermocline", "profile", "--method", "sample", "--event", event, "--", "./touch",
            cwd=programs, status=status,
        )  # fmt: skip
        assert done.stderr.startswith("thermocline: ") and "Traceback" not in done.stderr


def test_doctor_says_what_each_method_lacks(programs: Path) -> None:
    checks = json.loads(call("thermocline", "doctor", "--json", cwd=programs).stdout)
    found = {check["what"]: check for check in checks}
    for method in ("sample", "pages"):
        check = found[f"profile --method {method}"]
        assert check["ok"] == (check["remedy"] == "")


def test_pages_tell_written_from_read_from_idle(programs: Path) -> None:
    checks = json.loads(call("thermocline", "doctor", "--json", cwd=programs).stdout)
    if not next(check for check in checks if check["what"] == "profile --method pages")["ok"]:
        pytest.skip("the kernel does not track written pages")
    profile, printed = profiled(programs, "phases", "--method", "pages", "--overhead", "0.2")
    sampling = profile["sampling"]
    assert sampling["looks_written"] > 2 and sampling["looks_accessed"] > 1
    written, read, idle = by_line(profile, "phases")
    size = 8 << 20
    slack = PAGE * sampling["looks_written"]  # a page that is being written counts twice
    for site in (read, idle):
        assert size <= site["written_page_bytes"] <= size + slack
    assert written["written_page_bytes"] > 1.5 * size
    assert read["accessed_page_bytes"] > 1.5 * idle["accessed_page_bytes"]
    assert written["write_bytes"] > read["write_bytes"]
    assert read["read_bytes"] > idle["read_bytes"]
    assert "pages accessed and written" in printed


def test_rates_are_for_methods_that_have_them(programs: Path) -> None:
    for options in (
        ("--method", "pages", "--rate", "2"),
        ("--method", "sample", "--event", "page-faults", "--rate", "2", "--overhead", "0.1"),
    ):
        call("thermocline", "profile", *options, "--", "./touch", cwd=programs, status=2)
