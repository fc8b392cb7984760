"""What is wrong with a layout, in words. Slow and simple on purpose: it shares no code with the placing."""

from __future__ import annotations

from itertools import combinations

from evonb.export.geometry import Box, Layout, Route
from evonb.graph.topology import Topology

NEAR_PX = 12.0


def faults(topology: Topology, placed: Layout) -> list[str]:
    """Overlaps, edges through nodes, labels off their edge, anything out of bounds; empty if all is well."""
    solid = _solid(topology, placed)
    return [
        *_overlaps(solid),
        *_pierced(topology, placed, solid),
        *_labels(topology, placed, solid),
        *_out_of_bounds(placed),
        *_outside_frames(topology, placed),
        *(f"edge {name} has no line" for name, route in placed.routes.items() if len(route.points) < 2),
    ]


def labels_on_lines(topology: Topology, placed: Layout) -> int:
    """How many labels lie on another edge than their own."""
    own = {route.points: name for name, route in placed.routes.items()}
    count = 0
    for route in placed.routes.values():
        if route.label:
            others = [other for points, name in own.items() if (other := placed.routes[name]).points != route.points]
            count += any(_crosses(other, route.label) for other in others)
    return count


def _solid(topology: Topology, placed: Layout) -> dict[str, Box]:
    frames = {node.parent for node in topology.nodes if node.id in placed.boxes}
    return {name: box for name, box in placed.boxes.items() if name not in frames}


def _overlaps(solid: dict[str, Box]) -> list[str]:
    return [f"{a} lies on {b}" for (a, x), (b, y) in combinations(solid.items(), 2) if x.overlaps(y)]


def _crosses(route: Route, box: Box) -> bool:
    return any(box.overlaps(segment.grown(0.01, 0.01)) for segment in route.segments())


def _pierced(topology: Topology, placed: Layout, solid: dict[str, Box]) -> list[str]:
    return [
        f"edge {name} runs through {node}"
        for name, route in placed.routes.items()
        for node, box in solid.items()
        if _crosses(route, box.grown(-1, -1))
    ]


def _labels(topology: Topology, placed: Layout, solid: dict[str, Box]) -> list[str]:
    found = []
    labels = {name: route.label for name, route in placed.routes.items() if route.label}
    for name, label in labels.items():
        if not _crosses(placed.routes[name], label.grown(NEAR_PX, NEAR_PX)):
            found.append(f"the label of {name} is far from its edge")
        found += [f"the label of {name} lies on {node}" for node, box in solid.items() if label.overlaps(box)]
    for (a, x), (b, y) in combinations(labels.items(), 2):
        if x.overlaps(y):
            found.append(f"the labels of {a} and {b} lie on each other")
    wanted = {edge.id for edge in topology.edges if edge.label} & placed.routes.keys()
    hidden = {node.id for node in topology.nodes} - placed.boxes.keys()
    shown = {edge.id for edge in topology.edges if not {edge.source, edge.target} & hidden}
    return found + [f"edge {name} lost its label" for name in sorted(wanted & shown - labels.keys())]


def _out_of_bounds(placed: Layout) -> list[str]:
    page = Box(0, 0, placed.width, placed.height).grown(0.1, 0.1)
    parts = dict(placed.boxes)
    for name, route in placed.routes.items():
        parts |= {f"{name} {i}": segment for i, segment in enumerate(route.segments())}
        if route.label:
            parts[f"label of {name}"] = route.label
    return [f"{name} is out of bounds" for name, box in parts.items() if not page.contains(box)]


def _outside_frames(topology: Topology, placed: Layout) -> list[str]:
    return [
        f"{node.id} sticks out of {node.parent}"
        for node in topology.nodes
        if node.parent in placed.boxes and node.id in placed.boxes
        if not placed.boxes[node.parent].contains(placed.boxes[node.id])
    ]
