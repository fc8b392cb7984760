"""The bare shape of a graph as plain data, kept with a run, to say what differs when the graph has changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from evonb.graph.plan import Plan

__all__ = ["differences", "digest", "shape_of"]


def shape_of(plan: Plan) -> dict[str, Any]:
    """Nodes with their modes, edges with their targets, and state keys with their strategies."""
    return {
        "nodes": {node.name: _node(node) for node in plan.nodes if node.spec is not None},
        "edges": [
            {
                "source": edge.source,
                "targets": sorted(edge.targets),
                "group": edge.group,
                "kind": "edge" if edge.plain is not None else "router",
            }
            for edge in plan.edges
        ],
        "keys": {name: field.strategy for name, field in plan.schema.fields.items()},
    }


def _node(node: Any) -> str:
    mode = "all" if node.joins is not None else "any"
    return f"{mode}, sub-graph" if node.subgraph is not None else mode


def digest(shape: Mapping[str, Any]) -> str:
    """A short text that is equal for equal shapes."""
    return hashlib.sha256(json.dumps(shape, sort_keys=True).encode()).hexdigest()[:16]


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """What differs, a sentence each; nothing for equal shapes."""
    found = _of_names("node", old["nodes"], new["nodes"])
    found += _of_edges(old["edges"], new["edges"])
    return found + _of_names("state key", old["keys"], new["keys"])


def _of_names(what: str, old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    found = [f"{what} {name!r} is gone" for name in old if name not in new]
    found += [f"{what} {name!r} is new" for name in new if name not in old]
    found += [
        f"{what} {name!r} was {old[name]!r} and is {new[name]!r}"
        for name in old
        if old[name] != new.get(name, old[name])
    ]
    return found


def _of_edges(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> list[str]:
    found = [f"{_edge(each)} is gone" for each in old if each not in new]
    found += [f"{_edge(each)} is new" for each in new if each not in old]
    if not found and old != new:
        found.append("the edges are declared in another order")
    return found


def _edge(edge: Mapping[str, Any]) -> str:
    group = "" if edge["group"] == "all" else f" in group {edge['group']!r}"
    return f"{edge['kind']} from {edge['source']!r} to {', '.join(map(repr, edge['targets']))}{group}"
