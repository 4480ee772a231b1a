"""Makes the documentation's site from docs/: `docs_site.py FOLDER`, called by `make docs`.

Warnings are errors: a link to nothing, a page that docs/README.md does not name.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import manual

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
FIRST = ("tutorial",)  # before all parts


def contents(readme: str) -> str:
    """docs/README.md with Sphinx's tables of contents: a part for each of its headings."""
    parts = re.split(r"^## (.*)$", readme, flags=re.MULTILINE)
    trees = [_tree("", FIRST)]
    for title, text in zip(parts[1::2], parts[2::2], strict=True):
        pages = re.findall(r"^\| \[[^]]*\]\(([\w-]+)\.md\)", text, flags=re.MULTILINE)
        trees.append(_tree(title, (*pages, "reference") if title == "Reference" else pages))
    linked = readme.replace("[command line's reference](#reference)", "[reference](reference.md)")
    return linked + "\n".join(trees)


def _tree(title: str, pages: tuple[str, ...] | list[str]) -> str:
    caption = f":caption: {title}\n" if title else ""
    return f"\n```{{toctree}}\n:hidden:\n{caption}\n" + "\n".join(pages) + "\n```\n"


def stage(folder: Path) -> None:
    """The pages as Sphinx wants them."""
    shutil.copytree(DOCS, folder, dirs_exist_ok=True)
    shutil.copy(ROOT / "scripts" / "site" / "conf.py", folder)
    (folder / "README.md").unlink()
    (folder / "index.md").write_text(contents((DOCS / "README.md").read_text()))
    (folder / "reference.md").write_text(manual.markdown())


def build(staged: Path, site: Path) -> int:
    """Sphinx's status, which is not 0 if it warned."""
    sphinx = [sys.executable, "-m", "sphinx", "-b", "html", "-q", "-W", "--keep-going"]
    command = [*sphinx, "-d", str(staged / ".doctrees"), str(staged), str(site)]
    return subprocess.run(command, check=False).returncode


def main() -> int:
    if len(sys.argv) != 2:
        print("docs_site: say which folder the site goes to", file=sys.stderr)
        return 2
    site = Path(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="thermocline-docs-") as staged:
        stage(Path(staged))
        status = build(Path(staged), site)
    if status == 0:
        print(f"the documentation is made: {site}/index.html")
    return status


if __name__ == "__main__":
    sys.exit(main())
