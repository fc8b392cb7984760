"""Where the steps of a session stand on the timeline: wave and lane of each, and which of them are shown."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

from evonb.graph.debugging.steps import Step

__all__ = ["Places", "waves_inside", "window"]


class Places:
    """Places each step once: a session only adds steps, and a long one is looked at several times a second."""

    def __init__(self) -> None:
        self._clear()

    def of(self, steps: Sequence[Step], forked: Mapping[int, int]) -> Sequence[tuple[int, int]]:
        """Wave and lane of each step. An edit has a wave of its own: it came before, not beside, what it is for.

        Args:
            steps: Of all branches, oldest first.
            forked: By branch, the number of the step that it left.
        """
        known = len(self._placed)
        if known > len(steps) or (known and steps[known - 1] is not self._last):
            self._clear()
            known = 0
        for step in steps[known:]:
            self._place(step, forked)
        return self._placed

    def _clear(self) -> None:
        self._last: Step | None = None
        self._placed: list[tuple[int, int]] = []
        self._lanes: dict[tuple[int, int], int] = {}
        self._edits: dict[int, int] = {}  # by branch, so far
        self._edits_after: dict[int, int] = {}  # by step

    def _place(self, step: Step, forked: Mapping[int, int]) -> None:
        shift = self._edits.setdefault(step.branch, self._edits_after.get(forked.get(step.branch, 0), 0))
        wave = step.wave + shift
        self._edits[step.branch] += step.status == "edited"
        self._edits_after[step.number] = self._edits[step.branch]
        place = (step.branch, wave)
        self._lanes[place] = self._lanes.get(place, -1) + 1
        self._placed.append((wave, self._lanes[place]))
        self._last = step


def waves_inside(steps: Sequence[Step]) -> list[int]:
    """The wave of each step inside of one sub-graph's node: those of runs inside of it are told from its own."""
    begun, waves = 0, dict[tuple[int, str, int], int]()
    found = []
    for step in steps:
        begun += step.status == "entered"
        run = step.uuid.rpartition(".")[0]
        # A run that is begun again has waves of its own.
        place = (begun if step.status == "entered" else 0, run, step.wave)
        found.append(waves.setdefault(place, len(waves) + 1))
    return found


def window(steps: Sequence[Step], looking: int | None, size: int) -> slice:
    """Which of the steps to show: the newest, or those around the one that is looked at."""
    newest = max(0, len(steps) - size)
    if looking is None:
        return slice(newest, len(steps))
    at = bisect_left(steps, looking, key=lambda step: step.number)
    first = min(newest, max(0, at - size // 2))
    return slice(first, first + size)
