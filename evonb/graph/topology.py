"""What a graph looks like, as plain data: the one input of the layout, the pictures and every exporter."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

NodeKind = Literal["start", "end", "node", "subgraph"]
EdgeKind = Literal["plain", "conditional"]

PATH_SEPARATOR = " › "


def node_id(path: tuple[str, ...], name: str) -> str:
    """The id of a node in a picture: its own name, after the sub-graph nodes around it."""
    return PATH_SEPARATOR.join((*path, name))


@dataclass(frozen=True, slots=True)
class NodeInfo:
    """One node.

    Attributes:
        id: Unique in the picture; see `node_id`.
        name: What the user called it.
        kind: Special node, ordinary node, or a node that is itself a graph.
        join: "all" when the node waits for every predecessor of an edge group.
        parent: Id of the sub-graph node around it, None at top level.
        doc: Docstring of the user's function, "" if it has none.
        source: Source text of the user's function, "" where Python doesn't know it.
        location: "cell [3], line 24" or "triage.py:24", "" if unknown.
    """

    id: str
    name: str
    kind: NodeKind = "node"
    join: Literal["any", "all"] = "any"
    parent: str | None = None
    doc: str = ""
    source: str = ""
    location: str = ""


@dataclass(frozen=True, slots=True)
class EdgeInfo:
    """One logical edge; a conditional edge gives one for each declared target.

    Attributes:
        id: Unique in the picture, the same for equal graphs: "a>b", then "a>b#1", "a>b#2" for more edges of one pair.
        source, target: Node ids.
        kind: "conditional" for a router's edges.
        group: Edge group name.
        label: What to write on it: the router's label, or a group that isn't the default, else "".
    """

    id: str
    source: str
    target: str
    kind: EdgeKind = "plain"
    group: str = "all"
    label: str = ""


@dataclass(frozen=True, slots=True)
class Topology:
    """A whole graph: special nodes included, sub-graphs flattened with `parent`, all in declaration order."""

    name: str
    nodes: tuple[NodeInfo, ...]
    edges: tuple[EdgeInfo, ...]
    findings: tuple[Finding, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that `check()` noticed.

    Attributes:
        code: "unreachable", "dead_end", "loop_without_exit", "join_never_fires", ...
        level: "error" findings make `build` refuse, "warning" findings are told.
        nodes: Ids of the nodes concerned.
        what, where, fix: As in every error.
    """

    code: str
    level: Literal["error", "warning", "note"]
    nodes: tuple[str, ...]
    what: str
    where: str = ""
    fix: str = ""
