"""Exchanging the code of a graph that is being debugged. Its plan is the session's own, so it is changed in place: what
waits and what has run refer to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evonb.graph.debugging.likeness import differences, shape_of
from evonb.graph.nodes import GraphNodeSpec, callable_to_node
from evonb.graph.plan import NodePlan

if TYPE_CHECKING:
    from evonb.graph.debugging.session import Session
    from evonb.graph.engine import GraphEngine

__all__ = ["adopt_engine", "replace_code"]

_CODE = ("activity", "call", "is_async", "quick", "reads", "retry", "run_in", "spec", "subgraph", "timeout")


def replace_code(session: Session, nodes: dict[str, GraphNodeSpec], name: str, func: Any) -> None:
    """Exchange what one node calls.

    Raises:
        GraphError: It can't be called.
    """
    spec = nodes[name].model_copy(update={"node": callable_to_node(func)})
    _take(session.plan.by_name[name], NodePlan(0, name, spec, nodes[name].timeout, session.plan.schema))
    nodes[name] = spec


def adopt_engine(session: Session, nodes: dict[str, GraphNodeSpec], engine: GraphEngine) -> list[str]:
    """Take over all code of another engine, if it has the same shape; else say what differs."""
    plan, other = session.plan, engine._plan
    found = differences(shape_of(plan), shape_of(other))
    if found:
        return found
    for node in plan.nodes:
        _take(node, other.by_name[node.name])
        if node.joins is not None:
            theirs = other.by_name[node.name].joins or {}
            for group, join in node.joins.items():
                join.strategy = theirs[group].strategy
    for edge, new in zip(plan.edges, other.edges, strict=True):
        edge.spec, edge.router, edge.reads = new.spec, new.router, new.reads
    plan.schema = other.schema
    nodes.update(engine.nodes)
    return []


def _take(node: NodePlan, new: NodePlan) -> None:
    for name in _CODE:
        setattr(node, name, getattr(new, name))
