"""The picture follows the host: its theme, its width. Screenshots go to build/screens to be looked at."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import OpenNotebook
from harness import Notebook
from picture import SETUP, Picture
from playwright.sync_api import expect

GRAPH = """%%evograph looks
class State(TypedDict):
    n: int

@node
def one(state):
    return {"n": 1}

@router({"big": "two", "small": END})
def by_size(state):
    return "big"

@node
def two(state):
    return {"n": 2}

START >> one >> by_size
two >> END
"""


@pytest.fixture
def looks(open_notebook: OpenNotebook) -> Iterator[Notebook]:
    notebook = open_notebook(SETUP, GRAPH, "await looks.run({})")
    for cell in range(3):
        notebook.run(cell)
    yield notebook
    notebook.set_theme("JupyterLab Light")


def brightness(picture: Picture) -> float:
    """Of the ground, from 0 to 1; browsers say "rgb(255, 255, 255)" or "color(srgb 1 1 1)"."""
    colour: str = picture.root.evaluate("root => getComputedStyle(root).backgroundColor")
    numbers = [float(number) for number in re.findall(r"[\d.]+", colour)][:3]
    return sum(numbers) / (3 if colour.startswith("color") else 3 * 255)


def test_a_dark_theme_makes_a_dark_picture(looks: Notebook, screens: Path) -> None:
    picture = Picture(looks, 1)
    picture.expect_nodes(one="done", two="done")
    assert brightness(picture) > 0.8
    picture.screenshot(screens / "looks-light.png")
    looks.set_theme("JupyterLab Dark")
    expect(picture.root).to_have_attribute("data-evo-scheme", "dark")
    assert brightness(picture) < 0.3
    picture.screenshot(screens / "looks-dark.png")


def test_a_narrow_window_clips_nothing(looks: Notebook, screens: Path) -> None:
    looks.page.set_viewport_size({"width": 640, "height": 900})
    looks.js("app.shell.collapseLeft(); return null;")
    picture = Picture(looks, 1)
    expect(picture.node("one")).to_be_in_viewport()
    fits = "root => root.scrollWidth <= root.clientWidth + 1 && root.getBoundingClientRect().right <= innerWidth"
    looks.page.wait_for_function(f"([root]) => ({fits})(root)", arg=[picture.root.element_handle()])
    picture.screenshot(screens / "looks-narrow.png")
