"""Small tables for the eye: text in a terminal, HTML in a notebook. `%evo list` is one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from evonb.graph import GraphEngine
from evonb.widgets.feed import known_snapshot

__all__ = ["Table", "graph_table"]


@dataclass(frozen=True, slots=True)
class Table:
    """Prints as a table; in a notebook as one in HTML.

    Attributes:
        head: Names of the columns.
        rows: One text for each column.
        empty: What to say when there are no rows.
        note: A line below.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    empty: str = "nothing"
    note: str = ""

    def __repr__(self) -> str:
        if not self.rows:
            return self.empty
        lines = [self.head, *self.rows]
        widths = [max(len(line[column]) for line in lines) for column in range(len(self.head))]
        table = "\n".join(
            "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in lines
        )
        return f"{table}\n{self.note}" if self.note else table

    def _repr_html_(self) -> str | None:
        if not self.rows:
            return None
        head = "".join(f"<th>{escape(text)}</th>" for text in self.head)
        body = "".join("<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in self.rows)
        note = f"<p>{escape(self.note)}</p>" if self.note else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}"


def graph_table(graphs: Mapping[str, GraphEngine]) -> Table:
    """One row for each graph, in the order of the names' first use."""
    rows = [_row(name, graph) for name, graph in graphs.items()]
    return Table(("graph", "nodes", "edges", "last run"), rows, "No graphs yet: begin a cell with %%evograph NAME")


def _row(name: str, graph: GraphEngine) -> tuple[str, str, str, str]:
    topology = graph.topology()
    nodes = sum(node.kind in ("node", "subgraph") for node in topology.nodes)
    return name, str(nodes), str(len(topology.edges)), _last_run(graph)


def _last_run(graph: GraphEngine) -> str:
    snapshot = known_snapshot(graph)
    if snapshot is None or snapshot["run"]["status"] == "idle":
        return "not run"
    run = snapshot["run"]
    node = f" in {run['failed_node']}" if run["failed_node"] else ""
    return f"{run['status']}{node} after {run['elapsed_s']:.1f} s"
