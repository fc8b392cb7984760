"""What touched the world. After going back, a node marked `effect=True`, or whose tools acted, isn't run again behind
anybody's back: with the same state its recorded output is used. With another one the session asks first if the node is
marked; else it runs, and calls that it repeats are answered from their receipts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from evonb.graph import record as records
from evonb.graph.debugging.inner import Origin, ident, inners_back
from evonb.graph.debugging.line import Inner, Moment
from evonb.graph.debugging.points import SessionError, Waiting
from evonb.graph.debugging.steps import RAN
from evonb.graph.debugging.ways import back_from
from evonb.graph.decide import Task
from evonb.graph.plan import NodePlan, Plan
from evonb.graph.record import Record
from evonb.graph.schema import CompiledSchema
from evonb.graph.topology import node_id

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
        step: The step, None for what waits; inside of a sub-graph the one that had been made last.
        node: The node; inside of a sub-graph its id in the picture.
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
    return waiting is not None and waiting.task is not None and is_marked(waiting.node)


def is_marked(node: NodePlan | None) -> bool:
    """Whether a node is marked as doing something outside of the state."""
    return node is not None and bool(node.spec and node.spec.effect)


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
    return _acted(moment.tools)


def _acted(tools: Iterable[Mapping[str, object]]) -> bool:
    return any(call.get("effect") and not call.get("replayed") for call in tools)


def verdict_inside(
    session: Session, origin: Origin, path: tuple[str, ...], plan: Plan, task: Task
) -> tuple[Literal["run", "replay", "ask"], Inner | None]:
    """As `verdict`, for a waiting task of a sub-graph."""
    line = session.line
    if len(line.tips) == 1 and line.is_at_end and line.cursor is None:
        return "run", None  # nobody has gone back
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
        return "run", None
    before = session.nested.joined(plan, path, task)
    for each in reversed(done):
        standing = session.nested.standing(each)
        parent = None if standing is None else standing.moment.record.parent
        if parent is not None and _same(plan.schema, before, parent):
            return "replay", each
    return ("ask", done[-1]) if marked else ("run", None)


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
    for waiting in session.line.here.point.waiting:
        what = verdict(session, waiting).what
        if what != "run" and waiting.task is not None:
            kind: Kind = "would replay" if what == "replay" else "would ask"
            uuid = session.uuid(waiting.number)
            lines.append(Effect(kind, None, waiting.node.name, waiting.task.visit, session.line.here.branch, uuid))
    return lines + list(_waiting_inside(session))


def _waiting_inside(session: Session) -> Iterator[Effect]:
    for each in session.nested.waiting():
        task = each.waiting.task
        if task is not None:
            what, _ = verdict_inside(session, each.origin, each.path, each.standing.plan, task)
            if what != "run":
                kind: Kind = "would replay" if what == "replay" else "would ask"
                yield Effect(kind, None, each.name, task.visit, session.line.here.branch, each.uuid)


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


def repeats(session: Session, asked: Iterable[Waiting], inside: Mapping[str, str]) -> EffectRepeats:
    """The error for effects that would act again on another state; of those inside of sub-graphs, names by id."""
    tasks = [each for each in asked if each.task is not None]
    names = ", ".join(map(repr, [*(each.node.name for each in tasks), *inside.values()]))
    error = EffectRepeats(
        f"{names} acted already, before you went back, and would act again with another state",
        where=f"graph {session.plan.name!r}",
        fix="resume(rerun_effects=True) or allow_rerun(uuid) runs it again; skip(uuid, delta) doesn't",
    )
    error.uuids = (*(session.uuid(each.number) for each in tasks), *inside)
    return error
