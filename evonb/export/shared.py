"""Reads the shared drawing assets: the same files that the browser bundle is built from."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def text(name: str) -> str:
    """The text of one file in `evonb/export/assets`."""
    return (files("evonb.export") / "assets" / name).read_text(encoding="utf-8")


@cache
def shapes() -> dict[str, Any]:
    """Shapes and places from `glyphs.json`. Shared: don't change it."""
    loaded: dict[str, Any] = json.loads(text("glyphs.json"))
    return loaded


def place(group: str, name: str) -> float:
    """One number of the drawing geometry, such as `place("node", "radius")`."""
    return float(shapes()[group][name])
