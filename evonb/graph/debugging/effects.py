"""What touched the world. A node marked `effect=True` that was begun and gave no answer may have acted: going on asks.
After going back, one that is marked, or whose tools acted, isn't run again behind anybody's back: with the same state
its recorded output is used. With another one the session asks first if the node is marked; else it runs, and calls that
it repeats are answered from their receipts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from evonb.graph import record as records
from evonb.graph.debugging.attempts import WORDS, Attempt, is_marked
from evonb.graph.debugging.inner import Origin, ident, inners_back
from evonb.graph.debugging.line import Inner, Moment
from evonb.graph.debugging.points import SessionError, Waiting
from evonb.graph.debugging.steps import RAN
from evonb.graph.debugging.ways import back_from
from evonb.graph.decide import Task
from evonb.graph.plan import Plan
from evonb.graph.record import Record
from evonb.graph.schema import CompiledSchema
from evonb.graph.topology import node_id

if TYPE_CHECKING:
    from evonb.graph.debugging.session import Session

__all__ = ["Effect", "EffectRepeats", "Verdict", "ledger", "verdict"]

Kind = Literal["touched", "replayed", "stood in", "failed", "stopped", "killed", "would replay", "would ask"]


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
        kind: "touched" the world; "replayed" from the record; a delta given by hand "stood in" for it; "failed",
            "stopped" or "killed" with its process in the middle, and may have acted; it waits and "would replay" its
            record; it waits and "would ask" before it acts again.
        step: The step, None for what waits; inside of a sub-graph the one that had been made last.
        node: The node; inside of a sub-graph its id in the picture.
        visit: Which execution of it.
        branch: The branch.
        uuid: The task.
        tool: The tool inside of the node, "" for the node itself.
        call_id: The model's id of the tool call.
        asks: Whether it waits at the moment that is shown, and going on asks before it acts again.
    """

    kind: Kind
    step: int | None
    node: str
    visit: int
    branch: int
    uuid: str
    tool: str = ""
    call_id: str | None = None
    asks: bool = False

    @property
    def may_have_acted(self) -> bool:
        """Whether it was begun and gave no answer, so that nobody knows what it did."""
        return self.kind in ("failed", "stopped", "killed")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to happen to a waiting effect: "run", "replay" a recorded output, or "ask".

    Attributes:
        what: Which of them.
        by, by_inner: The step that it acted in, of the line or inside of a sub-graph.
        attempt: The time that it was begun and may have acted, if that is why it asks.
    """

    what: Literal["run", "replay", "ask"]
    by: Moment | None = None
    by_inner: Inner | None = None
    attempt: Attempt | None = None


def is_effect(waiting: Waiting | None) -> bool:
    """Whether a task is an execution of a node that is marked."""
    return waiting is not None and waiting.task is not None and is_marked(waiting.node)


def verdict(session: Session, waiting: Waiting) -> Verdict:
    """What going on does with a waiting effect, from the point that is shown."""
    task = waiting.task
    if task is None:
        return Verdict("run")
    marked = is_effect(waiting)
    done = _done_elsewhere(session, task, session.line.moments.values() if marked else session.line.called)
    if not done:
        return _of_attempts(session, (), (), task)
    same = [each for each in done if _same_inputs(session, task, each)]
    if same:
        return Verdict("replay", same[-1])
    return Verdict("ask", done[-1]) if marked else Verdict("run")


def acted(moment: Moment) -> bool:
    """Whether tools did something in the world in this step."""
    return _acted(moment.tools)


def _acted(tools: Iterable[Mapping[str, object]]) -> bool:
    return any(call.get("effect") and not call.get("replayed") for call in tools)


def verdict_inside(session: Session, origin: Origin, path: tuple[str, ...], plan: Plan, task: Task) -> Verdict:
    """As `verdict`, for a waiting task of a sub-graph."""
    line = session.line
    if len(line.tips) == 1 and line.is_at_end and line.cursor is None:
        return _of_attempts(session, origin, path, task)  # nobody has gone back
    marked = is_marked(task.node)
    done = [
        each
        for each in (line.inners.values() if marked else line.called_inside)
        if each.path == path
        and (each.row.status, each.row.node, each.row.visit) == ("done", task.node.name, task.visit)
        and (marked or _acted(tools_of(each)))
        and _visit_around(each) == _visit_of(line.here, origin[0])
    ]
    here = {each.number for each in inners_back(*line.place, origin[0])} if done else ()
    done = [each for each in done if each.number not in here]
    if not done:
        return _of_attempts(session, origin, path, task)
    before = session.nested.joined(plan, path, task)
    for each in reversed(done):
        standing = session.nested.standing(each)
        parent = None if standing is None else standing.moment.record.parent
        if parent is not None and _same(plan.schema, before, parent):
            return Verdict("replay", by_inner=each)
    return Verdict("ask", by_inner=done[-1]) if marked else _of_attempts(session, origin, path, task)


def _of_attempts(session: Session, origin: Origin, path: tuple[str, ...], task: Task) -> Verdict:
    """The verdict on a task that gave no answer anywhere: it asks if it was begun all the same."""
    attempt = session.attempts.unanswered(origin, path, task)
    return Verdict("run") if attempt is None else Verdict("ask", attempt=attempt)


def _visit_around(inner: Inner) -> int:
    """Which execution of the session's sub-graph node a step inside belongs to."""
    return _visit_of(inner.outer, inner.origin[0])


def _visit_of(moment: Moment, number: int) -> int:
    waiting = moment.point.find(number)
    return waiting.task.visit if waiting is not None and waiting.task is not None else 0


