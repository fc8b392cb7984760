"""The two calls around the body of an `%%evograph` cell: collect what it declares, then build, bind and show the graph.

Whatever goes wrong, the graph that was there before stays bound, shown and usable.
"""

from __future__ import annotations

import sys
import typing
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import evonb.graph as graph_package
from evonb.errors import MagicError
from evonb.graph import GraphEngine, GraphWarning, dsl
from evonb.graph.debugger import GraphEngineDebugger
from evonb.magics.edit_and_continue import replaced, stand_breaks
from evonb.magics.options import Options, near, parse_options
from evonb.magics.schema import classes_in, defined_as, defined_twice, find_schema, parts_in
from evonb.magics.session import Entry, OpenCell, Session, current
from evonb.widgets.display import show

__all__ = ["abandon", "begin", "end", "forget_names", "misplaced"]

# What a cell may use without importing it. The language's own words win over the user's for the time of the cell.
_WORDS: dict[str, object] = {name: getattr(graph_package, name) for name in ("START", "END", "node", "router", "edge")}
_HELPERS: dict[str, object] = {"Annotated": typing.Annotated, "TypedDict": typing.TypedDict}


def begin(line: str) -> None:
    """First line of the cell.

    Raises:
        MagicError: The line can't be understood.
    """
    session = current()
    if session.open is not None:
        abandon(session)
    options = parse_options(line)
    if kind := defined_as(_body(session), options.name):
        raise _taken(options.name, f"the name of a {kind} in the cell")
    collection = dsl.collect()
    session.open = OpenCell(options, collection, collection.__enter__(), _cover(session.namespace))


def end() -> None:
    """Last line of the cell: the graph is built as a whole, or nothing changes.

    Raises:
        EvonbError: All faults of the graph at once, or a wrong option.
    """
    session = current()
    opened = session.open
    if opened is None:
        raise MagicError("No %%evograph cell is open", fix="begin the cell with %%evograph NAME")
    try:
        engine = _build(session, opened)
    finally:
        abandon(session)
    _bind(session, opened.options, engine)


def misplaced(line: str, number: int) -> NoReturn:
    """Stands for a whole cell that has code above its `%%evograph` line."""
    raise MagicError(
        "%%evograph must be the very first line of a cell; nothing of this one was run",
        where=f"{current().cell_place()}, line {number}: %%evograph {line}".rstrip(),
        fix="move what stands above it into a cell of its own, or below it",
    )


def abandon(session: Session) -> None:
    """Stop collecting; called also after a cell whose body raised."""
    opened, session.open = session.open, None
    if opened is None:
        return
    _uncover(session.namespace, opened.covered)
    opened.collection.__exit__(None, None, None)


def forget_names(namespace: dict[str, Any]) -> None:
    """Take the words of the language out of the namespace where they are still ours."""
    for name, value in {**_WORDS, **_HELPERS}.items():
        if namespace.get(name) is value:
            del namespace[name]


def _build(session: Session, opened: OpenCell) -> GraphEngine:
    options = opened.options
    if any(_is_node(session.namespace.get(options.name), ref) for link in opened.collected.links for ref in link[:2]):
        raise _taken(options.name, "the name of one of its nodes")
    body = _body(session)
    schema = find_schema(session.namespace, classes_in(body), options.state, parts_in(body))
    if defined_twice(body, schema.__name__):
        print(f"{schema.__name__} is defined twice in this cell; the last one is the graph's state.", file=sys.stderr)
    builder = opened.collected.to_builder(schema, options.name)
    builder.strict = options.strict
    limits: dict[str, Any] = {"max_turn": options.max_turn, "timeout": options.timeout_s}
    given = {key: value for key, value in limits.items() if value is not None}
    with _short_warnings():
        engine: GraphEngine = builder.build(graph_mode=options.mode, **given)
    _check_breaks(engine, options)
    return engine


def _is_node(value: object, ref: Any) -> bool:
    """Whether a part of a chain is what a variable holds: a function of an earlier cell, or a sub-graph."""
    parts = (ref.node, getattr(ref.node, "function", None), ref.router, getattr(ref.router, "function", None))
    return value is not None and any(part is value for part in parts)


def _taken(name: str, whose: str) -> MagicError:
    return MagicError(
        f"{name!r} is also {whose}, which the graph would replace",
        where="first line of the cell",
        fix=f"call the graph {name.lower()}_graph",
    )


@contextmanager
def _short_warnings() -> Iterator[None]:
    """What the builder warns of, without a file and a line: it is about the graph, not about our code."""
    with warnings.catch_warnings():
        original = warnings.showwarning

        def show_warning(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            if issubclass(category, GraphWarning):
                print(message, file=sys.stderr)
            else:
                original(message, category, *place, **more)

        warnings.showwarning = show_warning
        yield


def _bind(session: Session, options: Options, engine: GraphEngine) -> None:
    former = session.namespace.get(options.name)
    same = isinstance(former, GraphEngine) and former.name == engine.name
    bound = replaced(former, engine) if same and isinstance(former, GraphEngine) else engine
    if isinstance(bound, GraphEngineDebugger):
        stand_breaks(bound, options.breaks)
    session.entries[options.name] = Entry(bound, options, session.raw_cell)
    session.namespace[options.name] = bound
    if options.show:
        show(bound)


def _check_breaks(engine: GraphEngine, options: Options) -> None:
    known = [node.name for node in engine.topology().nodes if node.kind in ("node", "subgraph")]
    for name in options.breaks:
        if name not in known:
            raise MagicError(f"There is no node {name!r} to stop at", where="--break", fix=near(name, known))


def _cover(namespace: dict[str, Any]) -> dict[str, object]:
    """Bind the language's words; returns what they hid."""
    hidden = {
        name: namespace[name] for name, ours in _WORDS.items() if name in namespace and namespace[name] is not ours
    }
    namespace.update(_WORDS)
    for name, value in _HELPERS.items():
        namespace.setdefault(name, value)
    return hidden


def _uncover(namespace: dict[str, Any], hidden: dict[str, object]) -> None:
    for name, value in hidden.items():
        # What the cell itself bound to the name stays.
        if namespace.get(name) is _WORDS[name]:
            namespace[name] = value


def _body(session: Session) -> str:
    """The cell's own code as plain Python: magics in it are calls."""
    text: str = session.shell.transform_cell(session.raw_cell)
    return text
