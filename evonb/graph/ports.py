"""The doors through which the graph core reaches outwards: the store and the renderer.

The only module of `evonb.graph` that may load a higher layer, and only when a door is opened.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from evonb.graph.topology import Topology


class Renderer(Protocol):
    """Draws a graph without a notebook."""

    def html_page(self, topology: Topology) -> str:
        """One offline HTML page with the picture; names appear as text, never as markup."""

    def open_page(self, path: Path) -> None:
        """Show a written page in the user's browser."""


def default_renderer() -> Renderer:
    """The renderer of `evonb.export`, loaded on first use."""
    module = import_module("evonb.export.page")
    return cast(Renderer, module.PageRenderer())
