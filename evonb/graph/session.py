"""The state of a debugging session: what waits, what joins have got, what has ended. A point is a value; going on
makes a new one, going back takes an old one, and nothing that was recorded is lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from evonb.errors import EvonbError
from evonb.graph import record as records
from evonb.graph.decide import Arrival, Hop, Outcome, Slot, SlotKey, Task
from evonb.graph.plan import NodePlan
from evonb.graph.record import Record
from evonb.graph.schema import CompiledSchema

__all__ = ["Point", "SessionError", "Waiting", "advanced", "edited"]


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
    visits: tuple[int, ...] = ()
    turns: int = 0
    ran: int = 0
    """Number of what was run to get here; 0 for the start and for edits."""

    def find(self, number: int) -> Waiting | None:
        """What waits under this number."""
        return next((each for each in self.waiting if each.number == number), None)


def advanced(
    point: Point, ran: Waiting | None, task: Task, outcome: Outcome, numbers: Numbers
) -> tuple[Point, list[Waiting]]:
    """The point after a task has finished, and what came to wait by it."""
    left = [each for each in point.waiting if ran is None or each.number != ran.number]
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
    after = replace(point, waiting=(*left, *new), slots=slots, ran=0 if ran is None else ran.number)
    return after, new


class Numbers:
    """Gives every waiting thing of a session its number."""

    def __init__(self, nodes: list[NodePlan]) -> None:
        self.nodes = nodes
        self.last = 0

    def next(self) -> int:
        """The next number."""
        self.last += 1
        return self.last


def edited(schema: CompiledSchema, point: Point, source: int, target: Waiting, key: str, value: Any) -> Point:
    """The point with one value changed in what goes from a finished task to a waiting one.

    Raises:
        SessionError: Nothing went from one to the other.
        StateError: The value doesn't fit the state.
    """
    if target.task is not None:
        changed: Waiting = replace(target, task=_edited_task(schema, target.task, source, key, value))
        return _exchanged(point, target, changed)
    if target.hop is not None and target.source is not None and target.source.number == source:
        hop = replace(target.hop, record=_edited_record(schema, target.hop.record, key, value))
        return _exchanged(point, target, replace(target, hop=hop))
    if target.key is not None:
        slot = point.slots[target.key]
        last, found = _edited_arrivals(schema, slot.last, source, key, value)
        if found:
            return replace(point, slots={**point.slots, target.key: replace(slot, last=last)}, ran=0)
    raise _unrelated(target)


def _exchanged(point: Point, old: Waiting, new: Waiting) -> Point:
    return replace(point, waiting=tuple(new if each is old else each for each in point.waiting), ran=0)


def _unrelated(target: Waiting) -> SessionError:
    return SessionError(
        f"Nothing went from that node to the waiting {target.node.name!r}", fix="give the node that ran right before it"
    )


def _edited_task(schema: CompiledSchema, task: Task, source: int, key: str, value: Any) -> Task:
    if all(parent.number != source for parent in task.parents):
        raise _unrelated(Waiting(0, task.node))
    inputs = tuple(
        _edited_record(schema, record, key, value) if parent.number == source else record
        for record, parent in zip(task.inputs, task.parents, strict=True)
    )
    made = Task(task.node, inputs, task.parents, task.edge, task.group, task.place, True)
    made.number, made.visit = task.number, task.visit
    return made


def _edited_record(schema: CompiledSchema, record: Record, key: str, value: Any) -> Record:
    name = schema.name_of(key, "The edit")
    if name is None:
        raise SessionError(f"The state has no key {key!r}", fix=f"it has {', '.join(map(repr, schema.fields))}")
    if record.parent is None or record.parents is not None or record.cut is not None:
        return records.cut(schema, record, {**_shown(schema, record), name: value}, "The edit")
    before = records.values_of(schema, record.parent)
    kept = {each: change for each, change in (record.delta or {}).items() if each != name}
    cleaned, updates = schema.absorb(before, {name: value}, None)
    values = dict(before)
    schema.replay(values, kept)
    values.update(updates)
    return Record(record.parent, values, {**kept, **cleaned})


def _shown(schema: CompiledSchema, record: Record) -> dict[str, Any]:
    state = schema.hand_out(records.values_of(schema, record), {})
    return state if isinstance(state, dict) else dict(state.__dict__)


def _edited_arrivals(
    schema: CompiledSchema, arrival: Arrival | None, source: int, key: str, value: Any
) -> tuple[Arrival | None, bool]:
    chain = []
    while arrival is not None:
        chain.append(arrival)
        arrival = arrival.before
    before: Arrival | None = None
    found = False
    for each in reversed(chain):
        hop = each.hop
        if each.task.number == source:
            hop = replace(hop, record=_edited_record(schema, hop.record, key, value))
            found = True
        before = replace(each, hop=hop, before=before)
    return before, found
