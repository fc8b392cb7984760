"""The coordinates of a graph for views of either density: each is found once, when a view first asks for it."""

from __future__ import annotations

from evonb.export.drawing import Density
from evonb.export.geometry import Layout
from evonb.export.layout import layout
from evonb.graph.topology import Topology
from evonb.protocol.snapshot import WireLayout

__all__ = ["Layouts"]


class Layouts:
    """Layouts of the graph that is shown. After it was replaced, nodes of the same name stay in place in each."""

    def __init__(self) -> None:
        self._known: dict[Density, tuple[Topology, Layout, WireLayout]] = {}

    def wire(self, topology: Topology, density: Density) -> WireLayout:
        """The layout of a graph; the same object until another graph is asked for."""
        known = self._known.get(density)
        if known is not None and known[0] is topology:
            return known[2]
        placed = layout(topology, density=density, keep=known[1] if known else None)
        wire = placed.to_wire()
        self._known[density] = (topology, placed, wire)
        return wire
