"""Puts each edge label on its own line, or beside it, where it hides least.

The engine's own places are often far from the line; a greedy pass, shortest line first, does better.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evonb.export.drawing import Drawing
from evonb.export.geometry import Box, Route
from evonb.export.grid import Grid
from evonb.export.measure import label_size
from evonb.export.shared import place

_STEPS = (0.5, 0.4, 0.6, 0.32, 0.68, 0.25, 0.75, 0.15, 0.85)
_LONG_PX = 150.0
_STEP_PX = 16.0
_MOST_STEPS = 60
_BESIDE_PX = 4
HIDES = 1000
_CLASH = 5000.0
_FOREIGN = 120.0
_NEAR_PX = 12
"""A label further than this from its line would be read as somebody else's."""


def place_labels(
    drawing: Drawing, boxes: Mapping[str, Box], routes: Mapping[str, Route]
) -> tuple[dict[str, Route], int]:
    """The same routes with a label box on each that has a label, and what speaks against their places.

    The second number counts a label on a node or on a label as `HIDES`, one on another line as 1.
    """
    labelled = [line for line in drawing.lines if line.label]
    if not labelled:
        return dict(routes), 0
    field = _Field(drawing, boxes, routes)
    placed = dict(routes)
    for line in sorted(labelled, key=lambda line: _length(routes[line.id])):
        route = routes[line.id]
        box = field.best(line.id, route, label_size(line.label))
        placed[line.id] = Route(route.points, box)
    return placed, field.faults


class _Field:
    """Everything a label should keep off, found by place."""

    def __init__(self, drawing: Drawing, boxes: Mapping[str, Box], routes: Mapping[str, Route]) -> None:
        self._nodes: Grid[str] = Grid()
        self._lines: Grid[str] = Grid()
        self._soft: Grid[str] = Grid()
        self._labels: Grid[str] = Grid()
        self.faults = 0
        for node in drawing.nodes:
            box = boxes[node.id]
            if node.frame:
                self._nodes.add(Box(box.x, box.y, box.w, place("group", "title_height")), node.id)
            else:
                self._nodes.add(box.grown(6, 2), node.id)
                # The gate of a paused node stands here.
                self._soft.add(Box(box.x, box.y - 9, box.w, 9), node.id)
        for name, route in routes.items():
            for segment in route.segments():
                self._lines.add(segment.grown(1, 1), name)
            x, y = route.points[-1]
            self._soft.add(Box(x - 5, y - 9, 10, 18), name)

    def best(self, name: str, route: Route, size: tuple[float, float]) -> Box:
        """The cheapest place for the label of one line, which is taken from then on."""
        spots = _spots(route, size)
        cost, box = min(((self._cost(name, box, extra), box) for box, extra in spots), key=lambda found: found[0])
        self.faults += HIDES * int(cost >= _CLASH) + int(cost >= _FOREIGN)
        self._labels.add(box.grown(2, 1), name)
        return box

    def _cost(self, name: str, box: Box, extra: float) -> float:
        foreign = {other for other in self._lines.touching(box) if other != name}
        return (
            2 * _CLASH * len(self._nodes.touching(box))
            + _CLASH * len(self._labels.touching(box))
            + _FOREIGN * len(foreign)
            + 60 * len(self._soft.touching(box))
            + extra
        )


def _spots(route: Route, size: tuple[float, float]) -> Iterator[tuple[Box, float]]:
    """Boxes on and beside each piece of the line, with what speaks against each by itself."""
    w, h = size
    walked, whole = 0.0, _length(route)
    for (ax, ay), (bx, by) in zip(route.points, route.points[1:], strict=False):
        length = abs(bx - ax) + abs(by - ay)
        upright = abs(bx - ax) < abs(by - ay)
        for step in _steps(length):
            x, y = ax + (bx - ax) * step, ay + (by - ay) * step
            # Near the source: a label says why this way was chosen, and the choice is made there.
            extra = 12 * (walked + length * step) / max(whole, 1.0) + abs(step - 0.5)
            short = 8.0 if (h if upright else w) > length else 0.0
            yield Box(x - w / 2, y - h / 2, w, h), extra + short
            for away in (_BESIDE_PX, _NEAR_PX - 2):
                side = extra + 6 + away / 4
                if upright:
                    yield Box(x + away, y - h / 2, w, h), side
                    yield Box(x - away - w, y - h / 2, w, h), side
                else:
                    yield Box(x - w / 2, y - away - h, w, h), side
                    yield Box(x - w / 2, y + away, w, h), side
        walked += length


def _steps(length: float) -> Iterator[float]:
    """Where on a piece to try, the middle first; long pieces are tried more closely."""
    yield from _STEPS
    if length > _LONG_PX:
        count = min(_MOST_STEPS, int(length / _STEP_PX))
        yield from (part / count for part in range(1, count))


def _length(route: Route) -> float:
    return sum(segment.w + segment.h for segment in route.segments())
