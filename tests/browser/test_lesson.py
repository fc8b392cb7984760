"""Lesson 1 in the hands of a reader: run it in JupyterLab, look, and find what the text promises."""

from __future__ import annotations

from pathlib import Path

import nbformat
from conftest import IPYKERNEL6, OpenNotebook
from gates import KERNEL_SIDE, Gates
from picture import SETUP, Picture
from playwright.sync_api import expect

LESSON = Path(__file__).resolve().parents[2] / "notebooks" / "01_first_graph.ipynb"


def lesson_cells() -> list[nbformat.NotebookNode]:
    cells = nbformat.read(LESSON, as_version=4).cells
    for cell in cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return list(cells)


def index_of(cells: list[nbformat.NotebookNode], text: str) -> int:
    return next(number for number, cell in enumerate(cells) if cell.cell_type == "code" and text in cell.source)


def test_lesson_one_lights_up_and_ends_as_its_text_says(open_notebook: OpenNotebook, screens: Path) -> None:
    cells = lesson_cells()
    notebook = open_notebook(*cells)
    graph_cell = index_of(cells, "%%evograph")
    first_run = index_of(cells, 'tickets["T-101"]})')
    junk_run = index_of(cells, 'tickets["T-105"]})')
    failing_run = index_of(cells, 'tickets["T-108"]})')
    repaired_run = next(
        number for number, cell in enumerate(cells) if number > failing_run and "def search_help" in cell.source
    )
    for number in range(first_run):
        if cells[number].cell_type == "code":
            notebook.run(number)
    picture = Picture(notebook, graph_cell)
    picture.watch()

    notebook.start(first_run)
    picture.expect_node("draft", "running")
    picture.expect_text("Thank you for telling us")
    picture.screenshot(screens / "lesson-drafting.png")
    picture.expect_chip("Done")
    picture.expect_nodes(classify="done", past_tickets="done", look_up_help="done", revise="done", send="done")
    picture.expect_nodes(close="skipped")
    expect(picture.node("review").locator(".times")).to_have_text("×2")
    expect(notebook.cell(first_run).locator(".jp-OutputArea")).to_contain_text("within 5 days")
    assert "pulse" in picture.seen()["review>revise"]
    picture.screenshot(screens / "lesson-done.png")

    notebook.run(junk_run)
    picture.expect_nodes(classify="done", close="done", draft="skipped")
    picture.expect_edge("classify>open_case", "off")

    notebook.run(failing_run, fails=True)
    picture.expect_nodes(look_up_help="failed")
    picture.expect_text("NoneType")
    picture.screenshot(screens / "lesson-failed.png")

    notebook.run(repaired_run)
    picture.expect_nodes(look_up_help="done", send="done")
    assert notebook.ask("result['outcome']") == "'answered'"


def test_the_older_kernel_animates_too(open_notebook: OpenNotebook, gates: Gates, screens: Path) -> None:
    gates.make("fetch")
    notebook = open_notebook(
        SETUP + KERNEL_SIDE + "import ipykernel",
        '%%evograph tour\nclass State(TypedDict):\n    log: Annotated[list, "extend"]\n\n'
        '@node\nasync def fetch(state, stream_writer):\n    "Get it."\n    stream_writer.put("half way")\n'
        '    await wait_at_async("fetch")\n    return {"log": ["fetch"]}\n\n'
        '@node\ndef keep(state):\n    wait_at("fetch")\n    return {"log": ["keep"]}\n\n'
        "START >> fetch >> keep >> END",
        "result = await tour.run({})\nprint(result['log'])",
        "handle = tour.start({})",
        kernel=IPYKERNEL6,
    )
    notebook.run(0)
    assert notebook.ask("ipykernel.version_info[0]") == "6"
    notebook.run(1)
    picture = Picture(notebook, 1)
    notebook.start(2)
    picture.expect_nodes(fetch="running", keep="idle")
    picture.expect_text("half way")
    gates.open("fetch")
    picture.expect_nodes(fetch="done", keep="running")
    gates.open("fetch")
    picture.expect_nodes(keep="done")
    notebook.cell(2).get_by_text("['fetch', 'keep']").wait_for()

    notebook.run(3)
    picture.expect_nodes(fetch="running")
    picture.node("fetch").click()
    picture.expect_text("Get it.")
    gates.open("fetch", "fetch")
    picture.expect_nodes(fetch="done", keep="done")
    picture.screenshot(screens / "ipykernel6.png")
