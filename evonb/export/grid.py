"""Finds what touches a box without asking everything: boxes sorted into square cells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

from evonb.export.geometry import Box

T = TypeVar("T")
_CELL_PX = 96


class Grid(Generic[T]):
    """Boxes with a value each. Costs by what is near, not by what there is."""

    def __init__(self) -> None:
        self._cells: dict[tuple[int, int], list[tuple[Box, T]]] = {}

    def add(self, box: Box, value: T) -> None:
        for cell in _cells(box):
            self._cells.setdefault(cell, []).append((box, value))

    def touching(self, box: Box) -> set[T]:
        """The values of all boxes that share an area with `box`."""
        return {value for cell in _cells(box) for other, value in self._cells.get(cell, ()) if other.overlaps(box)}


def _cells(box: Box) -> Iterator[tuple[int, int]]:
    for column in range(int(box.x // _CELL_PX), int(box.right // _CELL_PX) + 1):
        for row in range(int(box.y // _CELL_PX), int(box.bottom // _CELL_PX) + 1):
            yield column, row
