"""The exports for other tools: each takes every real graph and every odd name, and loses nothing."""

from __future__ import annotations

import re
import sys
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import export_sample
import networkx
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "graphs"))

import real

from evonb.export import to_dot, to_graphml, to_mermaid, to_networkx
from evonb.export.measure import clean
from evonb.graph.topology import EdgeInfo, NodeInfo, Topology

_ODD = [
    *(
        "end_",
        "graph",
        "style",
        "click",
        "default",
        "class",
        "subgraph",
        "node_end",
        "a/b.c",
        "1st",
        "1. list",
        "- item",
    ),
    *('say "hi"', "a;b", "#35;", "<b>bold</b>", "[x](y)", "back\\slash", "\\N", "`code`", "two\nlines", "ε 分类 🚀"),
]


def _odd() -> Topology:
    nodes = tuple(NodeInfo(name, name) for name in _ODD)
    edges = (EdgeInfo(f"e{i}", a, b, label=b) for i, (a, b) in enumerate(pairwise(_ODD)))
    return Topology('odd "graph"', nodes, tuple(edges))


def _all() -> list[Topology]:
    return [*(real.topology(record) for record in real.records()), _odd(), export_sample.nested()]


def _decoded(label: str) -> str:
    return re.sub(r"#(\d+);", lambda found: chr(int(found[1])), label)


@pytest.mark.parametrize("topology", _all(), ids=lambda topology: topology.name)
def test_mermaid_has_every_node_and_edge_and_no_free_text(topology: Topology) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lines = to_mermaid(topology).splitlines()
    assert lines[0] == "flowchart TD"
    node = re.compile(r'\s+(?:subgraph )?n\d+(?:\(\[|\[\[?)"([^"]*)"(?:\]\)|\]\]?)')
    edge = re.compile(r'  n\d+ -(?:-|\.-)>(?:\|"[^"]*"\|)? n\d+')
    kinds = [(node.fullmatch(line), edge.fullmatch(line), line.strip() == "end") for line in lines[1:]]
    assert all(any(found) for found in kinds)
    assert [_decoded(found[1]) for found, _, _ in kinds if found] or not topology.nodes
    names = sorted(_decoded(found[1]) for found, _, _ in kinds if found)
    assert names == sorted(clean(n.name).strip() for n in topology.nodes)
    assert sum(1 for _, found, _ in kinds if found) == len(topology.edges)


def test_mermaid_labels_hold_no_letter_that_mermaid_reads() -> None:
    labels = re.findall(r'"([^"]*)"', to_mermaid(_odd()))
    assert not [label for label in labels if re.search(r"[<>`*_~\\|&]|#(?!\d+;)|^\d+\.|^-", label)]


def test_mermaid_says_when_a_diagram_is_beyond_its_limits() -> None:
    nodes = tuple(NodeInfo(f"n{i}", f"n{i}") for i in range(601))
    edges = tuple(EdgeInfo(f"e{i}", f"n{i}", f"n{i + 1}") for i in range(600))
    with pytest.warns(UserWarning, match="600 edges.*maxEdges"):
        to_mermaid(Topology("long", nodes, edges))


@pytest.mark.parametrize("topology", _all(), ids=lambda topology: topology.name)
def test_a_dot_parser_reads_the_same_nodes_and_edges(topology: Topology) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # pydot's parser uses old names of pyparsing
        import pydot

        (read,) = pydot.graph_from_dot_data(to_dot(topology)) or ()
    nodes, edges = _read_dot(read)
    parents = {node.parent for node in topology.nodes}
    assert sorted(nodes) == sorted(clean(node.name) for node in topology.nodes if node.id not in parents)
    assert sorted(edges) == sorted(clean(edge.id) for edge in topology.edges)


def _read_dot(graph: Any) -> tuple[list[str], list[str]]:
    """Labels of nodes and ids of edges, clusters included."""
    plain = [node for node in graph.get_nodes() if node.get_name() not in ("node", "edge", "graph")]
    nodes = [_unquoted(node.get("label")) for node in plain]
    edges = [_unquoted(edge.get("id")) for edge in graph.get_edges()]
    for cluster in graph.get_subgraphs():
        inner = _read_dot(cluster)
        nodes, edges = nodes + inner[0], edges + inner[1]
    return nodes, edges


def _unquoted(value: str) -> str:
    return value[1:-1].replace('\\"', '"').replace("\\\\", "\\")


@pytest.mark.parametrize("topology", _all(), ids=lambda topology: topology.name)
def test_graphml_reads_back_as_the_same_graph(topology: Topology, tmp_path: Path) -> None:
    path = tmp_path / "graph.graphml"
    path.write_text(to_graphml(topology), encoding="utf-8")
    read: Any = networkx.read_graphml(path, force_multigraph=True)
    assert sorted(read.nodes) == sorted(clean(node.id) for node in topology.nodes)
    assert sorted(key for _, _, key in read.edges(keys=True)) == sorted(clean(edge.id) for edge in topology.edges)
    assert {data.get("name", "") for _, data in read.nodes(data=True)} == {node.name for node in topology.nodes}


def test_networkx_has_all_facts() -> None:
    graph: Any = to_networkx(export_sample.support())
    assert graph.nodes["merge"]["join"] == "all"
    assert graph.edges["router", "plan", "router>plan"] == {"kind": "conditional", "group": "all", "label": "complex"}
    assert graph.number_of_edges() == 22
    assert networkx.has_path(graph, "start", "end")


def test_unknown_targets_are_left_out_of_every_export() -> None:
    topology = Topology("broken", (NodeInfo("a", "a"),), (EdgeInfo("a>b", "a", "b"),))
    graph: Any = to_networkx(topology)
    assert list(graph.edges) == []
    assert "->" not in to_dot(topology)
    assert "-->" not in to_mermaid(topology)
    assert "<edge" not in to_graphml(topology)
