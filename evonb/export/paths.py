"""From corner points to what SVG draws: a path with round corners, and the arrow head at its end."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import hypot

from evonb.export.geometry import Point
from evonb.export.shared import place
from evonb.export.svg import number


def line_path(points: Sequence[Sequence[float]]) -> str:
    """The line of an edge; it ends a little early, so that the arrow head's tip stays sharp."""
    corners = _distinct(points)
    if len(corners) < 2:
        return ""
    ux, uy, length = _direction(corners[-2], corners[-1])
    by = min(place("edge", "shorten"), length)
    corners[-1] = (corners[-1][0] - ux * by, corners[-1][1] - uy * by)
    d = f"M{_at(corners[0])}"
    for before, corner, after in zip(corners, corners[1:], corners[2:], strict=False):
        d += _bend(before, corner, after)
    return f"{d}L{_at(corners[-1])}"


def head_path(points: Sequence[Sequence[float]]) -> str:
    """The triangle at the end, pointing the way the last stretch runs."""
    corners = _distinct(points)
    if len(corners) < 2:
        return ""
    ux, uy, _ = _direction(corners[-2], corners[-1])
    (x, y), long, half = corners[-1], place("edge", "head_length"), place("edge", "head_half_width")
    left = (x - ux * long - uy * half, y - uy * long + ux * half)
    right = (x - ux * long + uy * half, y - uy * long - ux * half)
    return f"M{_at((x, y))}L{_at(left)}L{_at(right)}Z"


def _bend(before: Point, corner: Point, after: Point) -> str:
    bx, by, back = _direction(corner, before)
    ax, ay, on = _direction(corner, after)
    radius = min(place("edge", "corner_radius"), back / 2, on / 2)
    start = (corner[0] + bx * radius, corner[1] + by * radius)
    end = (corner[0] + ax * radius, corner[1] + ay * radius)
    return f"L{_at(start)}Q{_at(corner)} {_at(end)}"


def _distinct(points: Sequence[Sequence[float]]) -> list[Point]:
    """Without repeated points, which have no direction."""
    found = [(float(x), float(y)) for x, y in points]
    return found[:1] + [b for a, b in pairwise(found) if abs(a[0] - b[0]) + abs(a[1] - b[1]) > 0.01]


def _direction(start: Point, end: Point) -> tuple[float, float, float]:
    length = hypot(end[0] - start[0], end[1] - start[1])
    return (end[0] - start[0]) / (length or 1), (end[1] - start[1]) / (length or 1), length


def _at(point: Point) -> str:
    return f"{number(point[0])} {number(point[1])}"
