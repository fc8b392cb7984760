"""Errors as people need them: what happened, where, how to mend it.

`describe` turns any exception into the data of an error card. It shows the user's frames, not the engine's, and
where a mistake is a common one it says what to do.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from evonb.errors import EvonbError, GraphError, NodeError, NodeTimeout, RouterError
from evonb.graph.grouped import first_inside
from evonb.graph.near import near_names
from evonb.graph.places import Place, def_place, is_installed, is_ours, place_of, source_around, users_frame

if TYPE_CHECKING:
    from evonb.graph.decide import Task
    from evonb.graph.events import ErrorInfo

__all__ = ["GraphWarning", "describe", "node_error", "ordinal", "place_of", "text_of", "visit_of"]


class GraphWarning(UserWarning):
    """Something about a graph or a run that is allowed and probably not meant."""


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, 11th, 21st, ..."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def visit_of(task: Task) -> str:
    """ "node 'judge', 2nd visit"."""
    return f"node {task.node.name!r}" + (f", {ordinal(task.visit)} visit" if task.visit else "")


def node_error(
    error: BaseException,
    *,
    node: str,
    graph: str,
    visit: int,
    inputs: Any,
    where: str,
    path: tuple[str, ...] = (),
    keys: Iterable[str] = (),
    subject: str = "",
    function: Any = None,
    timeout_s: float | None = None,
) -> NodeError:
    """The error of a run in which this exception came out of a node, or of what `subject` says: "Router 'by_topic'".

    Raise it *from* the exception. Its `info` is the same as an error card's data.
    """
    from evonb.graph.events import ErrorInfo

    if timeout_s is not None:
        made: NodeError = NodeTimeout(
            f"Node {node!r} ran longer than its timeout of {timeout_s:g} s",
            where=_with_place(def_place(function), where),
            fix="raise the timeout of the node or graph, or make the node quicker",
        )
        info = ErrorInfo("NodeTimeout", made.what, made.where, made.fix, _source(def_place(function)))
    else:
        subject = subject or f"Node {node!r}"
        info = describe(error, where=where, keys=keys, whose=_kind_of(subject), function=function)
        made = NodeError(
            f"{subject} failed: {info.kind}: {_first_line(first_inside(error)[0])}", where=info.where, fix=info.fix
        )
    made.node_name, made.graph_name, made.visit, made.inputs = node, graph, visit, inputs
    made.source, made.info = info.source, info  # type: ignore[attr-defined]
    made.path = path  # type: ignore[attr-defined]
    return made


def _kind_of(subject: str) -> str:
    """ "State filter 'only_text'" -> "state filter"."""
    return re.split(" '| of | before ", subject, maxsplit=1)[0].lower()


def describe(
    error: BaseException, *, where: str = "", keys: Iterable[str] = (), whose: str = "", function: Any = None
) -> ErrorInfo:
    """An exception as the data of an error card.

    Args:
        error: Any exception; of a `NodeError` the user's own is described.
        where: The place in the graph, added to the place in the source.
        keys: The state's keys, for hints about misspelt ones.
        whose: What the marked line belongs to: "node", "router", ...
        function: Whose definition is marked when no line of the user's raised the error.
    """
    from evonb.graph.events import ErrorInfo

    known = getattr(error, "info", None)
    if isinstance(known, ErrorInfo):
        return known
    whole, others = error, 0
    if isinstance(error, BaseExceptionGroup):
        # The group was raised where its tasks were waited for; what is wrong is where a task raised.
        error, others = first_inside(error)
    place = _place(error, function)
    source = _source(place)
    inner = str(getattr(error, "where", "")) if isinstance(error, EvonbError) else ""
    if where and (isinstance(error, GraphError | RouterError) or inner in where or inner.startswith("node ")):
        inner = ""  # the place in the graph says the same, and more
    return ErrorInfo(
        kind=type(error).__name__,
        what=_what(error, tuple(keys)) + (f" (and {others} more in the same task group)" if others else ""),
        where=_with_place(place, ", ".join(part for part in (inner, where) if part)),
        fix=_fix(error, tuple(keys), f"see the marked line{whose and f' of the {whose}'}" if source else ""),
        source=source,
        traceback=_traceback(whole),
    )


def _place(error: BaseException, function: Any) -> Place | None:
    """The user's line that raised; of an error of ours, the line that raised the one behind it.

    Where no line of the user's raised, as when a library refused what a node returned, it is the function's `def`.
    """
    is_ours_to_tell = isinstance(error, EvonbError)
    behind = error.__cause__ if is_ours_to_tell else None
    found = [users_frame(each.__traceback__) for each in (behind, error) if each is not None]
    raised = [(frame.f_code.co_filename, line) for frame, line in filter(None, found)]
    if users := [place for place in raised if not is_installed(place[0])]:
        return users[0]
    defined = None if function is None else def_place(function)
    if defined is not None and (not raised or not is_installed(defined[0])):
        return defined
    # An error of ours says what to do; the line of a library that was behind it says nothing to anybody.
    return raised[0] if raised and not is_ours_to_tell else None


def _with_place(place: Place | None, where: str) -> str:
    return ", ".join(part for part in ("" if place is None else place_of(*place), where) if part)


def _source(place: Place | None) -> tuple[tuple[int, str, bool], ...]:
    return () if place is None else source_around(*place)


def _what(error: BaseException, keys: tuple[str, ...]) -> str:
    if (key := _missing_key(error, keys)) is not None:
        near = near_names(key, keys, n=1)
        return f"The state has no key {key!r}; it has " + (repr(near[0]) if near else ", ".join(map(repr, keys)))
    return text_of(error) if isinstance(error, EvonbError) else _first_line(error)


def _first_line(error: BaseException) -> str:
    lines = text_of(error).splitlines()
    return next((line for line in lines if line.strip()), type(error).__name__)


def text_of(error: BaseException) -> str:
    """What an exception says; "" if it can't say it. Never raises: a user's `__str__` may."""
    try:
        return str(error.what if isinstance(error, EvonbError) else error)
    except Exception:
        return ""


def _missing_key(error: BaseException, keys: tuple[str, ...]) -> str | None:
    """The state key that the user asked for in vain, if it was the state that raised."""
    key: Any = None
    if isinstance(error, AttributeError) and keys:
        declared = getattr(type(error.obj), "model_fields", None)
        key = error.name if isinstance(declared, dict) and set(declared) == set(keys) else None
    elif isinstance(error, KeyError) and keys and len(error.args) == 1:
        from evonb.graph.subscripted import asked_of_argument  # errors only

        key = error.args[0] if asked_of_argument(error, set(keys)) else None
    return key if isinstance(key, str) and key not in keys else None


def _fix(error: BaseException, keys: tuple[str, ...], fallback: str) -> str:
    if isinstance(error, EvonbError):
        return getattr(error, "fix", "")  # a user's subclass may not have called our __init__
    if (key := _missing_key(error, keys)) is not None:
        near = near_names(key, keys, n=1)
        return f"write {near[0]!r}" if near else f"declare {key!r} in the schema, or use state.get({key!r})"
    text = text_of(error)
    if type(error).__name__ == "ProgrammingError" and "same thread" in text:
        return 'make the object inside the node, or add_node(..., run_in="loop") to keep the node on one thread'
    if isinstance(error, RuntimeError) and "asyncio.run() cannot be called" in text:
        return "make the node async and `await` instead of calling asyncio.run()"
    if isinstance(error, TypeError) and "for >>: 'list' and 'list'" in text:
        return "Python can't chain two lists: write [a, b] >> c and [a, b] >> d, each in a line of its own"
    if isinstance(error, NameError):
        return "define or import the name in an earlier cell"
    if isinstance(error, ModuleNotFoundError):
        return f"install the package that provides {error.name!r}"
    return fallback


def _traceback(error: BaseException) -> str:
    """The traceback as text, without the engine's frames where there are others, also of what was behind it."""
    try:
        shown = traceback.TracebackException.from_exception(error, capture_locals=False)
        _without_ours(shown)
        return "".join(shown.format())
    except Exception:  # a user's exception may fail to print itself
        return f"{type(error).__name__} (its text can't be shown)"


def _without_ours(shown: traceback.TracebackException | None) -> None:
    while shown is not None:
        own = [entry for entry in shown.stack if not is_ours(entry.filename)]
        if own:
            shown.stack = traceback.StackSummary.from_list(own)
        for inner in getattr(shown, "exceptions", None) or ():
            _without_ours(inner)
        shown = shown.__cause__ or shown.__context__
