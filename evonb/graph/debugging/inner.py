"""Steps inside of sub-graphs: what each of them was, and where its sub-graph's run stands after it. Values only.

A run of a sub-graph is known by its `origin`: the number of the session's task that it belongs to, then those of the
tasks of sub-graphs around it. Its steps hang on the step of the line that had been made last, so that every line has
its own, and going back takes an old one. A row holds what was decided, as for steps of the line: a run that is begun
again stands where the row left it, without a node, router or filter being called.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evonb.errors import EvonbError
from evonb.graph.debugging.edits import edited_output, edited_state
from evonb.graph.debugging.line import Change, Inner, Moment
from evonb.graph.debugging.points import Numbers, Point, Waiting, advanced
from evonb.graph.debugging.rows import change_from, error_from, hops_from, record_from, row_of, usage_from
from evonb.graph.debugging.steps import RAN
from evonb.graph.decide import Hop, Outcome, Task, decide
from evonb.graph.plan import Plan
from evonb.graph.ports import StoredStep
from evonb.graph.record import Record

__all__ = [
    "ENTERED", "Origin", "Standing", "Unreadable", "after_edit", "after_failure", "after_task", "at_start",
    "ident", "inners_back", "read_row", "record_of", "same_run", "write_row",
]  # fmt: skip

ENTERED = "entered"
"""Status of the step that begins a sub-graph's run: what its start chose."""

Origin = tuple[int, ...]


class Unreadable(Exception):
    """A recorded step doesn't fit the sub-graph any more."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a sub-graph's run stands.

    Attributes:
        plan: The sub-graph.
        start: What the run began with.
        moment: Its newest step, and what waits after it in that run.
        given: The last waiting number that was given.
    """

    plan: Plan
    start: Record
    moment: Moment
    given: int


def ident(origin: Origin, number: int) -> str:
    """What names a task inside: its number after those of the tasks around it, as in "3.1"."""
    return ".".join(map(str, (*origin, number)))


# --- going back ------------------------------------------------------------------------------------------


def inners_back(moment: Moment, inner: Inner | None, owner: int) -> Iterator[Inner]:
    """The steps inside on the way to a place since one of the session's tasks came to wait as it is, newest first."""
    while True:
        while inner is not None:
            yield inner
            inner = inner.before
        changed = moment.change is not None and moment.change.target == owner
        if moment.before is None or changed or any(each.number == owner for each in moment.made):
            return
        moment, inner = moment.before, moment.after


def same_run(moment: Moment, inner: Inner | None, origin: Origin) -> Iterator[Inner]:
    """The steps of one run on the way to a place, newest first, down to the one that began it."""
    for each in inners_back(moment, inner, origin[0]):
        if each.origin == origin:
            yield each
            if each.row.status == ENTERED:
                return


# --- going on ----------------------------------------------------------------------------------------------


def at_start(plan: Plan, first: Task, hops: Sequence[Hop]) -> tuple[Standing, Outcome]:
    """Where a run stands that has begun.

    Args:
        plan: The sub-graph.
        first: The task of its start.
        hops: What that chose.
    """
    numbers = Numbers(plan.nodes)
    outcome = decide({}, first, hops)
    point, made = advanced(Point(), None, first, outcome, numbers)
    start = first.inputs[0]
    ran = Waiting(0, plan.start, task=first)
    moment = _moment(_ended(point), ENTERED, ran, start, hops=tuple(hops), made=tuple(made))
    return Standing(plan, start, moment, numbers.last), outcome


def after_task(
    at: Standing, task: Task, record: Record, hops: Sequence[Hop], status: str, **fields: Any
) -> tuple[Standing, Outcome]:
    """Where a run stands after one of its tasks has finished, by itself or by hand."""
    point = at.moment.point
    waiting = point.find(task.number)
    assert waiting is not None
    numbers = Numbers(at.plan.nodes)
    numbers.last = at.given
    outcome = decide(point.slots, task, hops)
    after, made = advanced(point, waiting, task, outcome, numbers)
    moment = _moment(_ended(after), status, waiting, record, hops=tuple(hops), made=tuple(made), **fields)
    return Standing(at.plan, at.start, moment, numbers.last), outcome


def after_failure(at: Standing, task: Task, **fields: Any) -> Standing:
    """Where a run stands after one of its tasks has failed: it waits as before."""
    waiting = at.moment.point.find(task.number)
    assert waiting is not None
    return replace(at, moment=_moment(at.moment.point, "failed", waiting, record_of(waiting, at), **fields))


