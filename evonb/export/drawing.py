"""What a layout engine is given: sized boxes and directed lines, made from a topology.

Here stand the choices of what to draw at all: which sub-graphs begin folded, and when the special nodes dissolve
into small marks. Where things go is not decided here.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal

from evonb.export.cycles import back_edges
from evonb.export.measure import name_width
from evonb.export.shared import place, shapes
from evonb.graph.topology import EdgeInfo, NodeInfo, Topology

Density = Literal["normal", "compact"]

MAX_FRAMES = 12
"""With more open sub-graphs than these the picture is mostly frames: the inner ones begin folded."""
MAX_COMB = 8
"""More edges than these into `end` (or out of `start`) would be a comb over the whole picture."""


@dataclass(frozen=True, slots=True)
class Sized:
    """A box to place. A `frame` gets its size from what lies in it; a `mark` only keeps room for an end mark."""

    id: str
    w: float
    h: float
    parent: str | None = None
    rank: Literal["free", "first", "last"] = "free"
    frame: bool = False
    mark: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A line to route, as declared; `back` lines close a loop and run against the flow.

    `same` are further edges that are drawn as this line.
    """

    id: str
    source: str
    target: str
    label: str = ""
    back: bool = False
    same: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Drawing:
    """All boxes and lines, in declaration order."""

    nodes: tuple[Sized, ...]
    lines: tuple[Line, ...]

    @property
    def has_frames(self) -> bool:
        return any(node.frame for node in self.nodes)


def prepare(topology: Topology, density: Density, *, flat: bool = False) -> Drawing:
    """The boxes and lines of a topology; `flat` without any frame.

    Edges inside a folded sub-graph are left out, edges over its border end at its box and share one line where they
    lead the same way. Edges that name an unknown node are left out too: `check` reports those, the rest is drawn.
    """
    shown = shown_flat(topology) if flat else shown_as(topology)
    groups = _groups(topology, shown)
    edges = [group[0] for group in groups]
    nodes = [node for node in topology.nodes if shown.get(node.id) == node.id]
    combs = _combs(nodes, edges)
    back = back_edges([n.id for n in nodes], [(shown[e.source], shown[e.target]) for e in edges])
    lines = []
    for i, (e, group) in enumerate(zip(edges, groups, strict=True)):
        source, target = _end(e, "source", shown, combs), _end(e, "target", shown, combs)
        same = tuple(other.id for other in group[1:])
        lines.append(Line(e.id, source, target, "" if same else e.label, i in back, same))
    frames = {node.parent for node in nodes}
    sized = [_sized(node, density, frames) for node in nodes if node.id not in combs]
    return Drawing((*sized, *_marks(nodes, edges, combs)), tuple(lines))


def _groups(topology: Topology, shown: dict[str, str]) -> list[list[EdgeInfo]]:
    """Edges by the line they are drawn as: each its own, but those of folded boxes by their two ends."""
    groups: dict[object, list[EdgeInfo]] = {}
    for e in topology.edges:
        if e.source not in shown or e.target not in shown:
            continue
        ends = (shown[e.source], shown[e.target])
        folded = ends != (e.source, e.target)
        if not folded or ends[0] != ends[1]:
            groups.setdefault(ends if folded else e.id, []).append(e)
    return list(groups.values())


def shown_as(topology: Topology) -> dict[str, str]:
    """For each node the box it is drawn as: itself, or the folded sub-graph around it."""
    parents = {node.id: node.parent for node in topology.nodes}
    chains = {node.id: _chain(node.id, parents) for node in topology.nodes}
    frames = {parent for parent in parents.values() if parent is not None}
    depth = max((len(chain) for chain in chains.values()), default=0)
    while depth > 0 and sum(len(chains[f]) <= depth for f in frames if f in chains) > MAX_FRAMES:
        depth -= 1
    # A frame at depth d holds nodes at d + 1; folding at `depth` keeps boxes up to the frames that would hold more.
    return {name: chain[min(depth, len(chain) - 1)] for name, chain in chains.items()}


def shown_flat(topology: Topology) -> dict[str, str]:
    """The same without frames: sub-graphs with edges of their own are folded, others only group and aren't drawn."""
    parents = {node.id: node.parent for node in topology.nodes}
    frames = set(parents.values())
    linked = {name for edge in topology.edges for name in (edge.source, edge.target)} & frames
    chains = {node.id: _chain(node.id, parents) for node in topology.nodes if node.id not in frames - linked}
    return {name: next((outer for outer in chain if outer in linked), name) for name, chain in chains.items()}


def _chain(name: str, parents: dict[str, str | None]) -> list[str]:
    """The node with all sub-graphs around it, outermost first."""
    chain = [name]
    while (parent := parents.get(chain[0])) is not None and parent in parents and parent not in chain:
        chain.insert(0, parent)
    return chain


def _combs(nodes: list[NodeInfo], edges: list[EdgeInfo]) -> set[str]:
    sources, targets = Counter(e.source for e in edges), Counter(e.target for e in edges)
    count = {"start": sources, "end": targets}
    return {node.id for node in nodes if node.kind in count and count[node.kind][node.id] > MAX_COMB}


def _end(edge: EdgeInfo, side: Literal["source", "target"], shown: dict[str, str], combs: set[str]) -> str:
    name: str = getattr(edge, side)
    return f"{edge.id}\n{side}" if name in combs else shown[name]


def _sized(node: NodeInfo, density: Density, frames: set[str | None]) -> Sized:
    sizes = shapes()["density"][density]
    if node.kind in ("start", "end"):
        # Only the outermost ones: inner ones belong to the rows of their frame.
        rank: Literal["free", "first", "last"] = "free"
        if node.parent is None:
            rank = "first" if node.kind == "start" else "last"
        return Sized(node.id, sizes["terminal_width"], sizes["terminal_height"], node.parent, rank)
    text = name_width(node.name)
    if node.id in frames:
        return Sized(node.id, text + 60, sizes["node_height"], node.parent, frame=True)
    width = place("node", "name_x") + text + place("node", "name_right")
    return Sized(node.id, float(round(width)), sizes["node_height"], node.parent)


def _marks(nodes: list[NodeInfo], edges: list[EdgeInfo], combs: set[str]) -> list[Sized]:
    parents = {node.id: node.parent for node in nodes}
    room = 2 * place("endmark", "radius") + 5
    ends = [(f"{e.id}\n{side}", name) for e in edges for side, name in (("source", e.source), ("target", e.target))]
    return [Sized(mark, room, room, parents[name], mark=True) for mark, name in ends if name in combs]
