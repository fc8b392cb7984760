"""A graph as Mermaid text, for Markdown files and wikis.

Nodes get numbered ids, so that no name can be a reserved word of Mermaid; names appear as quoted labels.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator

from evonb.export.measure import clean
from evonb.graph.topology import EdgeInfo, NodeInfo, Topology

MAX_EDGES = 500
MAX_CHARS = 50_000
"""Beyond its defaults Mermaid draws nothing; only whoever runs it can raise them."""

# Letters that mean something in a label: quotes, entities, markup, Markdown.
_SPECIAL = re.compile(r'["#&<>`*_~\\|]')


def to_mermaid(topology: Topology) -> str:
    """The graph as a Mermaid flowchart, sub-graphs and labels included.

    Router edges are dotted, nodes that wait for all predecessors have a double border.

    Warns:
        UserWarning: The text is beyond what Mermaid draws by default.
    """
    ids = {node.id: f"n{index}" for index, node in enumerate(topology.nodes)}
    edges = [edge for edge in topology.edges if edge.source in ids and edge.target in ids]
    lines = ["flowchart TD", *_level(topology, None, ids, "  "), *(_edge(edge, ids) for edge in edges)]
    written = "\n".join(lines) + "\n"
    if len(edges) > MAX_EDGES or len(written) > MAX_CHARS:
        warnings.warn(
            f"This diagram has {len(edges)} edges and {len(written):,} characters; by default Mermaid draws up to "
            f"{MAX_EDGES} edges and {MAX_CHARS:,} characters. Raise maxEdges and maxTextSize where it is drawn.",
            stacklevel=2,
        )
    return written


def _level(topology: Topology, parent: str | None, ids: dict[str, str], indent: str) -> Iterator[str]:
    for node in topology.nodes:
        if node.parent != parent and not (parent is None and node.parent not in ids):
            continue
        if any(child.parent == node.id for child in topology.nodes):
            yield f'{indent}subgraph {ids[node.id]}["{_label(node.name)}"]'
            yield from _level(topology, node.id, ids, indent + "  ")
            yield f"{indent}end"
        else:
            yield f"{indent}{ids[node.id]}{_shape(node)}"


def _shape(node: NodeInfo) -> str:
    label = f'"{_label(node.name)}"'
    if node.kind in ("start", "end"):
        return f"([{label}])"
    return f"[[{label}]]" if node.join == "all" or node.kind == "subgraph" else f"[{label}]"


def _edge(edge: EdgeInfo, ids: dict[str, str]) -> str:
    arrow = "-.->" if edge.kind == "conditional" else "-->"
    label = f'|"{_label(edge.label)}"|' if edge.label else ""
    return f"  {ids[edge.source]} {arrow}{label} {ids[edge.target]}"


def _label(words: str) -> str:
    """The words as a quoted label: what Mermaid or Markdown would read as markup becomes a character code."""
    coded = _SPECIAL.sub(lambda found: f"#{ord(found[0])};", clean(words).strip())
    # "1. " and "- " at the beginning would be a Markdown list, which labels can't hold.
    coded = re.sub(r"^(\d+)([.)])", lambda found: f"{found[1]}#{ord(found[2])};", coded)
    return re.sub(r"^[-+]", lambda found: f"#{ord(found[0])};", coded) or " "
