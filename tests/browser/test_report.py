"""The report's page in a browser: it draws, nothing complains, and what is said to work works."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.by import By

from thermocline.profiles.merge import Candidate
from thermocline.strategies import by_density, registry

ROOT = Path(__file__).resolve().parents[2]
MIB = 2**20
SEED = 5


def wait(condition: Callable[[], Any], what: str) -> None:
    for _ in range(600):
        if condition():
            return
        time.sleep(0.1)
    pytest.fail(f"not within a minute: {what}")


def complaints(page: WebDriver) -> list[dict[str, Any]]:
    """Of the page, on the browser's console."""
    found: list[dict[str, Any]] = page.get_log("browser")  # type: ignore[no-untyped-call]
    return found


def thermocline(*words: object, cwd: Path) -> str:
    command = [sys.executable, "-m", "thermocline", *(str(word) for word in words)]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def profile(sites: int) -> dict[str, Any]:
    draw = random.Random(SEED)
    found = []
    for number in range(sites):
        size = draw.randrange(1, 64) * 4096
        caller = f"caller{draw.randrange(sites // 4 + 1)}@src/b.c:{number + 1}:1"
        position = f"src/a.c:{number + 1}:3"
        found.append(
            {
                "key": f"a!<b>site{number}</b>@{position} < {caller} < main@src/m.c:1:1",
                "routine": "malloc",
                "read_bytes": int(size * draw.paretovariate(1)),
                "write_bytes": size,
                "peak_resident_bytes": size,
                "allocations": number + 1,
                "series": {
                    "read_bytes": [0, size],
                    "write_bytes": [size, 0],
                    "resident_bytes": [size, size],
                },
            }
        )
    return {
        "format": "thermocline-profile",
        "version": 1,
        "wall_seconds": 1.0,
        "peak_resident_bytes": sum(site["peak_resident_bytes"] for site in found),
        "executable": "/bin/program",
        "command": ["program"],
        "series": {"interval_seconds": 0.5, "count": 2},
        "sites": found,
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("report")
    (made / "src").mkdir()
    (made / "src" / "a.c").write_text("".join(f"char *line{n};\n" for n in range(1, 200)))
    (made / "p.profile").write_text(json.dumps(profile(60)))
    plan = ["plan", "p.profile", "--machine", "knl-7230", "-o", "p.plan"]
    thermocline(*plan, "--capacity", "25%", "--strategy", "hotset", cwd=made)
    trace = ROOT / "tests" / "golden" / "version1.trace"
    schemes = ["--machine", "knl-7230", "--scheme", "first-touch,knl-cache", "--json"]
    (made / "schemes.json").write_text(thermocline("simulate", trace, *schemes, cwd=made))
    thermocline("report", "p.profile", "p.plan", "schemes.json", "--html", "r.html", cwd=made)
    return made


@pytest.fixture
def page(folder: Path, browser: WebDriver) -> WebDriver:
    browser.get((folder / "r.html").as_uri())
    wait(lambda: browser.execute_script("return document.documentElement.dataset.ready"), "ready")
    return browser


def numbers(page: WebDriver, column: int) -> list[str]:
    script = (
        "return [...document.querySelectorAll('#sites tbody tr')]"
        f".map(row => row.children[{column - 1}]?.textContent)"
    )
    return list(page.execute_script(script))


def test_everything_is_drawn_and_nothing_complains(page: WebDriver) -> None:
    for name in ("curve", "strategies", "schemes", "treemap", "traffic", "residency"):
        drawn = page.find_elements(By.CSS_SELECTOR, f"#figure-{name} svg path")
        assert drawn, name
    assert page.find_elements(By.TAG_NAME, "b") == []  # of the keys: text, not HTML
    assert complaints(page) == []


def test_the_table_sorts_searches_and_opens(page: WebDriver) -> None:
    page.find_element(By.XPATH, "//th[contains(., 'allocations')]").click()
    wait(lambda: numbers(page, 8)[0] == "1", "rising order")
    page.find_element(By.XPATH, "//th[contains(., 'allocations')]").click()
    wait(lambda: numbers(page, 8)[0] == "60", "falling order")
    search = page.find_element(By.CSS_SELECTOR, "input[type=search]")
    search.send_keys("site41<")
    wait(lambda: len(numbers(page, 8)) == 1, "one row")
    button = page.find_element(By.CSS_SELECTOR, "button.opens")
    assert button.text == "<b>site41</b>"
    button.send_keys(Keys.ENTER)  # by keyboard
    shown = page.find_element(By.CSS_SELECTOR, ".more").text
    assert "main@src/m.c:1:1" in shown
    assert page.find_element(By.CSS_SELECTOR, ".more mark").text.split() == [
        "42",
        "char",
        "*line42;",
    ]
    assert button.get_attribute("aria-expanded") == "true"
    assert complaints(page) == []


def test_the_boundary_moves_by_keyboard_and_by_mouse(page: WebDriver) -> None:
    said = page.find_element(By.ID, "replanned")
    before = said.text
    assert ", by hotset;" in before
    page.find_element(By.ID, "room").send_keys(Keys.HOME)
    wait(lambda: said.text != before, "another plan")
    assert said.text.startswith("1 of 60 sites")  # hotset: the first passes no room at all
    assert "Of their bytes 0 B fit" in said.text
    chart = page.find_element(By.CSS_SELECTOR, "#figure-curve svg")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", chart)
    ActionChains(page).move_to_element(chart).click_and_hold().move_by_offset(60, 0).perform()
    ActionChains(page).release().perform()
    wait(lambda: not said.text.startswith("1 of 60"), "the plan at the middle")
    page.find_element(By.ID, "room").send_keys(Keys.END)
    wait(lambda: said.text.startswith("60 of 60 sites"), "all sites")
    page.find_element(By.ID, "reset").click()
    wait(lambda: said.text == before, "the plan again")
    assert complaints(page) == []


@pytest.mark.parametrize("strategy", ["hotset", "thermos"])
def test_the_page_plans_as_the_planner_does(page: WebDriver, folder: Path, strategy: str) -> None:
    draw = random.Random(SEED)
    for _ in range(60):
        count = draw.randrange(1, 40)
        sites = by_density(
            [
                Candidate(f"s{n:02}", draw.randrange(0, 50), draw.randrange(0, 1000), 0.0)
                for n in range(count)
            ]
        )
        room = draw.randrange(0, 50 * count)
        expected = registry()[strategy](sites, room).fast
        given = [{"bytes": site.bytes, "traffic": site.traffic} for site in sites]
        script = f"return [...strategies.{strategy}(arguments[0], arguments[1])]"
        chosen = page.execute_script(script, given, room)
        assert {sites[index].key for index in chosen} == set(expected)


def test_light_dark_and_paper(page: WebDriver) -> None:
    paper = "return getComputedStyle(document.body).backgroundColor"
    before = page.execute_script(paper)
    page.find_element(By.ID, "theme").click()
    wait(lambda: page.execute_script(paper) != before, "the other look")
    wait(lambda: page.find_elements(By.CSS_SELECTOR, "#figure-curve svg"), "drawn again")
    printed = page.execute_cdp_cmd("Page.printToPDF", {})
    assert len(printed["data"]) > 50_000
    assert complaints(page) == []


def test_ten_thousand_sites_open(folder: Path, browser: WebDriver) -> None:
    (folder / "large.profile").write_text(json.dumps(profile(10_000)))
    large = ["report", "large.profile", "--machine", "knl-7230", "--html", "large.html"]
    thermocline(*large, cwd=folder)
    browser.get((folder / "large.html").as_uri())
    wait(lambda: browser.execute_script("return document.documentElement.dataset.ready"), "ready")
    assert "10,000 entries" in browser.find_element(By.ID, "sites_info").text
    assert complaints(browser) == []
