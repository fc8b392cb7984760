"""A graph for other graph tools: networkx objects and GraphML text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

from evonb._optional import require
from evonb.export.measure import clean
from evonb.graph.topology import Topology

if TYPE_CHECKING:
    import networkx

_NODE_FIELDS = ("name", "kind", "join", "parent", "doc", "location")
_EDGE_FIELDS = ("kind", "group", "label")


def to_networkx(topology: Topology) -> networkx.MultiDiGraph[str]:
    """The graph as a `networkx.MultiDiGraph`: nodes by id, edges by key, all facts as attributes ("" for none).

    Raises:
        MissingDependency: networkx isn't installed.
    """
    graph: Any = require("networkx", "to make a networkx graph").MultiDiGraph(name=topology.name)
    for node in topology.nodes:
        graph.add_node(node.id, **_facts(node, _NODE_FIELDS))
    known = {node.id for node in topology.nodes}
    for edge in topology.edges:
        if edge.source in known and edge.target in known:
            graph.add_edge(edge.source, edge.target, key=edge.id, **_facts(edge, _EDGE_FIELDS))
    found: networkx.MultiDiGraph[str] = graph
    return found


def to_graphml(topology: Topology) -> str:
    """The graph as GraphML, with the same attributes. Needs no other package."""
    known = {node.id for node in topology.nodes}
    keys = [_key("node", name) for name in _NODE_FIELDS] + [_key("edge", name) for name in _EDGE_FIELDS]
    nodes = [
        f"    <node id={_attribute(node.id)}>{_data('node', _facts(node, _NODE_FIELDS))}</node>"
        for node in topology.nodes
    ]
    edges = [
        f"    <edge id={_attribute(edge.id)} source={_attribute(edge.source)} target={_attribute(edge.target)}>"
        f"{_data('edge', _facts(edge, _EDGE_FIELDS))}</edge>"
        for edge in topology.edges
        if edge.source in known and edge.target in known
    ]
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
            *keys,
            f'  <graph id={_attribute(topology.name)} edgedefault="directed">',
            *nodes,
            *edges,
            "  </graph>",
            "</graphml>",
            "",
        ]
    )


def _facts(item: object, fields: tuple[str, ...]) -> dict[str, str]:
    return {name: getattr(item, name) or "" for name in fields}


def _key(kind: str, name: str) -> str:
    return f'  <key id="{kind}_{name}" for="{kind}" attr.name="{name}" attr.type="string"/>'


def _data(kind: str, facts: dict[str, str]) -> str:
    return "".join(
        f'<data key="{kind}_{name}">{escape(_lines(value))}</data>' for name, value in facts.items() if value
    )


def _lines(value: str) -> str:
    return "\n".join(clean(line) for line in value.splitlines())


def _attribute(value: str) -> str:
    return quoteattr(clean(value))
