"""The still picture beside a live view: an ordinary output that every reader of a notebook can show.

GitHub, nbconvert, papermill and a notebook whose kernel is gone show it; where the live view lives it is hidden.
"""

from __future__ import annotations

import secrets
from typing import Any

from evonb._optional import require
from evonb.export.still import still_svg, still_text
from evonb.logger import get_logger
from evonb.protocol.snapshot import Snapshot
from evonb.widgets.feed import Feed

__all__ = ["HIDING_RULES", "Still", "still_bundle"]

_log = get_logger(__name__)

HIDING_RULES = """<style data-evo-still>
/* This output holds only these rules. */
.jp-OutputArea-child:has(style[data-evo-still]) { display: none; }
/* The live view is there: no still picture. */
.jp-OutputArea-child:has(.evo) + .jp-OutputArea-child:has(style[data-evo-still])
  + .jp-OutputArea-child { display: none; }
/* The live view isn't there (another kernel, or not yet): no message about it, the still picture says more. */
.jp-OutputArea-child:has(+ .jp-OutputArea-child style[data-evo-still])
  > .jp-OutputArea-output:not(:has(:not(pre:empty))) { display: none; }
</style>"""
"""Stands between a live view and its still picture; travels with the notebook: a reopened one runs no code of ours."""


def still_bundle(snapshot: Snapshot) -> dict[str, str]:
    """The picture as a display bundle; the text alone if it can't be drawn."""
    bundle = {"text/plain": still_text(snapshot)}
    try:
        bundle["image/svg+xml"] = still_svg(snapshot)
    except Exception:
        # A display must never end the run or the cell that made it.
        _log.exception("The still picture couldn't be drawn; its text stands instead")
    return bundle


class Still:
    """One displayed still picture that follows its feed's runs."""

    def __init__(self, feed: Feed) -> None:
        self._display = require("IPython.display", "to show a graph in a notebook")
        self._id = f"evo-{secrets.token_hex(8)}"
        self._last = still_bundle(feed.snapshot())
        self._display.publish_display_data(self._last, transient={"display_id": self._id})
        self._stop = feed.watch(self._refresh)

    def close(self) -> None:
        """Leave the picture as it is."""
        self._stop()

    def _refresh(self, snapshot: Snapshot) -> None:
        if snapshot["run"]["status"] == "running":
            return
        bundle = still_bundle(snapshot)
        if bundle != self._last:
            self._last = bundle
            self._publish(bundle)

    def _publish(self, bundle: dict[str, Any]) -> None:
        self._display.publish_display_data(bundle, transient={"display_id": self._id}, update=True)