def tools_of(inner: Inner) -> Sequence[dict[str, object]]:
    """The tool calls of a step inside of a sub-graph, without those of steps inside of it."""
    notes = inner.row.notes or {}
    own = ident(inner.origin, notes.get("ran", 0))
    return [call for call in notes.get("tools", ()) if call["inner"] == own]


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
    inside: dict[int, list[Inner]] = {}
    for number in sorted(session.line.inners):
        inner = session.line.inners[number]
        inside.setdefault(inner.outer.number, []).append(inner)
    for moment in sorted(session.line.moments.values(), key=lambda each: each.number):
        lines += _of_moment(session, moment)
        for inner in inside.get(moment.number, ()):
            lines += _of_inner(session, inner)
        lines += _unfinished(session, moment)
    for effect in (*_waiting(session), *_waiting_inside(session)):
        _put_waiting(lines, effect)
    return lines


def _put_waiting(lines: list[Effect], effect: Effect) -> None:
    """Add what waits; of one that may have acted as it waits there is a line already, and that says that it asks."""
    same = (effect.node, effect.uuid, effect.branch, True)
    for at in range(len(lines) - 1, -1, -1):
        line = lines[at]
        if effect.asks and (line.node, line.uuid, line.branch, line.may_have_acted) == same:
            lines[at] = replace(line, asks=True)
            return
    lines.append(effect)


def _unfinished(session: Session, moment: Moment) -> Iterator[Effect]:
    """The effects begun after a moment that were stopped or killed in the middle; failures are steps of their own."""
    for each in session.attempts.made:
        fate = session.attempts.fate(each)
        if each.step == moment.number and (fate == "stopped" or fate == "killed"):
            *origin, number = map(int, each.ident.split("."))
            uuid = session.nested.uuid(tuple(origin), number)
            yield Effect(fate, each.step, node_id(each.path, each.node), each.visits[-1], each.branch, uuid)


def _waiting(session: Session) -> Iterator[Effect]:
    for waiting in session.line.here.point.waiting:
        task = waiting.task
        if task is not None and not session.attempts.is_running((), task.number):
            place = (None, waiting.node.name, task.visit, session.line.here.branch, session.uuid(waiting.number))
            yield from _would(verdict(session, waiting).what, place)


def _waiting_inside(session: Session) -> Iterator[Effect]:
    for each in session.nested.waiting():
        task = each.waiting.task
        if task is not None and not session.attempts.is_running(each.origin, task.number):
            what = verdict_inside(session, each.origin, each.path, each.standing.plan, task).what
            yield from _would(what, (None, each.name, task.visit, session.line.here.branch, each.uuid))


def _would(what: str, place: tuple[None, str, int, int, str]) -> Iterator[Effect]:
    if what == "replay":
        yield Effect("would replay", *place)
    if what == "ask":
        yield Effect("would ask", *place, asks=True)


def _of_inner(session: Session, inner: Inner) -> Iterator[Effect]:
    row, plan = inner.row, session.nested.plan_at(inner.path)
    if plan is None or row.status not in (*RAN, "failed"):
        return
    uuid = session.nested.uuid(inner.origin, (row.notes or {})["ran"])
    place = (inner.outer.number, node_id(inner.path, row.node), row.visit, inner.branch, uuid)
    yield from _lines(row.status, place, tools_of(inner), marked=is_marked(plan.by_name.get(row.node)))


def _of_moment(session: Session, moment: Moment) -> Iterable[Effect]:
    ran = moment.ran
    if ran is None or ran.task is None or moment.status not in (*RAN, "failed"):
        return
    place = (moment.number, ran.node.name, ran.task.visit, moment.branch, session.uuid(ran.number))
    tools = [call for call in moment.tools if not call.get("inner")]
    yield from _lines(moment.status, place, tools, marked=is_effect(ran))


def _lines(
    status: str, place: tuple[int, str, int, int, str], tools: Iterable[Mapping[str, object]], *, marked: bool
) -> Iterator[Effect]:
    if marked:
        kinds: dict[str, Kind] = {"done": "touched", "failed": "failed", "replayed": "replayed"}
        yield Effect(kinds.get(status, "stood in"), *place)
    for call in tools:
        if call.get("effect"):
            call_id = call.get("call_id")
            yield Effect(
                "replayed" if call.get("replayed") else "touched",
                *place,
                tool=str(call.get("tool")),
                call_id=None if call_id is None else str(call_id),
            )


def repeats(
    session: Session, asked: Iterable[Waiting], inside: Mapping[str, str], attempted: Mapping[str, Attempt]
) -> EffectRepeats:
    """The error for effects that would act again, or may.

    Args:
        session: Where they wait.
        asked: Those of the line.
        inside: Names by id of those inside of sub-graphs.
        attempted: By id, why those ask that gave no answer yet.
    """
    tasks = [each for each in asked if each.task is not None]
    names = {session.uuid(each.number): each.node.name for each in tasks} | dict(inside)
    by_reason: dict[str, list[str]] = {}
    for uuid, name in names.items():
        reason = "acted already, before you went back, and would act again with another state"
        if uuid in attempted:
            reason = f"{WORDS[session.attempts.fate(attempted[uuid])]} and may have acted: it would act again"
        by_reason.setdefault(reason, []).append(repr(name))
    error = EffectRepeats(
        "; ".join(f"{', '.join(those)} {reason}" for reason, those in by_reason.items()),
        where=f"graph {session.plan.name!r}",
        fix="resume(rerun_effects=True) or allow_rerun(uuid) runs it again; skip(uuid, delta) doesn't",
    )
    error.uuids = (*(session.uuid(each.number) for each in tasks), *inside)
    return error
