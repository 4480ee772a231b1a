"""The documentation's site: made without a warning, whole, and without the network."""

import importlib
import re
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
docs_site = importlib.import_module("docs_site")


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("staged")
    docs_site.stage(folder)
    return folder


def test_the_site_is_made(staged: Path, tmp_path: Path) -> None:
    assert docs_site.build(staged, tmp_path) == 0
    pages = {page.stem for page in (ROOT / "docs").glob("*.md")} - {"README"}
    made = {page.stem for page in tmp_path.glob("*.html")}
    assert pages | {"index", "reference"} <= made
    text = (tmp_path / "reference.html").read_text()
    assert "thermocline machine measure" in text
    for page in tmp_path.glob("*.html"):
        html = page.read_text()
        loaded = re.findall(r'<(?:script|img|link)[^>]*(?:src|href)="(https?://[^"]*)', html)
        assert not loaded, page


def test_a_dead_link_and_a_lost_page_are_errors(
    staged: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "staged"
    shutil.copytree(staged, folder)
    (folder / "lost.md").write_text("# Lost\n\nSee [there](nowhere.md#no).\n")
    assert docs_site.build(folder, tmp_path / "site") != 0
    said = capfd.readouterr().err
    assert "nowhere.md" in said
    assert "toctree" in said
