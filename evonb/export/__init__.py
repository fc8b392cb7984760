"""Pictures of a graph without a notebook: still pictures, one-file HTML, and exports for other tools."""

from __future__ import annotations

from evonb.export.dot import to_dot
from evonb.export.interchange import to_graphml, to_networkx
from evonb.export.mermaid import to_mermaid
from evonb.export.page import PageRenderer, html_picture, write_page
from evonb.export.png import to_png
from evonb.export.still import still_svg, still_text

__all__ = [
    "PageRenderer",
    "html_picture",
    "still_svg",
    "still_text",
    "to_dot",
    "to_graphml",
    "to_mermaid",
    "to_networkx",
    "to_png",
    "write_page",
]
