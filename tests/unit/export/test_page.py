"""The one-file page: offline, UTF-8, names as text, both schemes."""

from __future__ import annotations

import re
import webbrowser
from html.parser import HTMLParser
from pathlib import Path

import export_sample
import pytest

from evonb.export.page import PageRenderer, html_picture, write_page
from evonb.graph.ports import default_renderer
from evonb.graph.topology import EdgeInfo, NodeInfo, Topology

_NAMES = ["<script>alert(1)</script>", "</style><b>x", "-->", "ε 分类 🚀", 'a" onload="alert(1)']


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def _read(page: str) -> _Reader:
    reader = _Reader()
    reader.feed(page)
    return reader


def _topology() -> Topology:
    nodes = tuple(NodeInfo(name, name) for name in _NAMES)
    return Topology(_NAMES[0], nodes, (EdgeInfo("e", _NAMES[0], _NAMES[1], "conditional", label=_NAMES[2]),))


def test_the_graph_core_finds_this_renderer() -> None:
    assert isinstance(default_renderer(), PageRenderer)


def test_the_page_fetches_nothing() -> None:
    page = PageRenderer().html_page(export_sample.support())
    reader = _read(page)
    assert not [tag for tag, attrs in reader.tags if {"src", "href", "data", "action"} & attrs.keys()]
    assert not re.search(r"@import|url\((?!#)|fetch\(|XMLHttp|import\(", page)
    assert "default-src 'none'" in page


def test_names_are_text_in_the_page() -> None:
    page = PageRenderer().html_page(_topology())
    assert not [name for name in _NAMES[:2] if name in page]
    reader = _read(page)
    assert not [name for _, attrs in reader.tags for name in attrs if name.startswith("on")]
    assert [tag for tag, _ in reader.tags].count("script") == 1
    assert set(_NAMES) <= {word.strip() for word in reader.words}


def test_the_script_and_style_of_the_page_are_closed_once() -> None:
    page = PageRenderer().html_page(_topology())
    assert page.count("</script") == 1
    assert page.count("</style") == 1


def test_dark_comes_from_the_readers_preference() -> None:
    page = PageRenderer().html_page(export_sample.support())
    assert "@media (prefers-color-scheme: dark) { .evo {" in page
    assert "data-evo-scheme" not in page


def test_a_run_is_shown_as_picture_and_in_words() -> None:
    page = html_picture(export_sample.failed())
    words = " ".join(_read(page).words)
    assert "KeyError in run_tests" in words
    assert "at run_tests, step 9" in words


def test_the_file_is_utf8_whatever_the_machine_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    path = write_page(export_sample.idle(_topology()), tmp_path / "picture.html")
    assert "ε 分类 🚀" in path.read_bytes().decode("utf-8")
    assert '<meta charset="utf-8">' in path.read_text(encoding="utf-8")


def test_opening_hands_a_file_address_to_the_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    path = tmp_path / "mit Leerzeichen #1.html"
    PageRenderer().open_page(path)
    assert opened == [path.as_uri()]
    assert opened[0].startswith("file:///")
