"""Showing a graph in a notebook: a live view, and a still picture for every reader that can't run it.

Each display is closed when the cell that holds it runs again, so a notebook doesn't grow.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Protocol

from evonb._optional import loaded, require
from evonb.errors import EvonbError
from evonb.export.still import still_text
from evonb.graph.debugger import GraphEngineDebugger
from evonb.widgets.debugger_view import DebuggerView
from evonb.widgets.feed import Feed, Source, feed_of
from evonb.widgets.graph_view import GraphView
from evonb.widgets.still import HIDING_RULES, Still

__all__ = ["close_all", "close_cell", "enter_cell", "has_kernel", "show", "show_builder", "show_once"]

MAX_LIVE = 12
"""Live views of one graph: where the host doesn't say which cell runs again, the oldest ends."""


class Builder(Protocol):
    """What a display needs of a graph builder."""

    @property
    def name(self) -> str: ...

    def build(self) -> Source: ...


@dataclass(slots=True)
class _Shown:
    cell: str | None
    feed: Feed
    view: GraphView
    still: Still

    def close(self) -> None:
        self.still.close()
        self.view.close()


class _Shelf:
    """The displays that live, and the cell that runs."""

    def __init__(self) -> None:
        self.cell: str | None = None
        self.items: list[_Shown] = []


_shelf = _Shelf()


def show(graph: Source) -> None:
    """Show the graph below the running cell: live in a notebook, as text in a terminal. A debugger shows its panel."""
    feed = feed_of(graph)
    if (name := _variable_of(graph)) is not None:
        feed.called(name, "debug" if isinstance(graph, GraphEngineDebugger) else "run")
    if not has_kernel():
        print(still_text(feed.snapshot()))
        return
    display = require("IPython.display", "to show a graph in a notebook")
    view = DebuggerView(graph) if isinstance(graph, GraphEngineDebugger) else GraphView(graph)
    display.publish_display_data(_view_bundle(view))
    display.publish_display_data({"text/html": HIDING_RULES, "text/plain": ""})
    _shelf.items.append(_Shown(_shelf.cell, feed, view, Still(feed)))
    _close_oldest(feed)


def show_builder(builder: Builder) -> None:
    """Show what a builder would build now; while that isn't a graph yet, what is missing, as text."""
    try:
        with warnings.catch_warnings():
            # The picture shows the same findings.
            warnings.simplefilter("ignore")
            engine = builder.build()
    except EvonbError as error:
        print(f"{builder.name} isn't a graph yet. {error}")
        return
    show(engine)


def show_once(graph: Source) -> None:
    """Show the graph live, unless a live view of it (of a debugger: its panel) is displayed already or can't be."""
    feed = feed_of(graph)
    wanted = DebuggerView if isinstance(graph, GraphEngineDebugger) else GraphView
    if has_kernel() and not any(item.feed is feed and isinstance(item.view, wanted) for item in _shelf.items):
        show(graph)


def enter_cell(cell: str | None) -> None:
    """A cell begins: its former outputs are gone, so their views end."""
    _shelf.cell = cell
    if cell is not None:
        close_cell(cell)


def close_cell(cell: str) -> None:
    """End the displays that this cell made."""
    for item in [item for item in _shelf.items if item.cell == cell]:
        _drop(item)


def close_all() -> None:
    for item in list(_shelf.items):
        _drop(item)


def _close_oldest(feed: Feed) -> None:
    mine = [item for item in _shelf.items if item.feed is feed]
    for item in mine[: max(0, len(mine) - MAX_LIVE)]:
        _drop(item)


def _drop(item: _Shown) -> None:
    _shelf.items.remove(item)
    item.close()


def _view_bundle(view: GraphView) -> dict[str, Any]:
    # No text of its own: readers without widgets would show it above the still picture, which has a text.
    reference = {"version_major": 2, "version_minor": 0, "model_id": view.model_id}
    return {"application/vnd.jupyter.widget-view+json": reference, "text/plain": ""}


def _variable_of(graph: Source) -> str | None:
    """The user's variable that holds a graph, "" if there is none; None outside of IPython."""
    ipython = loaded("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None:
        return None
    names = [name for name, value in list(shell.user_ns.items()) if value is graph and not name.startswith("_")]
    own = getattr(graph, "name", "")
    return own if own in names else next(iter(names), "")


def has_kernel() -> bool:
    """Whether this is a notebook's kernel; else a terminal or a script."""
    ipython = loaded("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None
