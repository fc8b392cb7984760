"""Which object a `KeyError` came from: whether `state["x"]` raised it, or another dict, or a `raise`."""

from __future__ import annotations

import ast
import linecache
from itertools import islice
from types import FrameType, TracebackType
from typing import Any

from evonb.graph.places import frames_of, is_installed

__all__ = ["asked_of_argument"]

_VARARGS = 0x04


def asked_of_argument(error: KeyError, keys: set[str]) -> bool:
    """Whether `name[...]` raised the error, `name` being the state that the user's function was called with.

    Args:
        error: The error, with its traceback.
        keys: The keys that the state may have.
    """
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    handed = [frame for frame, _ in frames_of(error.__traceback__) if not is_installed(frame.f_code.co_filename)]
    if last is None or not handed:
        return False
    asked = _subscripted(last)
    return isinstance(asked, dict) and asked.keys() <= keys and any(asked is each for each in _arguments(handed[0]))


def _subscripted(trace: TracebackType) -> Any:
    """The object of the `name[...]` that the frame is executing, None if it is executing something else."""
    frame = trace.tb_frame
    positions = next(islice(frame.f_code.co_positions(), trace.tb_lasti // 2, None), None)
    if positions is None or None in positions:
        return None
    first, last, start, end = positions
    assert first is not None
    assert last is not None
    lines = linecache.getlines(frame.f_code.co_filename)[first - 1 : last]
    if not lines:
        return None
    text = [line.encode() for line in lines]  # columns count bytes
    text[-1] = text[-1][:end]
    text[0] = text[0][start:]
    try:
        expression: Any = ast.parse(b"(" + b"".join(text) + b")", mode="eval").body
    except SyntaxError:
        return None
    if not isinstance(expression, ast.Subscript) or not isinstance(expression.value, ast.Name):
        return None
    return frame.f_locals.get(expression.value.id)


def _arguments(frame: FrameType) -> list[Any]:
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount
    values = [frame.f_locals.get(name) for name in code.co_varnames[:count]]
    if code.co_flags & _VARARGS:
        values += frame.f_locals.get(code.co_varnames[count], ())
    return values
