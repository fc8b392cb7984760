"""Asking the past: who wrote a key, and when something became true. Nothing runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evonb.graph import record as records
from evonb.graph.debugging.line import Moment
from evonb.graph.debugging.points import SessionError, known_key
from evonb.graph.debugging.steps import RAN
from evonb.graph.debugging.ways import line_to
from evonb.graph.record import Record
from evonb.graph.schema import CompiledSchema
from evonb.typing import MISSING

if TYPE_CHECKING:
    from evonb.graph.debugging.session import Session

__all__ = ["Write", "before", "first_true", "last_write", "writes"]


@dataclass(frozen=True, slots=True)
class Write:
    """One change of a state key.

    Attributes:
        step: The step's number.
        node: The node, or for an edit the node that it was meant for.
        old, new: The values before and after; MISSING where there was none.
        by_hand: Whether a person did it.
    """

    step: int
    node: str
    old: Any
    new: Any
    by_hand: bool = False


def writes(session: Session, key: str) -> list[Write]:
    """Every write of a key on the way to the moment that is shown, oldest first.

    Raises:
        SessionError: The state has no such key.
    """
    name = known_key(session.plan.schema, key)
    return [_write(session.plan.schema, each, name) for each in _writers(session, name)]


def last_write(session: Session, key: str) -> Moment:
    """The last moment before the one that is shown (at the present: up to it) that wrote a key.

    Raises:
        SessionError: There is none.
    """
    name = known_key(session.plan.schema, key)
    line = session.past
    found = [each for each in _writers(session, name) if line.cursor is None or each is not line.cursor]
    if not found:
        raise SessionError(f"Nothing has written {key!r} before", fix="look at who_wrote(key)")
    return found[-1]


def first_true(session: Session, predicate: Callable[[Any], Any]) -> Moment:
    """The first moment, on the way to the one that is shown, whose state fulfils a predicate; the start counts.

    Where a key of the state that it looks at isn't there yet, it isn't fulfilled.

    Raises:
        SessionError: There is none.
    """
    schema, here = session.plan.schema, session.past.here
    start = here
    while start.before is not None:
        start = start.before
    missing: dict[str, None] = {}
    for each in (start, *line_to(here)):
        state = schema.hand_out(records.values_of(schema, each.record), {})
        try:
            if predicate(state):
                return each
        except KeyError as error:
            missing[_missing_key(schema, state, error)] = None
    fix = "give a predicate of the state, (state) -> bool"
    if missing:
        fix = f"{', '.join(map(repr, missing))} wasn't there at some steps, which counts as not true"
    raise SessionError("It has never been true so far", fix=fix)


def _missing_key(schema: CompiledSchema, state: Any, error: KeyError) -> str:
    """The key of the state that a predicate missed; an error of any other kind is raised again."""
    key = error.args[0] if len(error.args) == 1 else None
    is_known = isinstance(key, str) and (not schema.fields or key in schema.fields)
    if not is_known or not isinstance(state, dict) or key in state:
        raise error
    return str(key)


def _writers(session: Session, key: str) -> Iterator[Moment]:
    return (each for each in line_to(session.past.here) if key in each.wrote)


def _write(schema: CompiledSchema, moment: Moment, key: str) -> Write:
    assert moment.ran is not None
    by_hand = moment.status in ("edited", "skipped")
    was = before(schema, moment)
    return Write(
        moment.number, moment.ran.node.name, _value(schema, was, key), _value(schema, moment.record, key), by_hand
    )


def before(schema: CompiledSchema, moment: Moment) -> Record | None:
    """The record that a step started from; None for the start."""
    if moment.status in RAN:
        return moment.record.parent
    assert moment.before is not None
    assert moment.ran is not None
    was = moment.before.point.find(moment.ran.number)
    if was is None or was.task is None:
        return was.hop.record if was is not None and was.hop is not None else None
    return was.task.inputs[0] if len(was.task.inputs) == 1 else records.joined(schema, was.task.inputs)


def _value(schema: CompiledSchema, record: Record | None, key: str) -> Any:
    if record is None:
        return MISSING
    state = schema.hand_out(records.values_of(schema, record), {})
    return state.get(key, MISSING) if isinstance(state, dict) else state.__dict__.get(key, MISSING)
