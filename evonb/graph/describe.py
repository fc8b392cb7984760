"""What a graph looks like: the topology, with docs, sources and places of the user's functions."""

from __future__ import annotations

import functools
import inspect
import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from evonb.graph.edges import ConditionEdgeSpec, EdgeSpec, EdgeSpecBase
from evonb.graph.failure import place_of
from evonb.graph.nodes import GraphNodeSpec
from evonb.graph.plan import END, START, edge_ids, in_order
from evonb.graph.topology import EdgeInfo, NodeInfo, NodeKind, Topology, node_id
from evonb.logger import get_logger
from evonb.typing import DEFAULT_EDGE_GROUP, NodeActionMode

if TYPE_CHECKING:
    from evonb.graph.engine import GraphEngine

_log = get_logger(__name__)

__all__ = ["location_of", "source_of", "topology_of", "user_function"]


def topology_of(engine: GraphEngine) -> Topology:
    """The topology of an engine: start first, nodes in declaration order, end last; sub-graphs inside their node."""
    from evonb.graph.check import check_engine

    nodes = [NodeInfo(START, START, kind="start"), *_nodes(engine, ()), NodeInfo(END, END, kind="end")]
    edges = [*_edges(in_order(engine.edges)), *_inner_edges(engine, ())]
    return Topology(engine.name, tuple(nodes), tuple(edges), tuple(check_engine(engine)))


def _nodes(engine: GraphEngine, path: tuple[str, ...]) -> Iterable[NodeInfo]:
    for name, spec in engine.nodes.items():
        inner: GraphEngine | None = getattr(spec.node, "_subgraph", None)
        yield _node(name, spec, path, "node" if inner is None else "subgraph")
        if inner is not None:
            yield from _nodes(inner, (*path, name))


def _node(name: str, spec: GraphNodeSpec, path: tuple[str, ...], kind: NodeKind) -> NodeInfo:
    function = user_function(spec.node)
    told = _told(spec.node) if kind == "node" else None
    shows_code = kind == "node" and told is None
    return NodeInfo(
        id=node_id(path, name),
        name=name,
        kind=kind,
        join="all" if spec.action_mode is NodeActionMode.ALL else "any",
        parent=node_id(path[:-1], path[-1]) if path else None,
        doc=_doc(function) if shows_code else told or "",
        source=source_of(function) if shows_code else "",
        location=location_of(function) if shows_code else "",
    )


def _told(node: Any) -> str | None:
    """What a node says of itself by a method `describe`; None for one that says nothing, whose code is shown then."""
    describe = getattr(type(node), "describe", None)
    if not callable(describe):
        return None
    try:
        told = describe(node)
    except Exception:
        _log.exception("describe() of %s raised; its code is shown", type(node).__name__)
        return None
    return told if isinstance(told, str) else None


def _edges(edges: Sequence[EdgeSpecBase], path: tuple[str, ...] = ()) -> Iterable[EdgeInfo]:
    prefix = node_id(path, "") if path else ""
    for edge, ids in zip(edges, edge_ids(edges), strict=True):
        for target, identity in ids.items():
            yield EdgeInfo(
                id=prefix + identity,
                source=prefix + edge.source,
                target=prefix + target,
                kind="plain" if isinstance(edge, EdgeSpec) else "conditional",
                group=edge.group,
                label=_label(edge, target),
            )


def _inner_edges(engine: GraphEngine, path: tuple[str, ...]) -> Iterable[EdgeInfo]:
    """Edges inside sub-graphs; those of their start and end are left out, as outer edges attach to the box."""
    for name, spec in engine.nodes.items():
        inner: GraphEngine | None = getattr(spec.node, "_subgraph", None)
        if inner is None:
            continue
        within = (*path, name)
        borders = {node_id(within, START), node_id(within, END)}
        for edge in _edges(in_order(inner.edges), within):
            if edge.source not in borders and edge.target not in borders:
                yield edge
        yield from _inner_edges(inner, within)


def _label(edge: EdgeSpecBase, target: str) -> str:
    if isinstance(edge, ConditionEdgeSpec) and edge.labels.get(target):
        return edge.labels[target]
    if isinstance(edge, EdgeSpec) and edge.label:
        return edge.label
    return "" if edge.group == DEFAULT_EDGE_GROUP else edge.group


# --- the user's functions --------------------------------------------------------------------


def user_function(node: Any) -> Any:
    """What the user wrote: the function behind a converted node, or the node's class."""
    function = getattr(node, "function", None)
    if function is None:
        return type(node)
    while isinstance(function, functools.partial):
        function = function.func
    if inspect.isroutine(function) or isinstance(function, type):
        return inspect.unwrap(function)
    return type(function)


def _doc(function: Any) -> str:
    own = function.__dict__.get("__doc__") if isinstance(function, type) else getattr(function, "__doc__", None)
    return inspect.cleandoc(own) if isinstance(own, str) else ""


@functools.lru_cache(maxsize=512)
def source_of(function: Any) -> str:
    """The source text of a function or class; "" where Python doesn't know it."""
    try:
        return textwrap.dedent(inspect.getsource(function)).rstrip()
    except (OSError, TypeError, IndexError, SyntaxError):  # typed into a console, built in, or the file changed
        return ""


def location_of(function: Any) -> str:
    """Where a function or class was written: "cell [3], line 24" or "triage.py:24"; "" if unknown."""
    try:
        if isinstance(function, type):
            filename = inspect.getsourcefile(function) or ""
            return place_of(filename, inspect.getsourcelines(function)[1]) if filename else ""
        code = function.__code__
    except (AttributeError, OSError, TypeError, IndexError, SyntaxError):
        return ""
    return place_of(code.co_filename, code.co_firstlineno)
