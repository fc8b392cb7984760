"""The layered layout by graphlay: rows from top to bottom, orthogonal edges, frames around sub-graphs.

Places nodes and edges only; labels are placed afterwards by `labels.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evonb._optional import require
from evonb.export.drawing import Density, Drawing, Line
from evonb.export.geometry import Box, Point, Route
from evonb.export.shared import place

_SPACING = {
    "normal": {"layer_gap": 36, "node_gap": 30, "dummy_gap": 18, "port_gap": 14, "port_stroke_clear": 8, "stub": 9},
    "compact": {"layer_gap": 26, "node_gap": 22, "dummy_gap": 14, "port_gap": 12, "port_stroke_clear": 8, "stub": 7},
}
_SIDEWAYS = {"layer_gap": 48, "node_gap": 12, "dummy_gap": 10, "port_gap": 8}

Placed = tuple[dict[str, Box], dict[str, Route]]


def layered(
    drawing: Drawing,
    density: Density,
    *,
    order: Mapping[str, Point] | None = None,
    sideways: bool = False,
    stretch: float = 0.0,
    quick: bool = False,
) -> Placed:
    """Boxes and routes by id, marks included.

    Args:
        drawing: What to place.
        density: Sets the gaps.
        order: Points whose left-to-right order the rows should follow.
        sideways: Run from left to right.
        stretch: Further pixels between the rows and between the lines, where labels need room.
        quick: Less search for the best order within the rows.

    Raises:
        MissingDependency: graphlay isn't installed.
        GraphlayError: The engine refused the graph.
    """
    graphlay = require("graphlay", "to lay out a graph")
    spacing = {
        **_SPACING[density],
        **(_SIDEWAYS if sideways else {}),
        "compound_header": place("group", "title_height"),
    }
    spacing |= {gap: spacing[gap] + stretch for gap in ("layer_gap", "node_gap", "dummy_gap", "port_gap")}
    options: dict[str, Any] = {"spacing": spacing, "cycles": {"strategy": "follow_flow"}}
    if quick:
        options["effort"] = "fast"
    if order:
        options["seed_mode"] = "structure"
    if sideways:
        options["direction"] = "leftright"
        if not drawing.has_frames and not any(line.label or line.back for line in drawing.lines):
            # Wide fans become trunks. Not where lines differ by label or direction or cross frames: a trunk hides it.
            options["routing"] = {"merge_edges": "both"}
    graph = _request(drawing, order or {})
    placed = graphlay.layout(graph, preset="process_map", options=options)
    boxes = {node.id: _box(found) for node, found in zip(drawing.nodes, placed.nodes, strict=True)}
    routes = {line.id: _route(line, found) for line, found in zip(drawing.lines, placed.edges, strict=True)}
    frames = {node.id: boxes[node.id] for node in drawing.nodes if node.frame}
    return boxes, {line.id: _to_borders(routes[line.id], frames, line) for line in drawing.lines}


def _request(drawing: Drawing, order: Mapping[str, Point]) -> dict[str, Any]:
    index = {node.id: i for i, node in enumerate(drawing.nodes)}
    nodes: list[dict[str, Any]] = []
    for node in drawing.nodes:
        item: dict[str, Any] = {"size": {"width": node.w, "height": node.h}, "shape": "box", "key": node.id}
        if node.parent in index:
            item["parent"] = index[node.parent]
        if node.rank != "free":
            item["rank"] = node.rank
        if node.id in order:
            item["position"] = dict(zip("xy", order[node.id], strict=True))
        nodes.append(item)
    edges = [_ends(line, index) for line in drawing.lines]
    return {"nodes": nodes, "edges": edges}


def _ends(line: Line, index: Mapping[str, int]) -> dict[str, Any]:
    """Loops are handed over turned round: the engine's own choice puts nodes of the middle on top."""
    source, target = (line.target, line.source) if line.back else (line.source, line.target)
    return {"source": index[source], "target": index[target], "weight": 1.0}


def _box(found: Mapping[str, Any]) -> Box:
    center, size = found["center"], found["size"]
    return Box(center["x"] - size["width"] / 2, center["y"] - size["height"] / 2, size["width"], size["height"])


def _route(line: Line, found: Mapping[str, Any]) -> Route:
    points = tuple((p["x"], p["y"]) for p in found["points"])
    return Route(points[::-1] if line.back else points)


def _to_borders(route: Route, frames: Mapping[str, Box], line: Line) -> Route:
    """Ends the line at a frame's border: the engine leads it on to the frame's inner ground, below the title."""
    points = list(route.points)
    if line.target in frames and line.source != line.target:
        points = _clipped(points, frames[line.target])
    if line.source in frames and line.source != line.target:
        points = _clipped(points[::-1], frames[line.source])[::-1]
    return Route(tuple(points))


def _clipped(points: list[Point], frame: Box) -> list[Point]:
    """The points up to where they enter the frame for good; all of them if they begin inside."""
    while len(points) > 2 and _inside(points[-2], frame):
        points = points[:-1]
    (ax, ay), (bx, by) = points[-2:]
    if _inside((ax, ay), frame) or not _inside((bx, by), frame):
        return points
    entry = (
        min(max(ax, frame.x), frame.right) if ay == by else bx,
        min(max(ay, frame.y), frame.bottom) if ax == bx else by,
    )
    return [*points[:-1], entry]


def _inside(point: Point, frame: Box) -> bool:
    return frame.x < point[0] < frame.right and frame.y < point[1] < frame.bottom
