"""What a session looks like from outside: waiting tasks, steps, and why a command isn't allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evonb.graph.debugging.asked import idle_tasks, only_asks
from evonb.graph.debugging.attempts import is_marked
from evonb.graph.debugging.effects import is_effect
from evonb.graph.debugging.inner import ENTERED, Origin
from evonb.graph.debugging.line import Inner, Moment, Place
from evonb.graph.debugging.points import Point, Waiting, start_waits
from evonb.graph.debugging.rows import change_from, error_from, usage_from
from evonb.graph.debugging.steps import Call, Step
from evonb.graph.decide import Slot, Task
from evonb.graph.plan import Plan
from evonb.graph.topology import PATH_SEPARATOR, node_id
from evonb.graph.waits import parted

if TYPE_CHECKING:
    from evonb.graph.debugging.session import Session

__all__ = ["COMMANDS", "WaitingTask", "allowed", "step_of", "waiting_tasks"]


@dataclass(frozen=True, slots=True)
class WaitingTask:
    """Something that waits to run.

    Attributes:
        uuid: Its id, for commands.
        node_name: Its node; inside of a sub-graph its id in the picture ("sub › inner"), for a tool call "node: tool".
        can_run: Whether nothing is missing.
        held: The id of the breakpoint that holds it, "run_to", or "".
        arrived: Of a join, the predecessors that have come.
        missing: Of a join, those that haven't.
        visit: The how-manieth execution of its node it will be; 0 for a join that isn't complete, and for the end.
        running: Whether it runs already and waits inside: a sub-graph that is stepped through, a held tool call; or it
            is a task of a sub-graph that was begun.
        failed: Whether it failed when it ran last.
        inside: Whether it waits inside of a node that was begun.
        enters: Whether it is a sub-graph, which can be stepped into.
    """

    uuid: str
    node_name: str
    can_run: bool
    held: str = ""
    arrived: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    visit: int = 0
    running: bool = False
    failed: bool = False
    inside: bool = False
    enters: bool = False

    @property
    def is_next(self) -> bool:
        """Whether a step would begin it: of a sub-graph that was begun, what waits inside of it comes next."""
        return self.can_run and (self.inside or not self.running)


def waiting_tasks(session: Session) -> list[WaitingTask]:
    """What waits at the moment that is shown, oldest first; then what waits inside of running nodes."""
    if not session.begun:
        return []
    if session.stored_position is not None:
        stored = session.stored_position
        inside = [_from_data(each) for each in stored.get("inside", ())]
        begun = {each.uuid.partition(".")[0] for each in inside}
        tasks = [_stored(session, *each) for each in stored.get("waiting", ())]
        return [replace(each, running=each.uuid in begun) for each in tasks] + inside
    here = session.line.here
    tasks = [_task(session, here, each) for each in here.point.waiting]
    return tasks + list(_inside(session))


def _inside(session: Session) -> Iterator[WaitingTask]:
    """What waits inside: parked in a running node, or where the record of a sub-graph that was begun has left it."""
    here = session.line.cursor is None
    parked = {each.uuid: each for each in session.inside.parked} if here else {}
    running = session.driver.alive if here else set()
    for waits in session.nested.waiting():
        task, at = waits.waiting.task, parked.pop(waits.uuid, None)
        if at is None and task is not None and waits.origin[0] in running:
            continue  # it runs, or something in it waits
        held = session.holding.held_inside(waits) if at is None else at.held
        arrived, missing = _arrivals(waits.waiting, waits.standing.moment.point)
        yield WaitingTask(
            waits.uuid,
            waits.name,
            task is not None,
            held,
            arrived,
            missing,
            _visit(task),
            task is not None,
            waits.failed,
            inside=True,
            enters=task is not None and task.node.subgraph is not None,
        )
    for each in parked.values():
        enters = each.task is not None and each.task.node.subgraph is not None
        yield WaitingTask(
            each.uuid, each.name, True, each.held, visit=_visit(each.task), running=True, inside=True, enters=enters
        )


def _visit(task: Task | None) -> int:
    return 0 if task is None else task.visit


def inside_data(session: Session) -> list[list[Any]]:
    """What waits inside of sub-graphs at the present, as plain JSON for the store."""
    return [
        [
            each.uuid,
            each.node_name,
            each.can_run,
            each.held,
            list(each.arrived),
            list(each.missing),
            each.visit,
            each.failed,
            each.enters,
        ]
        for each in _inside(session)
        if not each.uuid.rpartition("-")[2].startswith("tool")
    ]


def _from_data(data: list[Any]) -> WaitingTask:
    uuid, name, can_run, held, arrived, missing, visit, failed, *more = data
    enters = bool(more and more[0])  # a run that an earlier version wrote doesn't say
    return WaitingTask(uuid, name, can_run, held, tuple(arrived), tuple(missing), visit, can_run, failed, True, enters)


def _stored(
    session: Session,
    number: int,
    node: str,
    can_run: bool,
    visit: int,
    held: str,
    arrived: Any,
    missing: Any,
    failed: bool,
) -> WaitingTask:
    """A waiting task of a stored session of which nothing else has been read yet."""
    known = session.plan.by_name.get(node)
    enters = can_run and known is not None and known.subgraph is not None
    arrivals = tuple(arrived), tuple(missing)
    return WaitingTask(session.uuid(number), node, can_run, held, *arrivals, visit, failed=failed, enters=enters)


def waiting_data(session: Session) -> list[list[Any]]:
    """What waits at the present, as plain JSON for the store."""
    present = session.line.present
    tasks = [(each.number, _task(session, present, each)) for each in present.point.waiting]
    return [
        [
            number,
            each.node_name,
            each.can_run,
            each.visit,
            each.held,
            list(each.arrived),
            list(each.missing),
            each.failed,
        ]
        for number, each in tasks
    ]


def _task(session: Session, here: Moment, waiting: Waiting) -> WaitingTask:
    arrived, missing = _arrivals(waiting, here.point)
    flying = session.line.cursor is None and waiting.number in session.driver.alive
    failed = here.status == "failed" and here.ran is not None and here.ran.number == waiting.number
    return WaitingTask(
        session.uuid(waiting.number),
        waiting.node.name,
        waiting.can_run,
        session.holding.holder(waiting) or "",
        arrived,
        missing,
        waiting.task.visit if waiting.task is not None else 0,
        flying or session.nested.is_begun(waiting),
        failed,
        enters=waiting.task is not None and waiting.node.subgraph is not None,
    )


def _arrivals(waiting: Waiting, point: Point) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Of a join, the predecessors that have come, and those that haven't."""
    if waiting.key is None or waiting.node.joins is None:
        return (), ()
    join = waiting.node.joins[waiting.key[1]]
    mask = point.slots.get(waiting.key, Slot()).mask if waiting.task is None else join.full
    return parted(join, mask)


