"""The notebook languages: `%%evograph` declares a graph in a cell, `%evo` lists, shows and runs graphs."""

from __future__ import annotations

from typing import Any

from evonb._optional import require

__all__ = ["load", "unload"]

_loaded: dict[int, Any] = {}


def load(shell: Any) -> None:
    """Add everything to this shell; a second call changes nothing.

    Raises:
        MissingDependency: IPython or the widget packages aren't installed.
    """
    require("IPython", "for the notebook languages")
    require("anywidget", "to show graphs in a notebook")
    from evonb.magics.extension import Extension

    if id(shell) not in _loaded:
        _loaded[id(shell)] = Extension(shell)


def unload(shell: Any) -> None:
    """Take back everything that `load` added."""
    if (extension := _loaded.pop(id(shell), None)) is not None:
        extension.unload()
