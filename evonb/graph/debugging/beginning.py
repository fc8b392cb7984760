"""The first moment of a session: its inputs, and where its start leads.

A start may have routers and filters, which take their time. Until they have answered, the start itself waits as a task
would. So does that of a stored run whose process was killed meanwhile: it is asked again before anything runs, which is
right because routers and filters answer the same state the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evonb.graph import record as records
from evonb.graph import telling
from evonb.graph.bus import Bus
from evonb.graph.debugging.line import Line, Moment
from evonb.graph.debugging.points import Point, Waiting, advanced, start_waits
from evonb.graph.debugging.rows import plain
from evonb.graph.decide import Task, decide
from evonb.graph.edges import EdgeSpec
from evonb.graph.hops import hops_of
from evonb.graph.isolate import take
from evonb.graph.plan import Plan
from evonb.graph.record import Record

if TYPE_CHECKING:
    from evonb.graph.debugging.session import Session

__all__ = ["begin", "decide_start", "is_plain", "start_of", "undecided"]


async def begin(session: Session, inputs: Mapping[str, Any], bus: Bus | None = None) -> bool:
    """A new session at its start; the breakpoints stay. Inputs that don't fit leave no session.

    Returns:
        Whether there is a session: none is left if it was stopped while the start's routers were asked.

    Raises:
        StateError: An input doesn't fit the schema.
        RouterError: The start's router answered an undeclared target.
    """
    session.clear()
    session.breakpoints.zero()
    session.attach(bus or Bus(session.hub, live=True))
    inputs = take(dict(inputs))
    telling.run_started(session.run.bus, session.plan.name, inputs)
    try:
        start = records.root(session.plan.schema, inputs)
        session.keeper = session.make_keeper(session, plain(start.cut or {}))
        session.set_line(Line(undecided(session.plan, start)))
        decided = await decide_start(session)
    except Exception as error:
        telling.run_failed(session.run.bus, session.plan.name, error)
        _leave(session, "failed")
        raise
    except BaseException:
        _withdraw(session)
        raise
    if decided:
        session.changed()
    else:
        _withdraw(session)
    return decided


def _withdraw(session: Session) -> None:
    telling.run_finished(session.run, None, reason="stopped", message="stopped before its start had decided")
    _leave(session, "stopped")


def _leave(session: Session, status: str) -> None:
    """Leave a session that has hardly begun. What is stored of it can be opened, and its start is asked again then."""
    if session.keeper is not None:
        session.keeper.put({"status": status})
    session.clear()
    session.changed()


# --- what the start decides -------------------------------------------------------------------------------


def start_of(plan: Plan, record: Record) -> Task:
    """The task that the start is."""
    return Task(plan.start, (record,), (), -1, "", None, True)


def undecided(plan: Plan, record: Record) -> Moment:
    """The first moment while nobody knows yet where the start leads."""
    waiting = Waiting(0, plan.start, task=start_of(plan, record))
    return Moment(number=0, before=None, point=Point((waiting,)), record=record)


def is_plain(plan: Plan) -> bool:
    """Whether everybody knows where the start leads: it has no routers and no filters."""
    return all(isinstance(edge.spec, EdgeSpec) and edge.spec.state_filter is None for edge in plan.start.outs)


async def decide_start(session: Session) -> bool:
    """Ask the start's routers and filters, if they haven't been asked.

    Returns:
        Whether they were asked now; False too if the session was stopped meanwhile, when the start still waits.

    Raises:
        RouterError: A router answered an undeclared target. The start still waits.
        NodeError: A router or a filter raised. The start still waits.
    """
    present = session.line.present
    if not start_waits(present.point):
        return False
    first = start_of(session.plan, present.record)
    session.wake()
    hops = await session.driver.ask(hops_of(session.run, first, present.record))
    if hops is None:
        return False
    outcome = decide({}, first, hops)
    point, made = advanced(Point(), None, first, outcome, session.numbers)
    session.count(outcome)
    moment = Moment(number=0, before=None, point=point, record=present.record, hops=tuple(hops), made=tuple(made))
    session.set_line(Line(moment))
    session.learn(moment)
    session.tell(first, hops, outcome)
    if session.keeper is not None:
        session.keeper.note(moment)
        session.keeper.flush()
    return True