def step_at(session: Session, place: Place) -> Step:
    """The last step at a place."""
    moment, inner = place
    return step_of(session, moment) if inner is None else inner_step_of(session, inner)


def inner_step_of(session: Session, inner: Inner) -> Step:
    """A step inside of a sub-graph as people see it."""
    if inner.step is None:
        inner.step = _inner_step_of(session, inner)
    return inner.step


def _inner_step_of(session: Session, inner: Inner) -> Step:
    row, notes, nested = inner.row, inner.notes, session.nested
    enters = row.status == ENTERED
    plan = nested.plan_at(inner.path)
    node = None if plan is None else plan.by_name.get(row.node)
    change, tools = change_from(row), notes.get("tools", ())
    edges = () if plan is None else _edges_of(plan, notes["hops"])
    return Step(
        number=inner.outer.number,
        uuid=_id_inside(session, inner.origin) if enters else nested.uuid(inner.origin, notes.get("ran", 0)),
        node=PATH_SEPARATOR.join(inner.path) if enters else node_id(inner.path, row.node),
        visit=nested.visit_around(inner) if enters else row.visit,
        branch=inner.branch,
        status=row.status,
        at_s=row.at_s,
        duration_s=row.duration_s,
        wrote=(change.key,) if change is not None else tuple(row.delta),
        wave=notes.get("wave", 0),
        error=error_from(row),
        tools=tuple(str(call.get("tool")) for call in tools),
        calls=tuple(_call_of(call) for call in tools),
        usage=usage_from(row),
        edges=tuple(node_id(inner.path, each) for each in edges),
        effect=is_marked(node) or any(call.get("effect") for call in tools),
        inner=inner.number,
        owner=session.uuid(inner.origin[0]),
    )


def _edges_of(plan: Plan, hops: Any) -> tuple[str, ...]:
    """The ids of the edges of hops that are known by their rows; none that a changed sub-graph hasn't any more."""
    named = [(plan.edges[index], target) for index, target, *_ in hops if index < len(plan.edges)]
    return tuple(edge.ids[target] for edge, target in named if target in edge.ids)


def _id_inside(session: Session, origin: Origin) -> str:
    """The id of the task that a run inside belongs to."""
    return session.nested.uuid(origin[:-1], origin[-1]) if len(origin) > 1 else session.uuid(origin[0])


def step_of(session: Session, moment: Moment) -> Step:
    """A moment as people see it; made once, for views ask for whole histories again and again."""
    if moment.step is None:
        moment.step = _step_of(session, moment)
    return moment.step


