"""Places in the user's source: of an error's frame, of a function, of the call that is under way.

The engine's own frames are never shown, and those of installed libraries only where there is nothing else.
"""

from __future__ import annotations

import functools
import linecache
import os
import re
import sys
from types import CodeType, FrameType, TracebackType
from typing import Any

from evonb._optional import loaded

__all__ = [
    "Place",
    "calling_place",
    "def_place",
    "frames_of",
    "is_installed",
    "is_ours",
    "place_of",
    "source_around",
    "users_frame",
]

Place = tuple[str, int]
"""A file name, as code objects have it, and a line."""

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_AROUND = 3  # lines of source on either side


def frames_of(trace: TracebackType | None) -> list[tuple[FrameType, int]]:
    """The frames of a traceback that aren't ours, outermost first, each with its line."""
    found = []
    while trace is not None:
        if not is_ours(trace.tb_frame.f_code.co_filename):
            found.append((trace.tb_frame, trace.tb_lineno))
        trace = trace.tb_next
    return found


def users_frame(trace: TracebackType | None) -> tuple[FrameType, int] | None:
    """The innermost frame of the user's own code: not ours, not an installed library's unless there is no other."""
    frames = frames_of(trace)
    mine = [each for each in frames if not is_installed(each[0].f_code.co_filename)]
    return (mine or frames)[-1] if frames else None


def is_ours(filename: str) -> bool:
    """Whether it is a file of this package."""
    return filename.startswith(_HERE + os.sep)


def is_installed(filename: str) -> bool:
    """Whether it belongs to a library, Python's own included."""
    library = os.path.dirname(os.__file__)
    return "site-packages" in filename or filename.startswith((library, "<frozen"))


def def_place(function: Any) -> Place | None:
    """Where a callable is defined: the line of its `def`, not of its decorators. None for what isn't Python."""
    code = _code_of(function)
    if code is None:
        return None
    lines = linecache.getlines(code.co_filename)
    for line in range(code.co_firstlineno, min(len(lines), code.co_firstlineno + 40) + 1):
        if re.match(r"\s*(async\s+)?def\s", lines[line - 1]):
            return code.co_filename, line
        if not re.match(r"\s*([@)\]}#\"'\w].*)?$", lines[line - 1]) or code.co_name == "<lambda>":
            break
    return code.co_filename, code.co_firstlineno


def _code_of(function: Any) -> CodeType | None:
    for _ in range(20):  # wrappers in wrappers
        if isinstance(function, functools.partial):
            function = function.func
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        else:
            break
    code = getattr(function, "__code__", None) or getattr(getattr(type(function), "__call__", None), "__code__", None)  # noqa: B004 - the method itself
    return code if isinstance(code, CodeType) and not is_ours(code.co_filename) else None


def calling_place() -> Place | None:
    """The user's line that is under way on this thread: of the innermost frame that is neither ours nor a library's."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        filename = frame.f_code.co_filename
        if not is_ours(filename) and not is_installed(filename):
            return filename, frame.f_lineno
        frame = frame.f_back
    return None


def place_of(filename: str, line: int) -> str:
    """ "cell [3], line 24" for code of a notebook, "triage.py:24" for a file."""
    cell = _cell_of(filename)
    return f"{cell}, line {line}" if cell else f"{os.path.basename(filename)}:{line}"


def _cell_of(filename: str) -> str:
    found = re.match(r"<ipython-input-(\d+)-", filename)
    if found:
        return f"cell [{found[1]}]"
    ipython = loaded("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    names = getattr(getattr(shell, "compile", None), "_filename_map", {})
    number = names.get(filename)
    if number is not None:
        return f"cell [{number}]"
    return "cell" if "ipykernel_" in filename else ""


def source_around(filename: str, line: int) -> tuple[tuple[int, str, bool], ...]:
    """The lines around one: number, text, whether it is the one."""
    lines = linecache.getlines(filename)
    first = max(1, line - _AROUND)
    last = min(len(lines), line + _AROUND)
    return tuple((number, lines[number - 1].rstrip("\n"), number == line) for number in range(first, last + 1))
