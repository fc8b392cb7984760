"""A picture as one HTML file: it opens anywhere, needs no net, and follows the reader's light or dark scheme."""

from __future__ import annotations

import re
import webbrowser
from html import escape
from pathlib import Path

from evonb.export.layout import layout
from evonb.export.measure import clean
from evonb.export.picture import glyph
from evonb.export.shared import shapes, text
from evonb.export.still import still_element, still_text
from evonb.export.style import styles
from evonb.export.svg import Element, el, path, write
from evonb.export.words import chip, headline
from evonb.graph.topology import Topology
from evonb.protocol.blank import empty_snapshot
from evonb.protocol.encode import to_wire_graph
from evonb.protocol.snapshot import Snapshot

__all__ = ["PageRenderer", "html_picture", "write_page"]

# The browser itself refuses whatever the page might want to fetch.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


class PageRenderer:
    """Draws a graph without a notebook; the default `Renderer` of the graph core."""

    def html_page(self, topology: Topology) -> str:
        """One offline HTML page with the graph before any run."""
        return html_picture(empty_snapshot(to_wire_graph(topology), layout(topology).to_wire()))

    def open_page(self, path: Path) -> None:
        """Show a written page in the user's browser."""
        webbrowser.open(path.resolve().as_uri())


def html_picture(snapshot: Snapshot) -> str:
    """One offline HTML page with the state of a run: the picture, zoom and pan, and the same in words below.

    Names, values and messages appear as text, whatever they hold. Write it as UTF-8, as `write_page` does.
    """
    look, word = chip(snapshot)
    name = escape(clean(snapshot["graph"]["name"]))
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{name} · {word}</title>
<style>
{_style_sheet()}</style>
</head>
<body>
<main class="evo">
<header class="bar"><span class="chip {look}">{_icon(glyph(look, 0, 0))}{word}</span><h1 title="{name}">{name}</h1>\
<span class="facts">{escape(clean(headline(snapshot)))}</span></header>
<div class="stage">
{write(still_element(snapshot, bare=True), styles("light"))}
{_zoom_bar()}
</div>
<details><summary>In words</summary><pre>{_plain(still_text(snapshot))}</pre></details>
</main>
<script>
{text("page.js")}</script>
</body>
</html>
"""


def write_page(snapshot: Snapshot, path: Path) -> Path:
    """Write the page of a snapshot, always as UTF-8, and return its path.

    Raises:
        OSError: The file can't be written.
    """
    path.write_text(html_picture(snapshot), encoding="utf-8")
    return path


def _style_sheet() -> str:
    """The shared rules; those for the dark scheme apply by the reader's preference."""
    sheet = text("tokens.css") + text("picture.css") + text("still.css") + text("page.css")
    sheet = re.sub(r"/\*.*?\*/\n*", "", sheet, flags=re.DOTALL)
    dark = r'\.evo\[data-evo-scheme="dark"\]([^{]*)\{([^}]*)\}'
    return re.sub(dark, r"@media (prefers-color-scheme: dark) { .evo\1{\2} }", sheet)


def _plain(words: str) -> str:
    return "\n".join(escape(clean(line)) for line in words.split("\n"))


def _icon(shape: Element) -> str:
    return write(el("svg", "", shape, viewBox="0 0 16 16", aria_hidden="true"), styles("light"))


def _zoom_bar() -> str:
    buttons = (("minus", "-", "Zoom out"), ("", "", ""), ("plus", "+", "Zoom in"), ("fit", "f", "Fit"))
    parts = []
    for name, key, said in buttons:
        if not name:
            parts.append("<output>100 %</output>")
            continue
        shape = el("g", "", *(path(part["as"], part["d"]) for part in shapes()["icons"][name]))
        hint = f"{said} ({key.upper()})"
        parts.append(
            f'<button type="button" data-key="{key}" title="{hint}" aria-label="{said}">{_icon(shape)}</button>'
        )
    return f'<div class="zoom">{"".join(parts)}</div>'
