"""The one-file HTML page in a real browser: its colours, its scheme, zoom and pan, and names that try to be markup."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from harness import Browser
from playwright.sync_api import Page

from evonb.export.page import html_picture, write_page
from evonb.export.still import still_element
from evonb.export.style import Scheme, rgb, styles
from evonb.export.svg import write
from evonb.graph.topology import EdgeInfo, NodeInfo, Topology


def _sample() -> ModuleType:
    path = Path(__file__).parents[1] / "unit" / "export" / "export_sample.py"
    spec = importlib.util.spec_from_file_location("export_sample", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


sample = _sample()

# What a style sheet and an attribute can both say, for each shape and text of the picture. Texts with an outline
# are left out: the still picture draws those twice.
_LOOKS = """() => [...document.querySelectorAll('.stage > svg *')]
  .filter((e) => ['rect', 'path', 'circle', 'text'].includes(e.tagName) && !/label|aside/.test(e.getAttribute('class')))
  .map((e) => { const c = getComputedStyle(e), text = e.tagName === 'text';
    const paint = (value) => { if (!/rgb|srgb/.test(value)) return value.replace(/#evo-[0-9a-f]+/, '#evo');
      const parts = value.match(/[\\d.]+/g).slice(0, 3).map(Number);
      return (value.includes('srgb') ? parts.map((part) => part * 255) : parts).map((part) => Math.round(part)); };
    return [e.tagName, e.getAttribute('class'), paint(c.fill), paint(c.stroke), c.strokeWidth, c.strokeDasharray,
      c.opacity, ...(text ? [c.fontSize, c.fontWeight, c.textAnchor] : [])]; })"""


def _near(first: Any, second: Any) -> bool:
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(abs(a - b) <= 1 for a, b in zip(first, second, strict=True))
    return bool(first == second)


@pytest.fixture
def page(chrome: Browser) -> Any:
    opened = chrome.new_page()
    yield opened
    opened.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("run", ["idle", "running", "failed", "finished"])
def test_the_browsers_styles_are_those_worked_out_for_the_still_picture(page: Page, run: str, scheme: Scheme) -> None:
    snapshot = getattr(sample, run)()
    page.emulate_media(color_scheme=scheme)
    page.set_content(html_picture(snapshot))
    by_browser = page.evaluate(_LOOKS)
    still = write(still_element(snapshot, scheme, bare=True), styles(scheme))
    page.set_content(f"<div class=stage>{still}</div>")
    worked_out = page.evaluate(_LOOKS)
    assert len(by_browser) == len(worked_out) > 50
    for live, plain in zip(by_browser, worked_out, strict=True):
        assert all(_near(a, b) for a, b in zip(live, plain, strict=True)), (live, plain)


def test_the_page_follows_the_readers_scheme(page: Page) -> None:
    page.set_content(html_picture(sample.idle()))
    grounds = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        ground = page.evaluate("getComputedStyle(document.querySelector('.evo')).backgroundColor")
        grounds.append(sum(float(part) for part in ground.strip("rgba()").split(",")[:3]) if "rgb(" in ground else None)
    assert grounds[0] == sum(rgb("#ffffff"))
    assert grounds[0] != grounds[1]


def test_zoom_pan_and_fit(page: Page, tmp_path: Path) -> None:
    page.goto(write_page(sample.idle(), tmp_path / "page.html").as_uri())
    shown = page.locator(".zoom output")
    fitted = shown.inner_text()
    node = page.locator(".node.idle", has_text="human_review").first
    before = node.bounding_box()
    page.get_by_label("Zoom in").click()
    page.get_by_label("Zoom in").click()
    assert shown.inner_text() != fitted
    after = node.bounding_box()
    assert before is not None
    assert after is not None
    assert after["width"] > before["width"] * 1.4
    page.mouse.move(640, 300)
    page.mouse.down()
    page.mouse.move(700, 340)
    page.mouse.up()
    dragged = node.bounding_box()
    assert dragged is not None
    assert dragged["x"] == pytest.approx(after["x"] + 60, abs=1)
    assert dragged["y"] == pytest.approx(after["y"] + 40, abs=1)
    page.keyboard.press("f")
    page.keyboard.press("0")
    assert shown.inner_text() == "100 %"


def test_names_stay_text_and_nothing_leaves_the_machine(page: Page, chrome: Browser, tmp_path: Path) -> None:
    names = ["<img src=x onerror=alert(1)>", "</script><script>alert(2)</script>", "<svg onload=alert(3)>"]
    nodes = tuple(NodeInfo(name, name) for name in names)
    edge = EdgeInfo("e", names[0], names[1], "conditional", label="<b>label</b>")
    snapshot = sample.idle(Topology(names[1], nodes, (edge,)))
    seen = len(chrome.errors), len(chrome.dialogs), len(chrome.blocked)
    page.goto(write_page(snapshot, tmp_path / "page.html").as_uri())
    texts = page.locator(".stage text").all_text_contents()
    assert {*names, "<b>label</b>"} <= set(texts)
    assert page.locator("img, .stage script").count() == 0
    assert (len(chrome.errors), len(chrome.dialogs), len(chrome.blocked)) == seen
