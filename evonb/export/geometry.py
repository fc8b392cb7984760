"""Boxes, routes and layouts as plain values, and the few questions that placing and checking ask of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from evonb.protocol.snapshot import WireBox, WireLayout, WireRoute

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle; x and y are its top left corner."""

    x: float
    y: float
    w: float
    h: float

    @property
    def right(self) -> float:
        return self.x + self.w

    @property
    def bottom(self) -> float:
        return self.y + self.h

    @property
    def center(self) -> Point:
        return (self.x + self.w / 2, self.y + self.h / 2)

    def grown(self, dx: float, dy: float) -> Box:
        """The box with `dx` more on the left and right and `dy` more above and below."""
        return Box(self.x - dx, self.y - dy, self.w + 2 * dx, self.h + 2 * dy)

    def moved(self, dx: float, dy: float) -> Box:
        return Box(self.x + dx, self.y + dy, self.w, self.h)

    def overlaps(self, other: Box) -> bool:
        """Whether the two share an area; touching borders don't count."""
        return self.x < other.right and other.x < self.right and self.y < other.bottom and other.y < self.bottom

    def contains(self, other: Box) -> bool:
        return self.x <= other.x and other.right <= self.right and self.y <= other.y and other.bottom <= self.bottom


@dataclass(frozen=True, slots=True)
class Route:
    """Corner points from the source's border to the target's, and where the label stands."""

    points: tuple[Point, ...]
    label: Box | None = None

    def moved(self, dx: float, dy: float) -> Route:
        points = tuple((x + dx, y + dy) for x, y in self.points)
        return Route(points, self.label.moved(dx, dy) if self.label else None)

    def segments(self) -> Iterator[Box]:
        """Each straight piece as a box without area."""
        for (ax, ay), (bx, by) in zip(self.points, self.points[1:], strict=False):
            yield Box(min(ax, bx), min(ay, by), abs(ax - bx), abs(ay - by))


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything is drawn, in pixels at 100 %, with the top left corner at (0, 0).

    A special node without a box isn't drawn as a node: each of its edges ends in a small mark at the last
    (or, for the start, first) point of its route.
    """

    width: float
    height: float
    boxes: Mapping[str, Box] = field(default_factory=dict)
    routes: Mapping[str, Route] = field(default_factory=dict)

    def to_wire(self) -> WireLayout:
        """The same as plain JSON, rounded to a tenth of a pixel."""
        return {
            "width": _tenth(self.width),
            "height": _tenth(self.height),
            "boxes": {name: _wire_box(box) for name, box in self.boxes.items()},
            "routes": {name: _wire_route(route) for name, route in self.routes.items()},
        }

    @classmethod
    def from_wire(cls, wire: WireLayout) -> Layout:
        """The layout that `to_wire` wrote."""
        routes = {
            name: Route(tuple((x, y) for x, y in route["points"]), Box(**route["label"]) if route["label"] else None)
            for name, route in wire["routes"].items()
        }
        return cls(wire["width"], wire["height"], {n: Box(**b) for n, b in wire["boxes"].items()}, routes)


def bounds(boxes: Iterable[Box], routes: Iterable[Route]) -> Box:
    """The smallest box around everything; a box without area at the origin if there is nothing."""
    parts = [*boxes]
    for route in routes:
        parts += route.segments()
        if route.label:
            parts.append(route.label)
    if not parts:
        return Box(0, 0, 0, 0)
    x, y = min(p.x for p in parts), min(p.y for p in parts)
    return Box(x, y, max(p.right for p in parts) - x, max(p.bottom for p in parts) - y)


def _tenth(value: float) -> float:
    return round(value, 1) + 0.0


def _wire_box(box: Box) -> WireBox:
    return {"x": _tenth(box.x), "y": _tenth(box.y), "w": _tenth(box.w), "h": _tenth(box.h)}


def _wire_route(route: Route) -> WireRoute:
    points = [[_tenth(x), _tenth(y)] for x, y in route.points]
    return {"points": points, "label": _wire_box(route.label) if route.label else None}
