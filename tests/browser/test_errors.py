"""What goes wrong shows at the node, in words, and leaves the graph usable."""

from __future__ import annotations

from pathlib import Path

from conftest import OpenNotebook
from picture import SETUP, Picture
from playwright.sync_api import expect

BROKEN = """%%evograph grades
class State(TypedDict):
    score: int
    grade: str

@node
def read(state):
    return {"score": 7}

@node
def grade(state):
    points = state["socre"]
    return {"grade": "A" if points > 5 else "B"}

START >> read >> grade >> END
"""


def test_an_exception_turns_its_node_red_and_explains_itself(open_notebook: OpenNotebook, screens: Path) -> None:
    notebook = open_notebook(SETUP, BROKEN, "await grades.run({})")
    notebook.run(0)
    notebook.run(1)
    notebook.run(2, fails=True)  # a runner of notebooks must see it, too
    picture = Picture(notebook, 1)
    picture.expect_nodes(read="done", grade="failed")
    picture.expect_chip("Failed")
    card = picture.root.locator(".card").first
    expect(card).to_contain_text("socre")
    expect(card).to_contain_text("line 12, graph 'grades' > node 'grade'")
    expect(card).to_contain_text("'score'")
    expect(card).to_contain_text('points = state["socre"]')
    card.locator("summary").first.click()
    expect(card).to_contain_text("KeyError")
    picture.screenshot(screens / "error-card.png")

    output = notebook.cell(2).locator(".jp-OutputArea")
    expect(output).to_contain_text("socre")
    expect(output).to_contain_text("grade")


def test_a_cell_that_cannot_be_built_leaves_the_graph_that_was_there(open_notebook: OpenNotebook) -> None:
    notebook = open_notebook(
        SETUP, BROKEN, BROKEN.replace(">> grade >>", ">> grad >>"), BROKEN + "oops(", "type(grades).__name__"
    )
    for cell in range(5):
        notebook.run(cell, fails=cell in (2, 3))
    expect(notebook.cell(2).locator(".jp-OutputArea")).to_contain_text("grad")
    expect(notebook.cell(3).locator(".jp-OutputArea")).to_contain_text("never closed")
    notebook.cell(4).get_by_text("GraphEngine").wait_for()
    Picture(notebook, 1).expect_nodes(read="idle")


def test_an_unknown_option_of_the_magic_offers_near_names(open_notebook: OpenNotebook) -> None:
    notebook = open_notebook(SETUP, BROKEN.replace("%%evograph grades", "%%evograph grades --timout 3"))
    notebook.run(0)
    notebook.run(1, fails=True)
    expect(notebook.cell(1).locator(".jp-OutputArea")).to_contain_text("--timeout")


def test_names_from_data_are_text_and_never_markup(open_notebook: OpenNotebook, screens: Path) -> None:
    evil = "<img src=x onerror=alert(1)>"
    notebook = open_notebook(
        SETUP + "from evonb.graph import GraphBuilder",
        f"evil = {evil!r}\n"
        "class State(TypedDict):\n    text: str\n\n"
        "builder = GraphBuilder(state_schema=State, name=evil)\n"
        "def work(state, stream_writer):\n    stream_writer.put(evil)\n    return {'text': evil}\n"
        "builder.add_node(evil, work)\nbuilder.set_entry_point(evil)\nbuilder.add_edge(evil, END)\n"
        "graph = builder.build()\ngraph",
        "result = await graph.run({'text': evil})",
    )
    for cell in range(3):
        notebook.run(cell)
    picture = Picture(notebook, 1)
    picture.expect_node(evil, "done")
    expect(picture.node(evil).locator(".name")).to_contain_text("<img src=x onerror=alert(1)")
    picture.node(evil).click()
    picture.expect_text(evil)
    assert notebook.page.locator(".jp-Notebook img[src='x']").count() == 0
    picture.screenshot(screens / "markup-as-text.png")
