"""The answer of `%evo list`: a small table for the eye."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

from evonb.graph import GraphEngine
from evonb.widgets.feed import known_snapshot

__all__ = ["GraphList", "Row", "rows_of"]

_HEAD = ("graph", "nodes", "edges", "last run")


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    nodes: int
    edges: int
    last_run: str

    def cells(self) -> tuple[str, str, str, str]:
        return (self.name, str(self.nodes), str(self.edges), self.last_run)


@dataclass(frozen=True, slots=True)
class GraphList:
    """Prints as a table; in a notebook as one in HTML."""

    rows: tuple[Row, ...]

    def __repr__(self) -> str:
        if not self.rows:
            return "No graphs yet: begin a cell with %%evograph NAME"
        lines = [_HEAD, *(row.cells() for row in self.rows)]
        widths = [max(len(line[column]) for line in lines) for column in range(len(_HEAD))]
        return "\n".join(
            "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in lines
        )

    def _repr_html_(self) -> str | None:
        if not self.rows:
            return None
        head = "".join(f"<th>{escape(text)}</th>" for text in _HEAD)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row.cells()) + "</tr>" for row in self.rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def rows_of(graphs: Mapping[str, GraphEngine]) -> tuple[Row, ...]:
    """One row for each graph, in the order of the names' first use."""
    return tuple(_row(name, graph) for name, graph in graphs.items())


def _row(name: str, graph: GraphEngine) -> Row:
    topology = graph.topology()
    nodes = sum(node.kind in ("node", "subgraph") for node in topology.nodes)
    return Row(name, nodes, len(topology.edges), _last_run(graph))


def _last_run(graph: GraphEngine) -> str:
    snapshot = known_snapshot(graph)
    if snapshot is None or snapshot["run"]["status"] == "idle":
        return "not run"
    run = snapshot["run"]
    node = f" in {run['failed_node']}" if run["failed_node"] else ""
    return f"{run['status']}{node} after {run['elapsed_s']:.1f} s"
