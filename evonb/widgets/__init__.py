"""Live views of graphs for notebooks: `GraphView`, `DebuggerView`, `InputForm`; and `show`, which picks the view and
adds a still picture for every other reader.

They load on first use, so that the feed below them works where no notebook packages are.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from evonb._optional import require

if TYPE_CHECKING:
    from evonb.widgets.debugger_view import DebuggerView
    from evonb.widgets.display import show
    from evonb.widgets.graph_view import GraphView
    from evonb.widgets.input_form import InputForm

__all__ = ["DebuggerView", "GraphView", "InputForm", "show"]

_HOMES = {
    "DebuggerView": "evonb.widgets.debugger_view",
    "GraphView": "evonb.widgets.graph_view",
    "InputForm": "evonb.widgets.input_form",
    "show": "evonb.widgets.display",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'evonb.widgets' has no attribute {name!r}")
    require("anywidget", "to show a graph in a notebook")
    return getattr(import_module(_HOMES[name]), name)
