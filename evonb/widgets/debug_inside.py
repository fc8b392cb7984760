"""Steps inside of sub-graphs for the panel and the magics: by the step that they are inside of, and which is shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from evonb.graph.debugger import GraphEngineDebugger
from evonb.graph.debugging.steps import Step
from evonb.graph.topology import PATH_SEPARATOR

__all__ = ["BEGINS", "Insides", "Line", "inside_words", "line_shown", "schema_at"]

BEGINS = "entered"
"""The status of a step that begins a sub-graph's run: a place to go to, but nobody's work."""


@dataclass(frozen=True, slots=True)
class Line:
    """The line that is shown.

    Attributes:
        all: Its steps, those inside of sub-graphs included, oldest first.
        outer: Those that aren't inside.
        shown: The one that is shown; None at the start.
        looking: Whether it is the past.
    """

    all: Sequence[Step]
    outer: Sequence[Step]
    shown: Step | None
    looking: bool

    @property
    def number(self) -> int:
        """The number of the step that is shown, 0 at the start."""
        return 0 if self.shown is None else self.shown.number

    def until_shown(self) -> list[Step]:
        """The steps that had been made by then."""
        if self.shown is None:
            return []
        end = (self.shown.number, self.shown.inner)
        return [each for each in self.all if (each.number, each.inner) <= end]


def line_shown(debugger: GraphEngineDebugger) -> Line:
    """What the debugger shows, and what led there."""
    steps = debugger.history(inside=True) if debugger.run_id is not None else []
    at = debugger.looking_at
    outer = [each for each in steps if not each.inner]
    if at is None:
        return Line(steps, outer, steps[-1] if steps else None, False)
    place = (at, debugger.looking_inside or 0)
    shown = next((each for each in reversed(steps) if (each.number, each.inner) == place), None)
    return Line(steps, outer, shown, True)


@dataclass(slots=True)
class Insides:
    """Steps inside, by the step of the line that they led to.

    Attributes:
        of: By the number of a step, those inside of it.
        left: Those inside of what hasn't finished on the line that is shown.
    """

    of: dict[int, list[Step]] = field(default_factory=dict)
    left: list[Step] = field(default_factory=list)

    @classmethod
    def over(cls, lines: Iterable[Sequence[Step]]) -> Insides:
        """Of these lines, the last of which is the one that is shown."""
        made = cls()
        for steps in lines:
            made.left = made._sort(steps)
        return made

    def count(self, step: Step) -> int:
        """How many steps are inside of one of the line."""
        return sum(each.status != BEGINS for each in self.of.get(step.number, ()))

    def _sort(self, steps: Sequence[Step]) -> list[Step]:
        open_: dict[str, list[Step]] = {}
        for step in steps:
            if step.inner:
                open_.setdefault(step.owner, []).append(step)
            elif step.uuid in open_ and step.status != "edited":
                self.of[step.number] = open_.pop(step.uuid)
        return [step for each in open_.values() for step in each]


def schema_at(debugger: GraphEngineDebugger, node: str) -> Any:
    """The state schema that a node works with, by its id in the picture."""
    engine: Any = debugger
    for name in node.split(PATH_SEPARATOR)[:-1]:
        spec = engine.nodes.get(name)
        inner = getattr(spec and spec.node, "engine", None)
        if inner is None:  # it has another shape since
            break
        engine = inner
    return engine.state_schema


def inside_words(line: Line) -> str:
    """Where the shown step is inside of a sub-graph: "inside research, step 2 of 4"; "" if it isn't."""
    shown = line.shown
    if shown is None or not shown.inner:
        return ""
    if shown.status == BEGINS:
        return f"inside {shown.node}, before its first step"
    done = [each for each in _beside(line.all, shown) if each.status != BEGINS]
    owner = shown.node.partition(PATH_SEPARATOR)[0]
    return f"inside {owner}, step {done.index(shown) + 1} of {len(done)}"


def _beside(steps: Sequence[Step], shown: Step) -> list[Step]:
    """The steps inside of the same task as this one."""
    found: list[Step] = []
    has_shown = False
    for step in steps:
        if step.inner and step.owner == shown.owner:
            found.append(step)
            has_shown = has_shown or step is shown
        elif step.uuid == shown.owner and step.status != "edited":
            if has_shown:
                break
            found = []
    return found
