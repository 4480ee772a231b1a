"""Runs docs/notebook.ipynb in a folder of its own and writes it back with what came out.

Its outputs are kept, because that is what a reader on a Git host sees: run this after a change of
it.  tests/loop runs it too, and keeps nothing.
"""

import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).resolve().parents[1] / "docs" / "notebook.ipynb"
SECONDS = 300  # of a cell, on a busy machine


def execute(folder: Path) -> nbformat.NotebookNode:
    """The notebook with its outputs; nbclient's error shows the cell that fails."""
    notebook: nbformat.NotebookNode = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(
        notebook,
        timeout=SECONDS,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": str(folder)}},
    ).execute()
    return notebook


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="thermocline-notebook-") as folder:
        notebook = execute(Path(folder))
    # Of this host's Python, which is nobody's concern.
    notebook.metadata.language_info = {"name": "python"}
    nbformat.write(notebook, NOTEBOOK)
    return 0


if __name__ == "__main__":
    sys.exit(main())
