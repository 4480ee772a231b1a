"""A real browser, Debian's Chromium, driven through its WebDriver."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service


@pytest.fixture(scope="session")
def browser() -> Iterator[webdriver.Chrome]:
    driver = shutil.which("chromedriver")
    if driver is None:
        pytest.fail("no chromedriver: run make build/.packages-test")
    options = webdriver.ChromeOptions()
    # The sandbox and /dev/shm are often missing where tests run.
    for option in ("headless=new", "no-sandbox", "disable-dev-shm-usage", "disable-gpu"):
        options.add_argument(f"--{option}")
    options.add_argument("--window-size=1200,1600")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    started = webdriver.Chrome(options=options, service=Service(driver))
    started.set_page_load_timeout(120)
    yield started
    started.quit()
