"""The one place where a graph gets its coordinates; everything that draws uses them as they are.

`layout` is deterministic and needs no browser. It chooses the engine: graphlay for nearly everything, a plain
layering beyond a budget of size and density and where graphlay isn't installed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from functools import cache
from statistics import median

from evonb.errors import MissingDependency
from evonb.export.cycles import siblings
from evonb.export.drawing import Density, Drawing, prepare
from evonb.export.geometry import Box, Layout, Point, Route, bounds
from evonb.export.labels import HIDES, place_labels
from evonb.export.layered import Placed, layered
from evonb.export.measure import label_size
from evonb.export.plain import count_bends, plain
from evonb.graph.topology import Topology
from evonb.logger import get_logger

__all__ = ["Layout", "finished", "layout", "roomy"]

_log = get_logger(__name__)

# A picture both wider than a screen and much wider than high is tried on its side.
_WIDE_PX = 1400
_WIDE_RATIO = 2.2
# graphlay's time grows with the lines and with the rows they cross: beyond the first numbers it hurries, beyond the
# others it would take many seconds.
_QUICK_SIZE = 700
_MAX_SIZE = 6000
_MAX_BENDS = 2000
# Tried in turn until every label has a place of its own.
_STRETCHES_PX = (0.0, 12.0, 24.0, 44.0, 84.0)
# Wider than this only where a label would else hide a node or a label.
_STRETCH_FOR_LINES_PX = 24.0
_MAX_RETRY_LINES = 500
# How far right of its neighbours a new node is expected.
_BESIDE_PX = 200.0
# How far a kept picture may be moved to the right or down to stay where it was.
_MAX_SHIFT_PX = 160


def layout(topology: Topology, *, density: Density = "normal", keep: Layout | None = None) -> Layout:
    """Where every node, edge and label of a graph is drawn.

    The same topology gives the same layout. No two nodes overlap, and nothing resizes during a run: boxes have room
    for time and count. Sub-graphs are frames around their nodes; many sub-graphs begin folded into one box each.

    Args:
        topology: The graph.
        density: "compact" for the debugger and the overview.
        keep: An earlier layout of this graph. Nodes that are still there keep their order and, as far as the
            change allows, their place.

    Returns:
        Boxes by node id and routes by edge id. Nodes inside a folded sub-graph, and special nodes that are drawn
        as small marks, have no box.
    """
    drawing = prepare(topology, density)
    if keep and _unchanged(drawing, keep):
        return keep
    placed = _by_engine_within_budget(drawing, density, keep)
    if placed is None:
        drawing = prepare(topology, density, flat=True)
        placed = roomy(drawing, lambda stretch: plain(drawing, density, stretch))
    return finished(drawing, *placed, keep)


def _unchanged(drawing: Drawing, keep: Layout) -> bool:
    """Whether the old layout has the same boxes, lines and labels, so that it can be used as it is."""
    solid = {node.id: (node.w, node.h) for node in drawing.nodes if not (node.frame or node.mark)}
    frames = {node.id for node in drawing.nodes if node.frame}
    old = {name: (box.w, box.h) for name, box in keep.boxes.items() if name not in frames}
    labels = {line.id: label_size(line.label)[0] if line.label else None for line in drawing.lines}
    labels |= dict.fromkeys((name for line in drawing.lines for name in line.same), None)
    drawn = {name: route.label.w if route.label else None for name, route in keep.routes.items()}
    return old == solid and drawn == labels and frames == keep.boxes.keys() - old.keys()


def _by_engine_within_budget(drawing: Drawing, density: Density, keep: Layout | None) -> Placed | None:
    """The engine's placing; None if it isn't there, refuses the graph, or would take too long."""
    size = len(drawing.nodes) + len(drawing.lines)
    bends = count_bends(drawing)
    if size > _MAX_SIZE or bends > _MAX_BENDS:
        return None
    try:
        return _by_engine(drawing, density, keep, quick=size + bends > _QUICK_SIZE)
    except (MissingDependency, ValueError) as error:  # graphlay's own error is a ValueError
        _log.debug("graphlay didn't place the graph, plain layering serves: %s", error)
        return None


def _by_engine(drawing: Drawing, density: Density, keep: Layout | None, *, quick: bool) -> Placed:
    old = _order_like(drawing, keep) if keep else None

    @cache
    def engine(stretch: float, sideways: bool) -> Placed:
        return layered(drawing, density, order=old, sideways=sideways, stretch=stretch, quick=quick)

    sideways = _turn_wanted(engine)

    def attempt(stretch: float) -> Placed:
        boxes, routes = engine(stretch, sideways)
        wanted = _mirror_wanted(drawing, boxes, keep, vertical=sideways)
        return _mirrored(boxes, routes, vertical=sideways) if wanted else (boxes, routes)

    return roomy(drawing, attempt)


def roomy(drawing: Drawing, engine: Callable[[float], Placed]) -> Placed:
    """The tightest placing with the fewest labels on other things; `engine` places with further pixels of room."""
    best: tuple[int, Placed] | None = None
    for stretch in _STRETCHES_PX:
        boxes, routes = engine(stretch)
        routes, faults = place_labels(drawing, boxes, routes)
        if best is None or faults < best[0]:
            best = (faults, (boxes, routes))
        enough = faults == 0 or (stretch >= _STRETCH_FOR_LINES_PX and best[0] < HIDES)
        if enough or len(drawing.lines) > _MAX_RETRY_LINES:
            break
    assert best is not None
    return best[1]


def _order_like(drawing: Drawing, keep: Layout) -> dict[str, Point]:
    """Where each box was, and for new ones a place right of their neighbours: the engine wants a place for all."""
    known = {node.id: keep.boxes[node.id].center for node in drawing.nodes if node.id in keep.boxes}
    around: dict[str, list[str]] = {}
    for line in drawing.lines:
        around.setdefault(line.source, []).append(line.target)
        around.setdefault(line.target, []).append(line.source)
    todo = [node.id for node in drawing.nodes if node.id not in known]
    while todo:
        placed = {name: near for name in todo if (near := [known[n] for n in around.get(name, ()) if n in known])}
        for name, near in placed.items():
            x, y = sum(p[0] for p in near) / len(near), sum(p[1] for p in near) / len(near)
            known[name] = (x + _BESIDE_PX, y)
        todo = [name for name in todo if name not in placed]
        if not placed:  # these have no neighbour that was there
            known |= dict.fromkeys(todo, (keep.width + _BESIDE_PX, 0.0))
            break
    return known


def _turn_wanted(engine: Callable[[float, bool], Placed]) -> bool:
    """Whether the picture is too wide and turning it on its side helps: readers scroll down, not sideways."""
    upright = bounds(engine(0.0, False)[0].values(), ())
    if upright.w <= _WIDE_PX or upright.w <= _WIDE_RATIO * upright.h:
        return False
    return bounds(engine(0.0, True)[0].values(), ()).w < upright.w


def _mirror_wanted(drawing: Drawing, boxes: Mapping[str, Box], keep: Layout | None, *, vertical: bool) -> bool:
    """Whether more pairs come out in the wanted order when the picture is mirrored.

    Wanted is the old order where there is an old picture, else the order of declaration.
    """
    axis = 1 if vertical else 0
    if keep:
        pairs = [(a, b) for a, b in _neighbours(boxes, keep, axis)]
    else:
        pairs = siblings((line.source, line.target) for line in drawing.lines if not line.back)
    score = 0
    for first, second in pairs:
        a, b = boxes[first], boxes[second]
        if abs(a.center[1 - axis] - b.center[1 - axis]) < min(a.h, b.h):  # one row
            score += 1 if a.center[axis] < b.center[axis] else -1
    return score < 0


def _neighbours(boxes: Mapping[str, Box], keep: Layout, axis: int) -> list[tuple[str, str]]:
    common = sorted((name for name in boxes if name in keep.boxes), key=lambda n: keep.boxes[n].center[axis])
    return list(itertools.pairwise(common))


def _mirrored(boxes: Mapping[str, Box], routes: Mapping[str, Route], *, vertical: bool) -> Placed:
    if vertical:
        return (
            {name: Box(b.x, -b.bottom, b.w, b.h) for name, b in boxes.items()},
            {name: Route(tuple((x, -y) for x, y in r.points)) for name, r in routes.items()},
        )
    return (
        {name: Box(-b.right, b.y, b.w, b.h) for name, b in boxes.items()},
        {name: Route(tuple((-x, y) for x, y in r.points)) for name, r in routes.items()},
    )


def finished(drawing: Drawing, boxes: dict[str, Box], routes: dict[str, Route], keep: Layout | None) -> Layout:
    """Moves the whole to the origin, or to where it was, and gives the edges of one line the same route."""
    boxes = {node.id: boxes[node.id] for node in drawing.nodes if not node.mark and node.id in boxes}
    whole = bounds(boxes.values(), routes.values())
    dx, dy = _shift(boxes, whole, keep)
    moved = {name: box.moved(dx, dy) for name, box in boxes.items()}
    lines = {name: route.moved(dx, dy) for name, route in routes.items()}
    for line in drawing.lines:
        lines |= dict.fromkeys(line.same, lines[line.id])
    return Layout(whole.right + dx, whole.bottom + dy, moved, lines)


def _shift(boxes: Mapping[str, Box], whole: Box, keep: Layout | None) -> tuple[float, float]:
    common = [name for name in boxes if keep and name in keep.boxes]
    if not keep or not common:
        return -whole.x, -whole.y
    dx = median(keep.boxes[name].x - boxes[name].x for name in common)
    dy = median(keep.boxes[name].y - boxes[name].y for name in common)
    # Nothing may leave the picture at the left or top, and no wide empty border may grow over many changes.
    return (
        min(max(dx, -whole.x), -whole.x + _MAX_SHIFT_PX),
        min(max(dy, -whole.y), -whole.y + _MAX_SHIFT_PX),
    )
