"""What a reader finds later: the page reloaded in mid-run, the notebook reopened without its kernel."""

from __future__ import annotations

from pathlib import Path

import nbformat
from conftest import OpenNotebook
from gates import KERNEL_SIDE, Gates
from picture import SETUP, Picture
from playwright.sync_api import expect

GRAPH = """%%evograph relay
class State(TypedDict):
    log: Annotated[list, "extend"]

@node
async def baton(state):
    await wait_at_async("baton")
    return {"log": ["baton"]}

@node
async def finish(state, stream_writer):
    stream_writer.put("over the line")
    await wait_at_async("finish")
    return {"log": ["finish"]}

START >> baton >> finish >> END
"""


def test_a_page_reloaded_in_mid_run_goes_on(open_notebook: OpenNotebook, gates: Gates) -> None:
    gates.make("baton", "finish")
    notebook = open_notebook(SETUP + KERNEL_SIDE, GRAPH, "handle = relay.start({})")
    for cell in range(3):
        notebook.run(cell)
    Picture(notebook, 1).expect_nodes(baton="running")
    notebook.save()
    notebook.open()
    picture = Picture(notebook, 1)
    picture.expect_nodes(baton="running", finish="idle")
    gates.open("baton")
    picture.expect_nodes(baton="done", finish="running")
    picture.expect_text("over the line")
    gates.open("finish")
    picture.expect_nodes(finish="done")
    assert notebook.ask("handle.done") == "True"


def test_a_notebook_reopened_with_a_new_kernel_shows_the_still_picture(
    open_notebook: OpenNotebook, gates: Gates, screens: Path
) -> None:
    gates.make("baton", "finish").open("baton", "finish")
    notebook = open_notebook(SETUP + KERNEL_SIDE, GRAPH, "await relay.run({})")
    for cell in range(3):
        notebook.run(cell)
    Picture(notebook, 1).expect_nodes(finish="done")
    still = notebook.cell(1).locator("img[src^='data:image/svg+xml']")
    expect(still).to_be_hidden()  # the live view stands for it while it lives

    saved = nbformat.read(notebook.save(), as_version=4)
    assert "widgets" not in saved.metadata, "the notebook holds a picture, not the state of a widget"
    notebook.server.end_kernels(notebook.path)
    notebook.open()
    expect(still).to_be_visible()
    size = still.evaluate("image => [image.naturalWidth, image.naturalHeight]")
    assert min(size) > 100
    output = notebook.cell(1).locator(".jp-OutputArea")
    expect(output).not_to_contain_text("model not found")
    expect(output).not_to_contain_text("Error")
    notebook.cell(1).screenshot(path=screens / "reopened.png")


SAVE_STATE = "await app.commands.execute('@jupyter-widgets/jupyterlab-manager:saveWidgetState'); return null;"


def test_running_the_cell_again_and_again_leaves_a_notebook_of_the_same_size(open_notebook: OpenNotebook) -> None:
    notebook = open_notebook(SETUP + KERNEL_SIDE, GRAPH)
    notebook.run(0)
    notebook.run(1)
    Picture(notebook, 1).expect_nodes(baton="idle")
    notebook.js(SAVE_STATE)  # on: the notebook then holds every widget that wasn't closed
    try:
        first = notebook.save().stat().st_size
        for _ in range(20):
            notebook.run(1)
        Picture(notebook, 1).expect_nodes(baton="idle")
        assert notebook.save().stat().st_size < first * 1.2
    finally:
        notebook.js(SAVE_STATE)
