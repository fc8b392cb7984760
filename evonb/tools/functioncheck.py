"""Which functions can be tools, under which names, and how they run. Pure questions; no tool is made here."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from typing import Any

from evonb.tools.errors import ToolError
from evonb.tools.text import preview

__all__ = ["checked_function", "checked_name", "is_async", "is_method"]

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")


def checked_function(function: Any) -> Callable[..., Any]:
    """The function itself, or the one inside a staticmethod.

    Raises:
        ToolError: It can't be a tool: not callable, a class, or a generator.
    """
    if isinstance(function, staticmethod):
        return function.__func__
    if isinstance(function, classmethod | type) or not callable(function):
        found = "a class" if isinstance(function, type) else f"a {type(function).__name__}"
        raise ToolError(
            f"A function was expected, found {found}: {preview(function)}",
            where="@tool",
            fix="put @tool below @classmethod; decorate the methods of a class, not the class itself",
        )
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise ToolError(
            "The function yields, but a tool answers once",
            where=f"function {function.__qualname__}",
            fix="return the result; for pieces on the way, take a parameter `stream_writer` and call its put(piece)",
        )
    return function  # type: ignore[no-any-return]


def checked_name(name: str) -> str:
    """The name, if servers accept it.

    Raises:
        ToolError: They don't; the fix holds a name that they would.
    """
    if _NAME.match(name):
        return name
    mended = re.sub(r"[^A-Za-z0-9_-]+", "_", name).strip("_")[:64] or "my_tool"
    raise ToolError(
        f"{name!r} can't be the name of a tool: servers allow 1 to 64 of the letters a-z, A-Z, 0-9, _ and -",
        where="@tool",
        fix=f"pass name={mended!r}",
    )


def is_method(function: Callable[..., Any], inner: Callable[..., Any]) -> bool:
    """Whether the function was written in a class body and waits for its instance or class."""
    if inspect.ismethod(function) or not inspect.isfunction(inner):
        return False
    if isinstance(function, functools.partial) or not inspect.isroutine(function):
        return False
    first = next(iter(inspect.signature(inner).parameters), "")
    return first in ("self", "cls") and "." in inner.__qualname__.rpartition("<locals>.")[2]


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling it gives a coroutine."""
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004