def after_edit(at: Standing, change: Change, **fields: Any) -> Standing:
    """Where a run stands after somebody has changed what one of its tasks starts from.

    Raises:
        SessionError: The task got nothing from the source, or still misses inputs.
        StateError: The value doesn't fit the sub-graph's state.
    """
    schema, point = at.plan.schema, at.moment.point
    target = point.find(change.target)
    if target is None:
        raise Unreadable(f"an edit is of task {change.target}, which didn't wait")
    if change.source is None:
        after = edited_state(schema, point, target, change.key, change.value)
    else:
        after = edited_output(schema, point, change.source, target, change.key, change.value)
    now = after.find(target.number) or target
    record = record_of(now, at) if now.task is not None else at.moment.record
    return replace(at, moment=_moment(after, "edited", now, record, change=change, **fields))


def record_of(waiting: Waiting, at: Standing) -> Record:
    """The state that a task inside starts from, as far as it is one branch's; of a join, its newest input."""
    return waiting.task.inputs[-1] if waiting.task is not None else at.moment.record


def _ended(point: Point) -> Point:
    """The end isn't a step inside: what reaches it has ended at once."""
    done = [(each.source, each.hop) for each in point.waiting if each.source is not None and each.hop is not None]
    left = tuple(each for each in point.waiting if each.hop is None)
    return replace(point, waiting=left, ended=(*point.ended, *done))


def _moment(point: Point, status: str, ran: Waiting, record: Record, **fields: Any) -> Moment:
    return Moment(number=0, before=None, point=point, status=status, ran=ran, record=record, **fields)


# --- rows ----------------------------------------------------------------------------------------------------


def write_row(inner: Inner, first: int, shape: str) -> StoredStep:
    """The row of a step inside.

    Args:
        inner: The step; its number, branch and standing are known.
        first: The last waiting number that its run had given before it.
        shape: A digest of the sub-graph's shape.
    """
    assert inner.standing is not None
    moment = inner.standing.moment
    row = row_of(moment, first, inner.standing.given)
    notes: dict[str, Any] = {
        **(row.notes or {}),
        "before": None if inner.before is None else inner.before.number,
        "outer": inner.outer.number,
        "origin": list(inner.origin),
        "path": list(inner.path),
        "visits": [each.task.visit for each in moment.made if each.task is not None],
    }
    if moment.status == ENTERED:
        notes["shape"] = shape
    return replace(row, number=inner.number, branch=inner.branch, inner=True, notes=notes)


def read_row(row: StoredStep, plan: Plan, at: Standing | None, start: Record | None) -> Standing:
    """Where a run stands after a step that is known by its row.

    Args:
        row: The step.
        plan: The sub-graph.
        at: Where it stood before; None for the step that began it.
        start: What it began with, for that step.

    Raises:
        Unreadable: The step doesn't fit the sub-graph.
    """
    try:
        return _read(row, plan, at, start)
    except (LookupError, AttributeError, TypeError, ValueError, AssertionError, EvonbError) as error:
        raise Unreadable(f"step {row.number} inside: {type(error).__name__}: {error}") from error


def _read(row: StoredStep, plan: Plan, at: Standing | None, start: Record | None) -> Standing:
    notes = row.notes or {}
    known: dict[str, Any] = {"wave": notes.get("wave", 0), "at_s": row.at_s, "duration_s": row.duration_s}
    if row.status == ENTERED:
        assert start is not None
        first = Task(plan.start, (start,), (), -1, "", None, True)
        made, outcome = at_start(plan, first, hops_from(plan, row, start, first))
        return _numbered(made, outcome, notes)
    assert at is not None
    if (change := change_from(row)) is not None:
        return after_edit(at, change, **known)
    waiting = at.moment.point.find(notes["ran"])
    assert waiting is not None
    assert waiting.task is not None
    assert waiting.node.name == row.node
    known |= {"tools": tuple(notes.get("tools", ())), "usage": usage_from(row)}
    if row.status not in RAN:
        return after_failure(at, waiting.task, error=error_from(row), **known)
    record = record_from(plan.schema, row, waiting.task)
    hops = hops_from(plan, row, record, waiting.task)
    made, outcome = after_task(at, waiting.task, record, hops, row.status, **known)
    return _numbered(made, outcome, notes)


def _numbered(made: Standing, outcome: Outcome, notes: Any) -> Standing:
    for ready, visit in zip(outcome.ready, notes["visits"], strict=True):
        ready.visit = visit
    return made
