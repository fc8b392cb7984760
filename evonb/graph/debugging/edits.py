"""Changing by hand what waits: a value on its way from one task to another, or in what a task starts from.

Values are taken in as from a node, so nested models, enums and dates keep their types, and what doesn't fit is
refused before anything has changed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from evonb.graph import record as records
from evonb.graph.debugging.points import Point, SessionError, Waiting, known_key
from evonb.graph.decide import Arrival, Slot, Task
from evonb.graph.record import Record
from evonb.graph.schema import CompiledSchema

__all__ = ["edited_output", "edited_state"]


def edited_output(schema: CompiledSchema, point: Point, source: int, target: Waiting, key: str, value: Any) -> Point:
    """The point with one value changed in what goes from a finished task to a waiting one.

    Raises:
        SessionError: Nothing went from one to the other.
        StateError: The value doesn't fit the state.
    """
    if target.task is not None:
        return _exchanged(point, target, replace(target, task=_task_from(schema, target.task, source, key, value)))
    if target.hop is not None and target.source is not None and target.source.number == source:
        hop = target.hop.carrying(_changed(schema, target.hop.record, key, value))
        return _exchanged(point, target, replace(target, hop=hop))
    if target.key is not None:
        slot = point.slots[target.key]
        last, found = _arrivals(schema, slot.last, source, key, value)
        if found:
            return replace(point, slots={**point.slots, target.key: Slot(slot.mask, last, slot.counts)})
    raise _unrelated(target)


def edited_state(schema: CompiledSchema, point: Point, target: Waiting, key: str, value: Any) -> Point:
    """The point with the whole value of one key replaced in what a waiting task starts from.

    Raises:
        SessionError: It still misses inputs.
        StateError: The value doesn't fit the state.
    """
    if target.hop is not None:
        hop = target.hop.carrying(_replaced(schema, target.hop.record, key, value))
        return _exchanged(point, target, replace(target, hop=hop))
    task = target.task
    if task is None:
        raise SessionError(
            f"{target.node.name!r} still misses inputs, so it has no state to edit",
            fix="change_output(from, to, key, value) edits what has arrived",
        )
    joins = task.node.joins
    if joins is not None and joins[task.group].strategy is None:
        inputs: tuple[Record, ...] = (_replaced(schema, records.joined(schema, task.inputs), key, value),)
        made = _as(task, inputs, task.parents)
    else:
        made = _as(task, tuple(_replaced(schema, each, key, value) for each in task.inputs), task.parents)
    return _exchanged(point, target, replace(target, task=made))


def _exchanged(point: Point, old: Waiting, new: Waiting) -> Point:
    return replace(point, waiting=tuple(new if each is old else each for each in point.waiting))


def _unrelated(target: Waiting) -> SessionError:
    return SessionError(
        f"Nothing went from that node to the waiting {target.node.name!r}", fix="give the node that ran right before it"
    )


def _task_from(schema: CompiledSchema, task: Task, source: int, key: str, value: Any) -> Task:
    if all(parent.number != source for parent in task.parents):
        raise _unrelated(Waiting(0, task.node))
    if len(task.inputs) != len(task.parents):
        raise SessionError(f"The state of {task.node.name!r} was edited as a whole already", fix="use edit(key, value)")
    inputs = tuple(
        _changed(schema, record, key, value) if parent.number == source else record
        for record, parent in zip(task.inputs, task.parents, strict=True)
    )
    return _as(task, inputs, task.parents)


def _as(task: Task, inputs: tuple[Record, ...], parents: tuple[Task, ...]) -> Task:
    made = Task(task.node, inputs, parents, task.edge, task.group, task.place, True)
    made.number, made.visit = task.number, task.visit
    return made


def _replaced(schema: CompiledSchema, record: Record, key: str, value: Any) -> Record:
    return records.cut(
        schema, record, {**_shown(schema, record), known_key(schema, key): value}, "The edit", records.Edit
    )


def _changed(schema: CompiledSchema, record: Record, key: str, value: Any) -> Record:
    """The record as if its task had returned this value for the key."""
    name = known_key(schema, key)
    if record.parent is None or record.parents is not None or record.cut is not None:
        return _replaced(schema, record, name, value)
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


def _arrivals(
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
            hop = hop.carrying(_changed(schema, hop.record, key, value))
            found = True
        before = Arrival(each.bit, each.task, hop, before)
    return before, found
