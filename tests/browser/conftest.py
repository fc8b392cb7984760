"""One JupyterLab and one browser for all tests here; a fresh notebook, kernel and page for each."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest
from gates import Gates
from harness import Browser, LabServer, Notebook, browser, lab_server

ROOT = Path(__file__).resolve().parents[2]
IPYKERNEL6 = "evonb-ipykernel6"

OpenNotebook = Callable[..., Notebook]


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    root = tmp_path_factory.mktemp("lab")
    shutil.copytree(ROOT / "notebooks" / "data", root / "data")
    with lab_server(root, {IPYKERNEL6: str(ROOT / ".venv-ipykernel6" / "bin" / "python")}) as server:
        yield server


@pytest.fixture(scope="session")
def chrome() -> Iterator[Browser]:
    with browser() as made:
        yield made


@pytest.fixture
def open_notebook(lab: LabServer, chrome: Browser, request: pytest.FixtureRequest) -> Iterator[OpenNotebook]:
    """Write a notebook of these cells and open it: `open_notebook("cell 1", "cell 2", kernel=...)`.

    Afterwards its kernel ends, and nothing may have left the machine, thrown in the page or opened a dialog.
    """
    name = re.sub(r"\W+", "_", request.node.name) + ".ipynb"
    opened: list[Notebook] = []

    def open_(*cells: str | nbformat.NotebookNode, kernel: str = "python3") -> Notebook:
        book = nbformat.v4.new_notebook()
        book.cells = [nbformat.v4.new_code_cell(cell) if isinstance(cell, str) else cell for cell in cells]
        book.metadata["kernelspec"] = {"name": kernel, "display_name": kernel, "language": "python"}
        nbformat.write(book, lab.root / name)
        notebook = Notebook(chrome.new_page(), lab, name)
        opened.append(notebook)
        notebook.open()
        return notebook

    yield open_
    for notebook in opened:
        notebook.page.close()
    lab.end_kernels(name)
    noticed = {"left the machine": chrome.blocked, "errors": chrome.errors, "dialogs": chrome.dialogs}
    found = {what: list(rows) for what, rows in noticed.items() if rows}
    for rows in noticed.values():
        rows.clear()  # a fault belongs to the test that made it, not to the next one
    assert not found


@pytest.fixture
def gates(lab: LabServer, open_notebook: OpenNotebook) -> Iterator[Gates]:
    """Gates at which nodes wait until the test opens them; all open before the kernel ends."""
    made = Gates(lab.root)
    yield made
    made.close()


@pytest.fixture(scope="session")
def screens() -> Path:
    """Where screenshots go, to be looked at."""
    folder = ROOT / "build" / "screens"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
