"""`draw_graph`: the picture as a file, by the renderer behind the port."""

from __future__ import annotations

import tempfile
from pathlib import Path

from evonb.graph.ports import default_renderer
from evonb.graph.topology import Topology

__all__ = ["draw"]


def draw(topology: Topology, save_path: str | None, *, auto_open: bool) -> None:
    """Write a page, open it, or both; with neither asked for, the page is made and forgotten.

    Raises:
        OSError: The page can't be written.
    """
    renderer = default_renderer()
    page = renderer.html_page(topology)
    if save_path is not None:
        path = Path(save_path)
        path.write_text(page, encoding="utf-8")
    elif auto_open:
        # A browser reads the file after we are gone, so this one has to stay.
        with tempfile.NamedTemporaryFile("w", suffix=".html", prefix="graph-", delete=False, encoding="utf-8") as file:
            file.write(page)
        path = Path(file.name)
    else:
        return
    if auto_open:
        renderer.open_page(path)
