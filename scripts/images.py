"""Take the pictures of the README from a real JupyterLab that runs lesson 1: `make images`."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import nbformat
from lessons import LESSONS, ROOT

sys.path.insert(0, str(ROOT / "tests" / "browser"))

from harness import Notebook, browser, lab_server
from picture import Picture

IMAGES = ROOT / "docs" / "images"
LESSON = LESSONS / "01_first_graph.ipynb"
TRIES = 5  # on a busy machine the run may end before the picture is taken


def cleared_copy(folder: Path) -> list[str]:
    """Copy the lesson and its data, without outputs; returns the sources of its cells, "" for a text."""
    shutil.copytree(LESSONS / "data", folder / "data")
    notebook = nbformat.read(LESSON, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    nbformat.write(notebook, folder / LESSON.name)
    return [cell.source if cell.cell_type == "code" else "" for cell in notebook.cells]


def take(notebook: Notebook, sources: list[str], suffix: str = "") -> None:
    """Run the lesson up to its first run and photograph the graph while its draft streams."""
    run = next(number for number, source in enumerate(sources) if 'tickets["T-101"]})' in source)
    graph = next(number for number, source in enumerate(sources) if source.startswith("%%evograph"))
    for number in range(run):
        if sources[number]:
            notebook.run(number)
    picture = Picture(notebook, graph)
    for _ in range(TRIES):
        notebook.start(run)
        picture.expect_node("revise", "running")
        picture.expect_text("refunded")
        picture.screenshot(IMAGES / f"lesson1{suffix}.png")
        in_time = "running" in (picture.node("revise").get_attribute("class") or "").split()
        picture.expect_chip("Done")
        if in_time:
            return
    raise RuntimeError(
        f"The draft was never photographed while it streamed, in {TRIES} runs\n  fix:   try when the machine is idle"
    )


def main() -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name, lab_server(Path(name)) as server, browser(1180, 1100) as chrome:
        sources = cleared_copy(Path(name))
        notebook = Notebook(chrome.new_page(), server, LESSON.name)
        notebook.open()
        take(notebook, sources)
        notebook.set_theme("JupyterLab Dark")
        take(notebook, sources, "-dark")
    for image in sorted(IMAGES.glob("*.png")):
        print(f"{image.relative_to(ROOT)}: {image.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
