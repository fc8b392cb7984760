"""Errors as people need them: what happened, where, how to mend it.

`describe` turns any exception into the data of an error card. It shows the user's frames, not the engine's, and
where a mistake is a common one it says what to do.
"""

from __future__ import annotations

import linecache
import os
import re
import traceback
from collections.abc import Iterable
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from evonb._optional import loaded
from evonb.errors import EvonbError, NodeError, NodeTimeout
from evonb.graph.near import near_names

if TYPE_CHECKING:
    from evonb.graph.events import ErrorInfo

__all__ = ["GraphWarning", "describe", "node_error", "ordinal", "place_of"]

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_AROUND = 3  # lines of source on either side


class GraphWarning(UserWarning):
    """Something about a graph or a run that is allowed and probably not meant."""


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, 11th, 21st, ..."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def node_error(
    error: BaseException,
    *,
    node: str,
    graph: str,
    visit: int,
    inputs: Any,
    path: tuple[str, ...] = (),
    keys: Iterable[str] = (),
    role: str = "",
    timeout_s: float | None = None,
) -> NodeError:
    """The error of a run in which this exception came out of a node (or, as `role` says, out of its router).

    Raise it *from* the exception. Its `info` is the same as an error card's data.
    """
    from evonb.graph.events import ErrorInfo

    where = " > ".join([f"graph {graph!r}", *(f"node {name!r}" for name in path), f"node {node!r}"])
    where += f", {ordinal(visit)} visit" if visit else ""
    if timeout_s is not None:
        made: NodeError = NodeTimeout(
            f"Node {node!r} ran longer than its timeout of {timeout_s:g} s",
            where=where,
            fix="raise the timeout of the node or graph, or make the node quicker",
        )
        info = ErrorInfo("NodeTimeout", made.what, where, made.fix)
    else:
        info = describe(error, where=where, keys=keys)
        subject = f"{role} of node {node!r}" if role else f"Node {node!r}"
        made = NodeError(f"{subject} failed: {info.kind}: {_first_line(error)}", where=info.where, fix=info.fix)
    made.node_name, made.graph_name, made.visit, made.inputs = node, graph, visit, inputs
    made.info = info  # type: ignore[attr-defined]
    made.path = path  # type: ignore[attr-defined]
    return made


def describe(error: BaseException, *, where: str = "", keys: Iterable[str] = ()) -> ErrorInfo:
    """An exception as the data of an error card.

    Args:
        error: Any exception; of a `NodeError` the user's own is described.
        where: The place in the graph, added to the place in the source.
        keys: The state's keys, for hints about misspelt ones.
    """
    from evonb.graph.events import ErrorInfo

    known = getattr(error, "info", None)
    if isinstance(known, ErrorInfo):
        return known
    frame, line = _users_place(error.__traceback__)
    place = place_of(frame.f_code.co_filename, line) if frame is not None else ""
    inner = error.where if isinstance(error, EvonbError) else ""
    return ErrorInfo(
        kind=type(error).__name__,
        what=_what(error, tuple(keys)),
        where=", ".join(part for part in (place, where or inner) if part),
        fix=_fix(error, tuple(keys)),
        source=_source(frame.f_code.co_filename, line) if frame is not None else (),
        traceback=_traceback(error),
    )


def _what(error: BaseException, keys: tuple[str, ...]) -> str:
    if isinstance(error, EvonbError):
        return error.what
    if (key := _missing_key(error, keys)) is not None:
        near = near_names(key, keys, n=1)
        return f"The state has no key {key!r}; it has " + (repr(near[0]) if near else ", ".join(map(repr, keys)))
    return _first_line(error)


def _first_line(error: BaseException) -> str:
    text = _text_of(error)
    return text.splitlines()[0] if text else type(error).__name__


def _text_of(error: BaseException) -> str:
    if isinstance(error, EvonbError):
        return error.what
    try:
        return str(error)
    except Exception:  # a user's exception may fail to print itself
        return ""


def _missing_key(error: BaseException, keys: tuple[str, ...]) -> str | None:
    """The state key that the user asked for in vain, if this is what the error looks like."""
    if not keys:
        return None
    if isinstance(error, KeyError) and len(error.args) == 1 and isinstance(error.args[0], str):
        return error.args[0] if error.args[0] not in keys else None
    if isinstance(error, AttributeError) and isinstance(error.name, str) and hasattr(error.obj, "model_fields_set"):
        return error.name if error.name not in keys else None
    return None


def _fix(error: BaseException, keys: tuple[str, ...]) -> str:
    if isinstance(error, EvonbError):
        return error.fix
    if (key := _missing_key(error, keys)) is not None:
        near = near_names(key, keys, n=1)
        return f"write {near[0]!r}" if near else f"declare {key!r} in the schema, or use state.get({key!r})"
    text = _text_of(error)
    if type(error).__name__ == "ProgrammingError" and "same thread" in text:
        return 'make the object inside the node, or add_node(..., run_in="loop") to keep the node on one thread'
    if isinstance(error, RuntimeError) and "asyncio.run() cannot be called" in text:
        return "make the node async and `await` instead of calling asyncio.run()"
    if isinstance(error, NameError):
        return "define or import the name in an earlier cell"
    if isinstance(error, ModuleNotFoundError):
        return f"pip install {error.name}"
    return "see the marked line of the node"


# --- places in the source -----------------------------------------------------------------


def _users_place(trace: TracebackType | None) -> tuple[FrameType | None, int]:
    """The innermost frame of the user's own code: not ours, not an installed library's."""
    mine: tuple[FrameType | None, int] = (None, 0)
    any_other: tuple[FrameType | None, int] = (None, 0)
    while trace is not None:
        filename = trace.tb_frame.f_code.co_filename
        if not _is_ours(filename):
            any_other = (trace.tb_frame, trace.tb_lineno)
            if not _is_installed(filename):
                mine = any_other
        trace = trace.tb_next
    return mine if mine[0] is not None else any_other


def _is_ours(filename: str) -> bool:
    return filename.startswith(_HERE + os.sep)


def _is_installed(filename: str) -> bool:
    library = os.path.dirname(os.__file__)
    return "site-packages" in filename or filename.startswith((library, "<frozen"))


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


def _source(filename: str, line: int) -> tuple[tuple[int, str, bool], ...]:
    lines = linecache.getlines(filename)
    first = max(1, line - _AROUND)
    last = min(len(lines), line + _AROUND)
    return tuple((number, lines[number - 1].rstrip("\n"), number == line) for number in range(first, last + 1))


def _traceback(error: BaseException) -> str:
    """The traceback as text, without the engine's frames where the user's own come after them."""
    shown = traceback.TracebackException.from_exception(error, capture_locals=False)
    own = [entry for entry in shown.stack if not _is_ours(entry.filename)]
    if own:
        shown.stack = traceback.StackSummary.from_list(own)
    try:
        return "".join(shown.format())
    except Exception:  # a user's exception may fail to print itself
        return f"{type(error).__name__} (its text can't be shown)"
