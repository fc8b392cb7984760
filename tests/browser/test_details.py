"""Clicks and keys: a node opens its details, the values are those of the kernel, everything works without a mouse."""

from __future__ import annotations

from pathlib import Path

from conftest import OpenNotebook
from harness import Notebook
from picture import SETUP, Picture
from playwright.sync_api import expect

GRAPH = '''%%evograph shop
class State(TypedDict):
    item: str
    price: int
    note: str

@node
def look_up(state):
    """Find what the item costs."""
    return {"price": len(state["item"]) * 100}

@node
def pay(state):
    """Say what was paid."""
    return {"note": f"paid {state['price']}"}

START >> look_up >> pay >> END
'''


def shop(open_notebook: OpenNotebook) -> tuple[Notebook, Picture]:
    notebook = open_notebook(SETUP, GRAPH, 'result = await shop.run({"item": "lamp"})')
    for cell in range(3):
        notebook.run(cell)
    picture = Picture(notebook, 1)
    picture.expect_nodes(look_up="done", pay="done")
    return notebook, picture


def test_a_click_shows_what_a_node_is_and_what_it_did(open_notebook: OpenNotebook, screens: Path) -> None:
    notebook, picture = shop(open_notebook)
    picture.node("look_up").click()
    picture.expect_text("Find what the item costs.")
    picture.expect_text("lamp")
    expect(picture.root).to_contain_text("400")
    expect(picture.root).to_contain_text('len(state["item"]) * 100')
    picture.screenshot(screens / "details.png")
    assert notebook.ask("result['price'], result['note']") == "(400, 'paid 400')"


def test_the_final_state_shows_when_the_run_is_over(open_notebook: OpenNotebook) -> None:
    _, picture = shop(open_notebook)
    picture.expect_text("paid 400")


def test_a_graph_is_read_by_keyboard_alone(open_notebook: OpenNotebook) -> None:
    notebook, picture = shop(open_notebook)
    keys = notebook.page.keyboard
    picture.node("start").focus()
    keys.press("ArrowDown")
    expect(picture.node("look_up")).to_be_focused()
    keys.press("ArrowDown")
    expect(picture.node("pay")).to_be_focused()
    keys.press("ArrowUp")
    keys.press("Enter")
    picture.expect_text("Find what the item costs.")
    keys.press("Escape")
    expect(picture.root.get_by_text("Find what the item costs.", exact=True)).to_have_count(0)
    keys.press("l")
    picture.expect_text("waits at a join")
    keys.press("Escape")
    assert notebook.js("return panel.content.mode;") == "command", "keys of the view must not edit the notebook"
    expect(notebook.page.locator(".jp-Notebook .jp-Cell")).to_have_count(3)


def test_each_node_is_spoken_with_its_state(open_notebook: OpenNotebook) -> None:
    _, picture = shop(open_notebook)
    label = picture.node("pay").get_attribute("aria-label") or ""
    assert "pay" in label
    assert "done" in label


def test_the_picture_zooms_and_fits(open_notebook: OpenNotebook) -> None:
    _, picture = shop(open_notebook)
    before = picture.node("pay").bounding_box()
    picture.node("pay").focus()
    picture.page.keyboard.press("+")
    picture.page.wait_for_function(
        "([node, width]) => node.getBoundingClientRect().width > width * 1.05",
        arg=[picture.node("pay").element_handle(), before["width"] if before else 0],
    )
    picture.page.keyboard.press("f")
    expect(picture.node("start")).to_be_in_viewport()
    expect(picture.node("end")).to_be_in_viewport()