def _step_of(session: Session, moment: Moment) -> Step:
    ran = moment.ran
    return Step(
        number=moment.number,
        uuid=session.uuid(ran.number if ran is not None else 0),
        node=ran.node.name if ran is not None else "start",
        visit=ran.task.visit if ran is not None and ran.task is not None else 0,
        branch=moment.branch,
        status=moment.status,
        at_s=moment.at_s,
        duration_s=moment.duration_s,
        wrote=moment.wrote,
        wave=moment.wave,
        error=moment.error,
        tools=tuple(str(call.get("tool")) for call in moment.tools),
        edges=tuple(hop.edge.ids[hop.target.name] for hop in moment.hops),
        effect=is_effect(ran) or any(call.get("effect") for call in moment.tools),
        calls=tuple(_call_of(call) for call in moment.tools),
        usage=moment.usage,
    )


def _call_of(call: Mapping[str, Any]) -> Call:
    return Call(str(call.get("tool")), call.get("call_id"), bool(call.get("failed")), call.get("duration_s"))


# --- allowed or not ---------------------------------------------------------------------------------


def _idle(session: Session) -> str:
    return "" if session.begun else "no run has begun"


def _still(session: Session) -> str:
    return "it runs" if session.busy else ""


def _runnable(session: Session) -> str:
    if reason := _idle(session) or _still(session):
        return reason
    line = session.line
    can = any(each.can_run for each in line.here.point.waiting) or (session.flying and line.cursor is None)
    return "" if can else "the run is over"


def _steppable(session: Session) -> str:
    """While only answers are waited for, what waits elsewhere can be stepped."""
    if not session.busy or not only_asks(session):
        return _runnable(session)
    if session.line.cursor is not None:
        return "it runs: go back to live first"
    return "" if idle_tasks(session) or session.inside.parked else "it waits for an answer"


def _inner(session: Session) -> str:
    if reason := _runnable(session):
        return reason
    into = any(each.can_run and each.node.subgraph is not None for each in session.line.here.point.waiting)
    return "" if into or session.inside.parked else "no sub-graph waits"


def _is_inside(session: Session) -> bool:
    if session.inside.parked and session.line.cursor is None:
        return True
    return any(session.nested.is_begun(each) for each in session.line.here.point.waiting)


def _out(session: Session) -> str:
    if reason := _runnable(session):
        return reason
    return "" if _is_inside(session) else "nothing waits inside of a sub-graph"


def _past(session: Session) -> str:
    if reason := _idle(session):
        return reason
    here = session.line.here
    return "" if here.before is not None or here.number or session.line.here_inner else "this is the start"


def _future(session: Session) -> str:
    return _idle(session) or ("" if session.line.cursor is not None else "the present is shown")


def _changeable(session: Session) -> str:
    if reason := _idle(session) or _still(session):
        return reason
    point = session.line.here.point
    if start_waits(point):
        return "the start hasn't chosen where to go yet; step or resume first"
    return "" if point.waiting else "nothing waits"


def _running(session: Session) -> str:
    if not session.busy:
        return "nothing runs"
    return "it is pausing already" if session.pausing else ""


def _stoppable(session: Session) -> str:
    if session.busy:
        return ""
    return "nothing runs" if _runnable(session) or start_waits(session.line.present.point) else ""


COMMANDS: dict[str, tuple[str, Callable[[Session], str]]] = {
    "start": ("Start", _still),
    "debug": ("Run", _still),
    "resume": ("Resume", _steppable),
    "step_over": ("Step", _steppable),
    "step_into": ("Step into", _inner),
    "step_out": ("Step out", _out),
    "run_to": ("Run to here", _runnable),
    "pause": ("Pause", _running),
    "stop": ("Stop", _stoppable),
    "step_back": ("Step back", _past),
    "step_forward": ("Step forward", _future),
    "goto": ("Go to", _idle),
    "live": ("Live", _future),
    "restore_step": ("Take back", lambda session: _still(session) or _past(session)),
    "change_output": ("Edit", _changeable),
    "edit": ("Edit", _changeable),
    "skip": ("Skip", _changeable),
    "replace_node": ("Replace", _still),
    "adopt": ("Take the new code", _still),
    "reset": ("Reset", _still),
}
"""Every command with its name for people and what it needs."""


def allowed(session: Session) -> dict[str, str]:
    """By command, "" or the reason why it isn't allowed now: "Pause: nothing runs"."""
    reasons = {name: (label, needs(session)) for name, (label, needs) in COMMANDS.items()}
    return {name: f"{label}: {reason}" if reason else "" for name, (label, reason) in reasons.items()}
