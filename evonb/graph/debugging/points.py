"""What waits at one point of a session, and what the point after a finished task is. Values only: going on makes a new
point, going back takes an old one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from evonb.errors import EvonbError
from evonb.graph.decide import Hop, Outcome, Slot, SlotKey, Task
from evonb.graph.near import near_names
from evonb.graph.plan import NodePlan
from evonb.graph.record import Record
from evonb.graph.schema import CompiledSchema

__all__ = ["Numbers", "Point", "SessionError", "Waiting", "advanced", "known_key", "record_of", "start_waits"]


class SessionError(EvonbError, RuntimeError):
    """A debugger command isn't allowed now, or names something that isn't waiting."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """Something that waits.

    Attributes:
        number: Unique in the session; a join keeps it from its first input on.
        node: What is to run; the end is a node here.
        task: The task; None for a join that still misses inputs, and for the end.
        hop: The way to the end, for the end.
        source: The task that led to the end.
        key: The slot of a join.
    """

    number: int
    node: NodePlan
    task: Task | None = None
    hop: Hop | None = None
    source: Task | None = None
    key: SlotKey | None = None

    @property
    def can_run(self) -> bool:
        """Whether nothing is missing."""
        return self.task is not None or self.hop is not None


@dataclass(frozen=True, slots=True)
class Point:
    """One point of a session, between two steps."""

    waiting: tuple[Waiting, ...] = ()
    slots: Mapping[SlotKey, Slot] = field(default_factory=dict)
    ended: tuple[tuple[Task, Hop], ...] = ()
    turns: int = 0

    def find(self, number: int) -> Waiting | None:
        """What waits under this number."""
        return next((each for each in self.waiting if each.number == number), None)

    def without(self, number: int) -> tuple[Waiting, ...]:
        """What waits beside this number."""
        return tuple(each for each in self.waiting if each.number != number)


def start_waits(point: Point) -> bool:
    """Whether the start itself waits, under the number 0: nobody knows yet where it leads."""
    return any(each.number == 0 for each in point.waiting)


class Numbers:
    """Gives every waiting thing of a session its number."""

    def __init__(self, nodes: Sequence[NodePlan]) -> None:
        self.nodes = nodes
        self.last = 0

    def next(self) -> int:
        """The next number."""
        self.last += 1
        return self.last


def advanced(
    point: Point, ran: Waiting | None, task: Task, outcome: Outcome, numbers: Numbers
) -> tuple[Point, list[Waiting]]:
    """The point after a task has finished, and what came to wait by it."""
    left = list(point.waiting) if ran is None else [each for each in point.waiting if each.number != ran.number]
    slots = dict(point.slots)
    new: list[Waiting] = []
    for key, slot in outcome.slots.items():
        if slot is None:
            slots.pop(key, None)
        else:
            slots[key] = slot
            if not any(each.key == key and each.task is None for each in left):
                left.append(Waiting(numbers.next(), numbers.nodes[key[0]], key=key))
    for ready in outcome.ready:
        key = (ready.node.index, ready.group)
        held = next((each for each in left if ready.node.joins and each.key == key and each.task is None), None)
        ready.number = held.number if held is not None else numbers.next()
        if held is not None:
            left.remove(held)
        new.append(Waiting(ready.number, ready.node, task=ready, key=key if ready.node.joins else None))
    new += [Waiting(numbers.next(), hop.target, hop=hop, source=task) for hop in outcome.ended]
    turns = point.turns + (0 if ran is None else 1)
    return replace(point, waiting=(*left, *new), slots=slots, turns=turns), new


def known_key(schema: CompiledSchema, name: str) -> str:
    """The state key that a command means by a name or alias.

    Raises:
        SessionError: The state has no such key.
    """
    key = schema.key_of(name)
    if key is None:
        near = near_names(name, schema.fields)
        raise SessionError(
            f"The state has no key {name!r}",
            fix=f"did you mean {near[0]!r}?" if near else f"it has {', '.join(map(repr, schema.fields))}",
        )
    return key


def record_of(waiting: Waiting, point: Point) -> Record:
    """The state that a waiting thing starts from, or its newest input."""
    if waiting.hop is not None:
        return waiting.hop.record
    if waiting.task is not None:
        return waiting.task.inputs[-1]
    assert waiting.key is not None
    last = point.slots[waiting.key].last
    assert last is not None
    return last.hop.record
