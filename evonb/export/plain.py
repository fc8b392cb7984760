"""A plain layered layout in pure Python: for very dense graphs, and where graphlay isn't installed.

Rows, bends at right angles, no overlap, no line through a node. Less balanced than graphlay's, and it knows no frames:
it wants a flat drawing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from evonb.export.drawing import Density, Drawing, Line
from evonb.export.geometry import Box, Point, Route

_GAP = {"normal": 36.0, "compact": 26.0}
_NODE_GAP = 30.0
_BEND_GAP = 14.0
_TRACK = 8.0
_LOOP = 18.0
_SWEEPS = 4


@dataclass(slots=True, eq=False)
class _Slot:
    """One place in a row: a node, or the bend of a long line where it passes the row (no name, no size)."""

    node: str
    w: float
    h: float
    room: float
    x: float = 0.0
    up: list[_Link] = field(default_factory=list)
    down: list[_Link] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class _Link:
    """One line between two rows that follow each other; `track` numbers its level piece, -1 if it runs straight."""

    above: _Slot
    below: _Slot
    x_above: float = 0.0
    x_below: float = 0.0
    track: int = -1


def plain(drawing: Drawing, density: Density, stretch: float = 0.0) -> tuple[dict[str, Box], dict[str, Route]]:
    """Boxes and routes by id, marks included.

    Args:
        drawing: What to place, flat.
        density: Sets the gaps.
        stretch: Further pixels between the rows, where labels need room.
    """
    rows, chains = _rows(drawing)
    for sweep in range(_SWEEPS):
        _order(rows, downwards=sweep % 2 == 0)
    _place_in_rows(rows)
    for row in rows:
        for slot in row:
            _spread_ports(slot)
    levels = _levels(rows, _GAP[density] + stretch)
    boxes = {
        slot.node: Box(slot.x - slot.w / 2, (top + bottom - slot.h) / 2, slot.w, slot.h)
        for row, (top, bottom, _) in zip(rows, levels, strict=True)
        for slot in row
        if slot.node
    }
    first = {slot.node: index for index, row in enumerate(rows) for slot in row if slot.node}
    routes = {}
    for line in drawing.lines:
        if line.source == line.target:
            routes[line.id] = _loop(boxes[line.source])
        else:
            points = _points(chains[line.id], boxes, levels[first[_ends(line)[0]] :])
            routes[line.id] = Route(points[::-1] if line.back else points)
    return boxes, routes


def count_bends(drawing: Drawing) -> int:
    """How often a line passes a row: what makes a layered layout slow and wide."""
    layer = _layers(drawing)
    spans = (abs(layer[line.source] - layer[line.target]) for line in drawing.lines)
    return sum(span - 1 for span in spans if span > 1)


def _ends(line: Line) -> tuple[str, str]:
    return (line.target, line.source) if line.back else (line.source, line.target)


def _layers(drawing: Drawing) -> dict[str, int]:
    """The row of each node: one below the lowest of those that lead to it."""
    out: dict[str, list[str]] = {node.id: [] for node in drawing.nodes}
    waits = dict.fromkeys(out, 0)
    for line in drawing.lines:
        source, target = _ends(line)
        if source != target:
            out[source].append(target)
            waits[target] += 1
    layer = dict.fromkeys(out, 0)
    ready = [name for name, count in waits.items() if count == 0]
    for name in ready:  # grows while it is walked
        for target in out[name]:
            layer[target] = max(layer[target], layer[name] + 1)
            waits[target] -= 1
            if waits[target] == 0:
                ready.append(target)
    lowest = max(layer.values(), default=0)
    return layer | {node.id: lowest for node in drawing.nodes if node.rank == "last" and not out[node.id]}


def _rows(drawing: Drawing) -> tuple[list[list[_Slot]], dict[str, list[_Link]]]:
    layer = _layers(drawing)
    rows: list[list[_Slot]] = [[] for _ in range(max(layer.values(), default=-1) + 1)]
    loops = {line.source for line in drawing.lines if line.source == line.target}
    slots: dict[str, _Slot] = {}
    for node in drawing.nodes:
        slots[node.id] = _Slot(node.id, node.w, node.h, node.w + (2 * _LOOP if node.id in loops else 0))
        rows[layer[node.id]].append(slots[node.id])
    chains: dict[str, list[_Link]] = {}
    for line in drawing.lines:
        source, target = _ends(line)
        if source != target:
            bends = [_Slot("", 0.0, 0.0, 0.0) for _ in range(layer[source] + 1, layer[target])]
            for row, bend in enumerate(bends, layer[source] + 1):
                rows[row].append(bend)
            chains[line.id] = [_linked(a, b) for a, b in pairwise((slots[source], *bends, slots[target]))]
    return rows, chains


def _linked(above: _Slot, below: _Slot) -> _Link:
    link = _Link(above, below)
    above.down.append(link)
    below.up.append(link)
    return link


def _middle(slot: _Slot, *, downwards: bool, alone: float) -> float:
    """The mean place of the neighbours in the row before, `alone` if there are none."""
    places = [link.above.x for link in slot.up] if downwards else [link.below.x for link in slot.down]
    return sum(places) / len(places) if places else alone


def _order(rows: list[list[_Slot]], *, downwards: bool) -> None:
    """Sorts each row by the middle of its neighbours in the row before."""
    for row in rows if downwards else reversed(rows):
        for place, slot in enumerate(row):
            slot.x = _middle(slot, downwards=downwards, alone=float(place))
        row.sort(key=lambda slot: slot.x)
        for place, slot in enumerate(row):
            slot.x = float(place)


def _place_in_rows(rows: list[list[_Slot]]) -> None:
    for row in rows:
        _pack(row, [0.0] * len(row))
    for turn in range(2 * _SWEEPS):
        down = turn % 2 == 0
        for row in rows if down else list(reversed(rows)):
            _pack(row, [_middle(slot, downwards=down, alone=slot.x) for slot in row])


def _pack(row: list[_Slot], wanted: list[float]) -> None:
    """The places nearest to the wanted ones that keep order and gaps (least squares, by merging neighbours)."""
    offsets, walked = [], 0.0
    for before, slot in zip([None, *row], row, strict=False):
        if before is not None:
            gap = _NODE_GAP if before.node and slot.node else _BEND_GAP
            walked += (before.room + slot.room) / 2 + gap
        offsets.append(walked)
    blocks: list[tuple[float, int]] = []  # sum and count of the wanted starts
    for want, offset in zip(wanted, offsets, strict=True):
        total, count = want - offset, 1
        while blocks and blocks[-1][0] / blocks[-1][1] > total / count:
            before_total, before_count = blocks.pop()
            total, count = total + before_total, count + before_count
        blocks.append((total, count))
    starts = [total / count for total, count in blocks for _ in range(count)]
    for slot, start, offset in zip(row, starts, offsets, strict=True):
        slot.x = start + offset


def _spread_ports(slot: _Slot) -> None:
    """Gives each line its own point on the border, in the order of where it comes from or goes to."""
    for links, is_up in ((slot.up, True), (slot.down, False)):
        ordered = sorted(links, key=lambda link: link.above.x if is_up else link.below.x)
        step = min(14.0, max(0.0, slot.w - 24) / max(1, len(links) - 1))
        first = slot.x - step * (len(links) - 1) / 2
        for place, link in enumerate(ordered):
            if is_up:
                link.x_below = first + step * place
            else:
                link.x_above = first + step * place


def _levels(rows: list[list[_Slot]], gap: float) -> list[tuple[float, float, float]]:
    """Top and bottom of each row, and where the first level piece below it runs."""
    levels, y = [], 0.0
    for row in rows:
        height = max((slot.h for slot in row), default=0.0)
        used = _tracks([link for slot in row for link in slot.down])
        room = max(gap, used * _TRACK + gap / 2)
        levels.append((y, y + height, y + height + (room - (used - 1) * _TRACK) / 2))
        y += height + room
    return levels


def _tracks(links: list[_Link]) -> int:
    """Numbers the level pieces so that none lies on another; returns how many levels there are."""
    ends: list[float] = []
    for link in sorted(links, key=lambda link: min(link.x_above, link.x_below)):
        left, right = sorted((link.x_above, link.x_below))
        if right - left < 0.5:
            continue
        free = next((track for track, end in enumerate(ends) if end + _TRACK < left), len(ends))
        ends[free : free + 1] = [right]
        link.track = free
    return len(ends)


def _points(chain: list[_Link], boxes: dict[str, Box], levels: list[tuple[float, float, float]]) -> tuple[Point, ...]:
    points = [(chain[0].x_above, boxes[chain[0].above.node].bottom)]
    for link, (_, _, level) in zip(chain, levels, strict=False):
        if link.track >= 0:
            y = level + link.track * _TRACK
            points += [(link.x_above, y), (link.x_below, y)]
    points.append((chain[-1].x_below, boxes[chain[-1].below.node].y))
    return tuple(points)


def _loop(box: Box) -> Route:
    top, bottom, x = box.y + 6, box.bottom - 6, box.right
    return Route(((x, top), (x + _LOOP, top), (x + _LOOP, bottom), (x, bottom)))
