"""Take the pictures of the README from a real JupyterLab that runs lessons 1 and 2: `make images`."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import nbformat
from lessons import LESSONS, ROOT

sys.path.insert(0, str(ROOT / "tests" / "browser"))

from harness import Notebook, browser, lab_server
from panel import Panel
from picture import Picture

IMAGES = ROOT / "docs" / "images"
FIRST, DEBUGGING = (LESSONS / name for name in ("01_first_graph.ipynb", "02_debugging.ipynb"))
TRIES = 5  # on a busy machine the run may end before the picture is taken


def cleared_copy(lesson: Path, folder: Path) -> list[str]:
    """Copy a lesson and its data, without outputs; returns the sources of its cells, "" for a text."""
    shutil.copytree(LESSONS / "data", folder / "data", dirs_exist_ok=True)
    notebook = nbformat.read(lesson, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    nbformat.write(notebook, folder / lesson.name)
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


def take_debugger(notebook: Notebook, sources: list[str], suffix: str = "") -> None:
    """Debug lesson 2's graph to its end, with an edit, go back, and photograph the panel."""
    begins = next(number for number, source in enumerate(sources) if source.startswith("%evo debug"))
    back = next(number for number, source in enumerate(sources) if source.startswith("%evo until total > 90"))
    for number in range(back + 1):
        if sources[number]:
            notebook.run(number)
    panel = Panel(notebook, begins)
    panel.expect_status("Past")
    panel.screenshot(IMAGES / f"lesson2{suffix}.png")


def main() -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    shots = ((FIRST, take, (1180, 1100)), (DEBUGGING, take_debugger, (1600, 1400)))
    with tempfile.TemporaryDirectory() as name, lab_server(Path(name)) as server:
        for lesson, shoot, size in shots:
            sources = cleared_copy(lesson, Path(name))
            with browser(*size) as chrome:
                for theme, suffix in (("JupyterLab Light", ""), ("JupyterLab Dark", "-dark")):
                    notebook = Notebook(chrome.new_page(), server, lesson.name)
                    notebook.open()
                    notebook.set_theme(theme)
                    shoot(notebook, sources, suffix)
                    server.end_kernels(lesson.name)
    for image in sorted(IMAGES.glob("*.png")):
        print(f"{image.relative_to(ROOT)}: {image.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
