"""What touched the world. After going back, a node marked `effect=True`, or whose tools acted, isn't run again behind
anybody's back: with the same state its recorded output is used. With another one the session asks first if the node is
marked; else it runs, and calls that it repeats are answered from their receipts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from evonb.graph import record as records
from evonb.graph.debugging.line import RAN, Moment, back_from
from evonb.graph.debugging.points import SessionError, Waiting
from evonb.graph.decide import Task
from evonb.graph.record import Record
from evonb.graph.schema import CompiledSchema

if TYPE_CHECKING:
    from evonb.graph.debugging.session import Session

__all__ = ["Effect", "EffectRepeats", "Verdict", "ledger", "verdict"]

Kind = Literal["touched", "replayed", "stood in", "failed", "would replay", "would ask"]


class EffectRepeats(SessionError):
    """Going on would do something in the world again.

    Attributes:
        uuids: The waiting tasks concerned; nothing of them has run.
    """

    uuids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Effect:
    """One line of the ledger.

    Attributes:
        kind: "touched" the world; "replayed" from the record; a delta given by hand "stood in" for it; "failed", and
            may have acted; it waits and "would replay" its record; it waits and "would ask" before it acts again.
        step: The step, None for what waits.
        node: The node.
        visit: Which execution of it.
        branch: The branch.
        uuid: The task.
        tool: The tool inside of the node, "" for the node itself.
        call_id: The model's id of the tool call.
    """

    kind: Kind
    step: int | None
    node: str
    visit: int
    branch: int
    uuid: str
    tool: str = ""
    call_id: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to happen to a waiting effect: "run", "replay" a moment's output, or "ask", as it did it already."""

    what: Literal["run", "replay", "ask"]
    by: Moment | None = None


def is_effect(waiting: Waiting | None) -> bool:
    """Whether a task is an execution of a node that is marked."""
    return waiting is not None and waiting.task is not None and bool(waiting.node.spec and waiting.node.spec.effect)


def verdict(session: Session, waiting: Waiting) -> Verdict:
    """What going on does with a waiting effect, from the point that is shown."""
    task = waiting.task
    if task is None:
        return Verdict("run")
    marked = is_effect(waiting)
    done = _done_elsewhere(session, task, session.line.moments.values() if marked else session.line.called)
    if not done:
        return Verdict("run")
    same = [each for each in done if _same_inputs(session, task, each)]
    if same:
        return Verdict("replay", same[-1])
    return Verdict("ask", done[-1]) if marked else Verdict("run")


def acted(moment: Moment) -> bool:
    """Whether tools did something in the world in this step."""
    return any(call.get("effect") and not call.get("replayed") for call in moment.tools)


def _done_elsewhere(session: Session, task: Task, moments: Iterable[Moment]) -> list[Moment]:
    """Those of some moments, not on the way to here, in which this very execution was done and acted."""
    line = session.line
    if len(line.tips) == 1 and line.here is line.tips.get(0):
        return []  # nobody has gone back
    found = [
        each
        for each in moments
        if each.status == "done"
        and each.ran is not None
        and each.ran.task is not None
        and each.ran.node is task.node
        and each.ran.task.visit == task.visit
        and (is_effect(each.ran) or acted(each))
    ]
    here = {each.number for each in back_from(line.here)} if found else ()
    return [each for each in found if each.number not in here]


def _same_inputs(session: Session, task: Task, moment: Moment) -> bool:
    assert moment.ran is not None
    assert moment.ran.task is not None
    schema = session.plan.schema
    return _same(schema, session.joined(task), session.joined(moment.ran.task))


def _same(schema: CompiledSchema, one: Record, other: Record) -> bool:
    if one is other:
        return True
    try:
        return bool(records.values_of(schema, one) == records.values_of(schema, other))
    except Exception:  # values that can't be compared, such as arrays, count as different
        return False


def ledger(session: Session) -> list[Effect]:
    """Everything that did, does or would do something in the world, oldest first, on all branches; then what waits."""
    lines: list[Effect] = []
    for moment in sorted(session.line.moments.values(), key=lambda each: each.number):
        lines += _of_moment(session, moment)
    for waiting in session.line.here.point.waiting:
        what = verdict(session, waiting).what
        if what != "run" and waiting.task is not None:
            kind: Kind = "would replay" if what == "replay" else "would ask"
            uuid = session.uuid(waiting.number)
            lines.append(Effect(kind, None, waiting.node.name, waiting.task.visit, session.line.here.branch, uuid))
    return lines


def _of_moment(session: Session, moment: Moment) -> Iterable[Effect]:
    ran = moment.ran
    if ran is None or ran.task is None or moment.status not in (*RAN, "failed"):
        return
    place = (moment.number, ran.node.name, ran.task.visit, moment.branch, session.uuid(ran.number))
    if is_effect(ran):
        kinds: dict[str, Kind] = {"done": "touched", "failed": "failed", "replayed": "replayed"}
        yield Effect(kinds.get(moment.status, "stood in"), *place)
    for call in moment.tools:
        if call.get("effect"):
            call_id = call.get("call_id")
            yield Effect(
                "replayed" if call.get("replayed") else "touched",
                *place,
                tool=str(call.get("tool")),
                call_id=None if call_id is None else str(call_id),
            )


def repeats(session: Session, asked: Iterable[Waiting]) -> EffectRepeats:
    """The error for effects that would act again on another state."""
    tasks = [each for each in asked if each.task is not None]
    names = ", ".join(repr(each.node.name) for each in tasks)
    error = EffectRepeats(
        f"{names} acted already, before you went back, and would act again with another state",
        where=f"graph {session.plan.name!r}",
        fix="resume(rerun_effects=True) or allow_rerun(uuid) runs it again; skip(uuid, delta) doesn't",
    )
    error.uuids = tuple(session.uuid(each.number) for each in tasks)
    return error
