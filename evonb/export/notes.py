"""Words at a waiting join, and the lines that lead from a node to what is said about it in the margin."""

from __future__ import annotations

from collections.abc import Iterable

from evonb.export.geometry import Box
from evonb.export.measure import cut, width
from evonb.export.svg import Element, group, path, text
from evonb.export.words import arrived, asks, names, waits_for
from evonb.protocol.snapshot import NodeState, Snapshot


def boxes_of(snapshot: Snapshot) -> dict[str, Box]:
    return {name: Box(**box) for name, box in snapshot["layout"]["boxes"].items()}


def notes(snapshot: Snapshot) -> list[tuple[Element, Box]]:
    """Beside each waiting join who has arrived and who is missing, where there is room, and where that stands."""
    boxes, known = boxes_of(snapshot), names(snapshot)
    parents = {node["id"]: node["parent"] for node in snapshot["graph"]["nodes"]}
    labels = [Box(**r["label"]) for r in snapshot["layout"]["routes"].values() if r["label"]]
    found = []
    for name, state in snapshot["nodes"].items():
        if state["status"] == "waiting" and not asks(state) and name in boxes:
            around = _around(name, parents)
            solid = [box for other, box in boxes.items() if other != name and other not in around]
            frame = next((boxes[outer] for outer in around if outer in boxes), None)
            note = _note(boxes[name], state, known, [*solid, *labels], frame)
            found += [note] if note else []
    return found


def _around(name: str, parents: dict[str, str | None]) -> list[str]:
    """The sub-graphs around a node, innermost first."""
    found: list[str] = []
    parent = parents.get(name)
    while parent is not None and parent not in found:
        found.append(parent)
        parent = parents.get(parent)
    return found


def _note(
    box: Box, state: NodeState, known: dict[str, str], solid: Iterable[Box], frame: Box | None
) -> tuple[Element, Box] | None:
    lines = (arrived(state), cut(waits_for(state, known), 46))
    wide = max(width(line, 11.5) for line in lines)
    right = Box(box.right + 12, box.center[1] - 15, wide, 30)
    left = Box(box.x - 12 - wide, right.y, wide, 30)
    for spot, anchor, x in ((right, None, right.x), (left, "end", left.right)):
        fits = frame.contains(spot) if frame else spot.x >= 0
        if fits and not any(spot.overlaps(other) for other in solid):
            upper = text("aside", lines[0], x, box.center[1] - 3, text_anchor=anchor)
            lower = text("aside more", lines[1], x, box.center[1] + 12, text_anchor=anchor)
            return group("waiting", upper, lower), spot
    return None


def leader(box: Box, others: Iterable[Box], look: str, x: float, y: float) -> Element:
    """The line from a node to what is said about it; passes below the nodes and meets none on its way."""
    in_way = [other for other in others if box.x < other.x < x]

    def is_free(height: float) -> bool:
        return all(height < other.y - 3 or height > other.bottom + 3 for other in in_way)

    middle = box.center[1]
    height = next((h for h in (middle, box.bottom + 7, box.y - 7) if is_free(h)), middle)
    start = f"M{box.right + 5:.1f} {height:.1f}"
    if height != middle:
        start = f"M{box.right - 16:.1f} {box.bottom if height > middle else box.y:.1f}V{height:.1f}"
    bend = "" if abs(height - y) < 1 else f"H{x - 14:.1f}V{y:.1f}"
    d = f"{start}{bend}H{x:.1f}"
    return group(look, path("leader under", d), path("leader", d))
