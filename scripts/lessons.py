"""Run the lessons from top to bottom, as a reader would; `python scripts/lessons.py` writes them back executed.

The saved notebooks hold the still pictures and no widget state: a saved widget would ask for a kernel that is gone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[1]
LESSONS = ROOT / "notebooks"

_CELL_FILE = re.compile(r"[\w./\\-]*ipykernel_\d+/\d+\.py")  # the kernel's name for a cell's text

Silent = Callable[[str], str]
"""Runs code in the lesson's kernel without leaving a cell; returns what it printed."""


class Lesson:
    """One notebook and its kernel, cell by cell.

    Args:
        path: The notebook; its folder is the kernel's working directory.
        kernel: Name of the kernel to run it on.
    """

    def __init__(self, path: Path, kernel: str = "python3") -> None:
        self.notebook = nbformat.read(path, as_version=4)
        # Debugger noise would end up in the saved outputs.
        os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
        self.client = NotebookClient(
            self.notebook,
            kernel_name=kernel,
            timeout=120,
            store_widget_state=False,
            extra_arguments=["--log-level=ERROR"],
            resources={"metadata": {"path": str(path.parent)}},
        )

    def run(self, after_cell: Callable[[Any, Silent], None] = lambda cell, silent: None) -> nbformat.NotebookNode:
        """Execute all cells.

        Args:
            after_cell: Called with each code cell that ran and a function that runs code silently.

        Raises:
            nbclient.exceptions.CellExecutionError: A cell failed that isn't tagged `raises-exception`.
        """
        with self.client.setup_kernel():
            for index, cell in enumerate(list(self.notebook.cells)):
                self.client.execute_cell(cell, index)
                if cell.cell_type == "code":
                    after_cell(cell, self._silent)
        for cell in self.notebook.cells:
            cell.metadata.pop("execution", None)  # times of this run: noise in a diff
        self.notebook.metadata.pop("widgets", None)
        return self.notebook

    def _silent(self, code: str) -> str:
        cell = nbformat.v4.new_code_cell(code)
        self.notebook.cells.append(cell)  # nbclient wants the cell to be one of the notebook's
        try:
            self.client.execute_cell(cell, len(self.notebook.cells) - 1, store_history=False)
        finally:
            self.notebook.cells.pop()
        return "".join(output.text for output in cell.outputs if output.output_type == "stream")


def without_places(path: Path) -> None:
    """Take the names of this machine's files out of the saved tracebacks: they mean nothing to a reader."""
    path.write_text(_CELL_FILE.sub("cell.py", path.read_text(encoding="utf-8")), encoding="utf-8")


def lessons() -> list[Path]:
    """All lessons, in their order."""
    return sorted(LESSONS.glob("[0-9]*.ipynb"))


def main() -> None:
    for path in lessons():
        nbformat.write(Lesson(path).run(), path)
        without_places(path)
        print(f"{path.relative_to(ROOT)}: executed and written")


if __name__ == "__main__":
    main()
