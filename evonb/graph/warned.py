"""Warnings of graphs: every run gives its own, at the user's line; none names a line of ours."""

from __future__ import annotations

import warnings
from typing import Any

from evonb.graph.failure import GraphWarning
from evonb.graph.places import calling_place, def_place
from evonb.graph.streaming import current_frame

__all__ = ["warn"]


def warn(text: str, function: Any = None) -> None:
    """Warn: once per run while a node runs, else every time. A running node is told of by the run's events too.

    Python's own filters hold as ever, but what one run was told isn't kept from the next, as it would be for warnings
    that come from one line of code.

    Args:
        text: The warning.
        function: The function that it is about, at whose definition it is shown. None takes the node that is running,
            or the user's line that is under way.
    """
    frame = current_frame()
    if frame is not None and frame.run is not None and not frame.run.note(frame, text):
        return
    if function is None and frame is not None:
        function = frame.function()
    place = (None if function is None else def_place(function)) or calling_place() or ("evonb", 1)
    warnings.warn_explicit(text, GraphWarning, *place)
