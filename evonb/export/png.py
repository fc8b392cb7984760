"""The still picture as pixels, for slides, chats and mail."""

from __future__ import annotations

from evonb._optional import require
from evonb.export.still import still_svg
from evonb.export.style import Scheme
from evonb.protocol.snapshot import Snapshot


def to_png(snapshot: Snapshot, *, scheme: Scheme = "light", zoom: float = 2.0) -> bytes:
    """The picture that `still_svg` gives, as a PNG.

    Args:
        snapshot: The graph, its layout and how its run stands.
        scheme: Colours for a light or for a dark ground.
        zoom: Pixels of the picture for one pixel at 100 %; 2 is right for sharp screens.

    Raises:
        MissingDependency: The package `resvg_py`, which draws without a browser, isn't installed.
    """
    renderer = require("resvg_py", "to draw a picture as PNG")
    drawn: bytes = bytes(renderer.svg_to_bytes(svg_string=still_svg(snapshot, scheme=scheme), zoom=zoom))
    return drawn
