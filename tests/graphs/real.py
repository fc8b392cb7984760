"""Reads the graphs that other people wrote, as topologies."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from evonb.graph.topology import EdgeInfo, NodeInfo, Topology

_FILE = Path(__file__).with_name("real-graphs.jsonl")


def records() -> list[dict[str, Any]]:
    """The graphs as written in the file; README.md explains the fields."""
    return [json.loads(line) for line in _FILE.read_text(encoding="utf-8").splitlines()]


def topology(record: dict[str, Any], *, nested: bool = True) -> Topology:
    """One graph as the exporters get it; `nested=False` leaves the sub-graphs' frames out."""
    nodes = [NodeInfo("start", "start", "start")]
    for node in record["nodes"]:
        parent = node["subgraph"] if nested else None
        _add_frames(nodes, parent)
        name = node["name"].removeprefix(f"{parent}/") if parent else node["name"]
        nodes.append(NodeInfo(node["name"], name, join=node["join"], parent=_frame(parent)))
    nodes.append(NodeInfo("end", "end", "end"))
    known = {node.id for node in nodes}
    seen = Counter[str]()
    edges = [_edge(edge, seen) for edge in record["edges"] if {edge["source"], edge["target"]} <= known]
    return Topology(record["name"], tuple(nodes), tuple(edges))


def _frame(path: str | None) -> str | None:
    return f"[{path}]" if path else None


def _add_frames(nodes: list[NodeInfo], path: str | None) -> None:
    parts = path.split("/") if path else []
    for depth in range(1, len(parts) + 1):
        frame, parent = "/".join(parts[:depth]), "/".join(parts[: depth - 1]) or None
        if all(node.id != _frame(frame) for node in nodes):
            nodes.append(NodeInfo(str(_frame(frame)), parts[depth - 1], "subgraph", parent=_frame(parent)))


def _edge(edge: dict[str, Any], seen: Counter[str]) -> EdgeInfo:
    pair = f"{edge['source']}>{edge['target']}"
    number = seen[pair]
    seen[pair] += 1
    label = edge["label"] or edge["group"] or ""
    ident = f"{pair}#{number}" if number else pair
    return EdgeInfo(ident, edge["source"], edge["target"], edge["kind"], edge["group"] or "all", label)
