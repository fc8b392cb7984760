"""A graph as Graphviz text."""

from __future__ import annotations

from collections.abc import Iterator

from evonb.export.measure import clean
from evonb.graph.topology import EdgeInfo, NodeInfo, Topology

_HEAD = """  rankdir=TB;
  compound=true;
  graph [fontname="Helvetica", fontsize=10, style="rounded", color="#888888"];
  node [shape=box, style="rounded", fontname="Helvetica", fontsize=11];
  edge [fontname="Helvetica", fontsize=9];"""


def to_dot(topology: Topology) -> str:
    """The graph in the DOT language, sub-graphs as clusters.

    Router edges are dashed, nodes that wait for all predecessors have a double border. Node ids are the graph's own,
    quoted, so that other tools find them again.
    """
    ids = {node.id for node in topology.nodes}
    inner = {node.id: _first_leaf(topology, node.id) for node in topology.nodes}
    edges = (_edge(edge, inner) for edge in topology.edges if edge.source in ids and edge.target in ids)
    body = "\n".join([_HEAD, *_level(topology, None, ids, "  "), *edges])
    return f"digraph {_quoted(topology.name)} {{\n{body}\n}}\n"


def _first_leaf(topology: Topology, name: str) -> str:
    """A cluster has no edges in DOT: they go to a node in it and are cut at its border."""
    children = [node.id for node in topology.nodes if node.parent == name]
    return _first_leaf(topology, children[0]) if children else name


def _level(topology: Topology, parent: str | None, ids: set[str], indent: str) -> Iterator[str]:
    for node in topology.nodes:
        if node.parent != parent and not (parent is None and node.parent not in ids):
            continue
        if any(child.parent == node.id for child in topology.nodes):
            yield f"{indent}subgraph {_quoted('cluster ' + node.id)} {{"
            yield f"{indent}  label={_quoted(node.name)};"
            yield from _level(topology, node.id, ids, indent + "  ")
            yield f"{indent}}}"
        else:
            yield f"{indent}{_quoted(node.id)} [{_looks(node)}];"


def _looks(node: NodeInfo) -> str:
    parts = [f"label={_quoted(node.name)}"]
    if node.kind in ("start", "end"):
        parts.append("shape=oval")
    if node.join == "all" or node.kind == "end":
        parts.append("peripheries=2")
    return ", ".join(parts)


def _edge(edge: EdgeInfo, inner: dict[str, str]) -> str:
    looks = [f"id={_quoted(edge.id)}"]
    if edge.label:
        looks.append(f"label={_quoted(edge.label)}")
    if edge.kind == "conditional":
        looks.append("style=dashed")
    for side, name in (("ltail", edge.source), ("lhead", edge.target)):
        if inner[name] != name:
            looks.append(f"{side}={_quoted('cluster ' + name)}")
    return f"  {_quoted(inner[edge.source])} -> {_quoted(inner[edge.target])} [{', '.join(looks)}];"


def _quoted(words: str) -> str:
    """A quoted string; backslashes are doubled, since DOT reads \\N, \\G and the like in labels."""
    escaped = clean(words).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
