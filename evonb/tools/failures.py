"""What the receipt says when a call didn't complete: pure functions from what went wrong to a `ToolErrorInfo`."""

from __future__ import annotations

import traceback
from collections.abc import Iterable
from typing import Any, NamedTuple

from pydantic import ValidationError

from evonb.errors import EvonbError
from evonb.tools.errors import FieldFault, ToolError, ToolInputError
from evonb.tools.receipts import ToolErrorInfo
from evonb.tools.text import near, preview, safe_repr

__all__ = [
    "Place",
    "bad_arguments",
    "bad_output",
    "cancelled",
    "denied",
    "field_faults",
    "raised",
    "timed_out",
    "unknown_tool",
]


class Place(NamedTuple):
    """What every error says about its call.

    Attributes:
        where: Node, tool, call and invocation.
        raw_preview: The start of the raw input.
    """

    where: str
    raw_preview: str


def unknown_tool(place: Place, tool_id: str, known: Iterable[str]) -> ToolErrorInfo:
    """No tool has that id."""
    names = sorted(known)
    listed = f"the tools are: {', '.join(names)}" if names else "no tool is registered"
    hint = near(tool_id, names)
    return ToolErrorInfo(
        category="not_found",
        message=f"There is no tool '{preview(tool_id)}'",
        where=place.where,
        fix=f"{hint} {listed}" if hint else listed,
        raw_preview=place.raw_preview,
    )


def bad_arguments(
    place: Place, error: BaseException, expected: str | None = None, known: Iterable[str] = ()
) -> ToolErrorInfo:
    """The arguments don't fit; each fault is named."""
    faults = list(error.faults) if isinstance(error, ToolInputError) else field_faults(error, known)
    if isinstance(error, EvonbError):
        message, fix = error.what, error.fix
    elif faults:
        message, fix = f"{_count(len(faults), 'argument')} can't be used", "call the tool again with these put right"
    else:
        message, fix = f"The arguments were refused: {_said(error)}", "call the tool again with other arguments"
    return ToolErrorInfo(
        category="arguments",
        message=message,
        where=place.where,
        fix=fix,
        fields=faults,
        expected=expected,
        raw_preview=place.raw_preview,
        exception_type=type(error).__name__,
    )


def bad_output(place: Place, error: BaseException, output: object) -> ToolErrorInfo:
    """`parse_output` refused what the tool returned: the tool is wrong, not the caller."""
    return ToolErrorInfo(
        category="output",
        message=f"The tool returned something else than it declares: {preview(output)}",
        where=place.where,
        fix="this is a fault of the tool, not of the call: mend its return value or its return annotation",
        fields=field_faults(error) or [FieldFault("", _said(error))],
        raw_preview=place.raw_preview,
        exception_type=type(error).__name__,
        traceback=_backtrace(error),
    )


def raised(place: Place, error: BaseException) -> ToolErrorInfo:
    """The tool raised; an error of ours keeps its own place and fix."""
    where = place.where
    if isinstance(error, EvonbError):
        message, fix = error.what, error.fix
        where = f"{where} > {error.where}" if error.where else where
    else:
        message, fix = f"{type(error).__name__}: {_said(error)}", ""
    return ToolErrorInfo(
        category=getattr(error, "category", "raised") if isinstance(error, ToolError) else "raised",
        message=message,
        where=where,
        fix=fix,
        raw_preview=place.raw_preview,
        exception_type=type(error).__name__,
        traceback=_backtrace(error),
    )


def denied(place: Place, error: BaseException) -> ToolErrorInfo:
    """The application's own hook said no."""
    info = raised(place, error)
    message = f"The call wasn't allowed: {error.what if isinstance(error, EvonbError) else _said(error)}"
    return info.model_copy(update={"category": "denied", "message": message})


def timed_out(place: Place, limit_s: float | None) -> ToolErrorInfo:
    """The limit was reached."""
    return ToolErrorInfo(
        category="timeout",
        message=f"The tool didn't finish within {limit_s or 0:g} s",
        where=place.where,
        fix="ask for less, or give the tool a longer timeout",
        raw_preview=place.raw_preview,
        exception_type="TimeoutError",
    )


def cancelled(place: Place, reason: object) -> ToolErrorInfo:
    """Somebody stopped the call."""
    said = _said(reason)
    return ToolErrorInfo(
        category="cancelled",
        message=f"The call was cancelled: {said}",
        where=place.where,
        fix="call the tool again if its result is still wanted",
        raw_preview=place.raw_preview,
    )


def field_faults(error: BaseException, known: Iterable[str] = ()) -> list[FieldFault]:
    """Each place that a pydantic validation complains about; nothing for other errors."""
    if not isinstance(error, ValidationError):
        return []
    names = list(known)
    return [_fault(fault, names) for fault in error.errors(include_url=False, include_context=False)]


def _fault(fault: Any, known: list[str]) -> FieldFault:
    place = _place(fault["loc"])
    if fault["type"] == "missing":
        return FieldFault(place, "is required and missing")
    if fault["type"] == "extra_forbidden":
        hint = near(place, known)
        return FieldFault(place, f"is no argument of this tool{', ' + hint if hint else ''}")
    return FieldFault(place, fault["msg"], preview(safe_repr(fault["input"]), 80))


def _place(loc: tuple[int | str, ...]) -> str:
    text = ""
    for part in loc:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _said(error: object) -> str:
    try:
        return preview(str(error), 2000) or "no message"
    except Exception:  # an exception of somebody else, whose __str__ may do anything
        return f"a {type(error).__name__} that can't be shown"


def _backtrace(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))


def _count(number: int, noun: str) -> str:
    return f"1 {noun}" if number == 1 else f"{number} {noun}s"
