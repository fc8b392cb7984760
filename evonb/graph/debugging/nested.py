"""The steps inside of sub-graphs as a session has them: noting them, and finding where sub-graphs stand at a place.

Nothing here runs a node. That a sub-graph's run goes on from what was recorded is `inner_run`'s business.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evonb.graph import record as records
from evonb.graph.debugging.inner import (
    ENTERED,
    Origin,
    Standing,
    Unreadable,
    ident,
    inners_back,
    read_row,
    same_run,
    write_row,
)
from evonb.graph.debugging.likeness import digest, shape_of
from evonb.graph.debugging.line import Inner, Moment, Place
from evonb.graph.debugging.points import Waiting
from evonb.graph.debugging.steps import RAN
from evonb.graph.decide import Task
from evonb.graph.events import ForkMade
from evonb.graph.plan import Plan
from evonb.graph.ports import StoredStep
from evonb.graph.record import Record
from evonb.graph.run import Run
from evonb.graph.topology import node_id

if TYPE_CHECKING:
    from evonb.graph.debugging.session import Session

__all__ = ["InnerWaiting", "Nested", "known_values"]

_NO_ROW = StoredStep(
    number=0, branch=0, node="", visit=0, parents=(), status="", at_s=0.0, duration_s=0.0, delta={}, inner=True
)


@dataclass(frozen=True, slots=True)
class InnerWaiting:
    """Something that waits inside of a sub-graph that was begun.

    Attributes:
        uuid: Its id.
        name: Its node's id in the picture.
        origin, path: The run that it is in.
        standing: Where that stands.
        waiting: What waits.
        failed: Whether it failed when it ran last.
    """

    uuid: str
    name: str
    origin: Origin
    path: tuple[str, ...]
    standing: Standing
    waiting: Waiting
    failed: bool

    @property
    def ident(self) -> str:
        """What names it among the tasks of the session."""
        return ident(self.origin, self.waiting.number)


class Nested:
    """What a session knows of its sub-graphs' runs."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._digests: dict[Plan, str] = {}

    # --- noting ----------------------------------------------------------------------------------------

    def note(self, origin: Origin, path: tuple[str, ...], standing: Standing, first: int) -> Inner:
        """Make a step inside the present one.

        Args:
            origin, path: The run.
            standing: Where it stands after the step.
            first: The last waiting number that it had given before.
        """
        session, line = self._session, self._session.line
        inner = Inner(outer=line.present, origin=origin, path=path, row=_NO_ROW, standing=standing)
        forks = line.add_inner(inner)
        inner.row = write_row(inner, first, self._digest(standing.plan))
        if standing.moment.tools:
            line.called_inside.append(inner)
        session.attempts.recorded(origin, standing.moment)
        if forks:
            bus = session.run.bus
            bus.emit(ForkMade, (), fork=line.name(inner.branch), from_task_id=session.uuid(origin[0]))
        if session.keeper is not None:
            session.keeper.note_inner(inner)
        return inner

    def _digest(self, plan: Plan) -> str:
        found = self._digests.get(plan)
        if found is None:
            found = self._digests[plan] = digest(shape_of(plan))
        return found

    # --- where they stand --------------------------------------------------------------------------------

    def uuid(self, origin: Origin, number: int) -> str:
        """The id of a task inside."""
        return f"{self._session.run.bus.run_id[:12]}-{ident(origin, number)}"

    def plan_at(self, path: tuple[str, ...]) -> Plan | None:
        """The sub-graph at a path, None if it is gone."""
        plan = self._session.plan
        for name in path:
            node = plan.by_name.get(name)
            if node is None or node.subgraph is None:
                return None
            plan = node.subgraph._plan
        return plan

    def last(self, origin: Origin, place: Place | None = None) -> Inner | None:
        """The newest step of a run at a place (the present if none is given) from which the run can go on."""
        line = self._session.line
        moment, inner = place or (line.present, line.inner)
        found = next(same_run(moment, inner, origin), None)
        return found if found is not None and self.standing(found) is not None else None

    def standing(self, inner: Inner) -> Standing | None:
        """Where a run stands after a step of it; None if the step doesn't fit the sub-graph as it is now."""
        plan = self.plan_at(inner.path)
        if plan is None:
            return None
        if inner.standing is None or inner.standing.plan is not plan:
            try:
                self._read(inner, plan)
            except Unreadable:
                return None
        return inner.standing

    def before(self, inner: Inner) -> Record | None:
        """The state that a step started from, of a run whose standing is known; None for the one that began it."""
        assert inner.standing is not None
        moment, plan = inner.standing.moment, inner.standing.plan
        if moment.status in RAN:
            return moment.record.parent
        _, *earlier = same_run(inner.outer, inner, inner.origin)
        at = self.standing(earlier[0]) if earlier else None
        if at is None or moment.ran is None:
            return None
        waited = at.moment.point.find(moment.ran.number)
        return None if waited is None or waited.task is None else self.joined(plan, inner.path, waited.task)

    def _read(self, inner: Inner, plan: Plan) -> None:
        """Make the standings of a step and of those before it from their rows."""
        steps: list[Inner] = []
        at: Standing | None = None
        for each in same_run(inner.outer, inner, inner.origin):
            if each.standing is not None and each.standing.plan is plan:
                at = each.standing
                break
            steps.append(each)
        if at is None and (steps[-1].row.notes or {}).get("shape") != self._digest(plan):
            raise Unreadable("the sub-graph has another shape")
        for each in reversed(steps):
            start = self._start(each, plan) if each.row.status == ENTERED else None
            made = read_row(each.row, plan, at, start)
            made.moment.number, made.moment.branch = each.number, each.branch
            each.standing = at = made

    def _start(self, entered: Inner, plan: Plan) -> Record:
        """What a run began with: the state of the task around it."""
        task, outer = self._around(entered)
        values = records.values_of(outer.schema, self.joined(outer, entered.path[:-1], task))
        return records.root(plan.schema, known_values(plan, values), borrow=True)

    def _around(self, entered: Inner) -> tuple[Task, Plan]:
        """The task that a run belongs to, by the step that began it; and the graph of that task."""
        origin, point, outer = entered.origin, entered.outer.point, self._session.plan
        if len(origin) > 1:
            around = self.last(origin[:-1], (entered.outer, entered.before))
            standing = None if around is None else self.standing(around)
            if standing is None:
                raise Unreadable("the sub-graph around it isn't known")
            point, outer = standing.moment.point, standing.plan
        waiting = point.find(origin[-1])
        if waiting is None or waiting.task is None:
            raise Unreadable("the task around it didn't wait")
        return waiting.task, outer

    def visit_around(self, entered: Inner) -> int:
        """The how-manieth execution of its node a run is, by the step that began it; 0 if that isn't known any more."""
        try:
            return self._around(entered)[0].visit
        except Unreadable:
            return 0

    def joined(self, plan: Plan, path: tuple[str, ...], task: Task) -> Record:
        """The record that a task starts from."""
        if len(task.inputs) == 1 and task.node.joins is None:
            return task.inputs[0]
        return Run(plan, self._session.run.bus, None, path).joined(task)

    def finished(self, owner: int) -> list[Inner]:
        """The steps of finished tasks inside of one of the session's at the present, oldest first."""
        line = self._session.line
        back = inners_back(line.present, line.inner, owner)
        steps = [each for each in back if each.origin[0] == owner and each.row.status in RAN]
        steps.reverse()
        return steps

    # --- what waits ----------------------------------------------------------------------------------------

    def is_begun(self, waiting: Waiting, place: Place | None = None) -> bool:
        """Whether a waiting sub-graph was begun and hasn't failed since."""
        if waiting.task is None or waiting.node.subgraph is None:
            return False
        moment, inner = place or self._session.line.place
        found = self.last((waiting.number,), (moment, inner))
        if found is None:
            return False
        while moment is not found.outer:
            if moment.status == "failed" and moment.ran is not None and moment.ran.number == waiting.number:
                return False
            assert moment.before is not None
            moment = moment.before
        return True

    def waiting(self, place: Place | None = None) -> list[InnerWaiting]:
        """What waits inside of the sub-graphs that were begun, at a place (the one that is shown if none is given)."""
        at = place or self._session.line.place
        found: list[InnerWaiting] = []
        for each in at[0].point.waiting:
            if each.task is not None and each.node.subgraph is not None:
                found += self._inside((each.number,), (each.node.name,), at)
        return found

    def _inside(self, origin: Origin, path: tuple[str, ...], place: Place) -> Iterator[InnerWaiting]:
        last = self.last(origin, place)
        standing = None if last is None else self.standing(last)
        if last is None or standing is None:
            return
        failed = _failed(standing.moment)
        for each in standing.moment.point.waiting:
            if each.task is not None and each.node.subgraph is not None:
                deeper = list(self._inside((*origin, each.number), (*path, each.node.name), place))
                if deeper:
                    yield from deeper
                    continue
            name, uuid = node_id(path, each.node.name), self.uuid(origin, each.number)
            yield InnerWaiting(uuid, name, origin, path, standing, each, each.number == failed)

    def find(self, uuid: str) -> InnerWaiting | None:
        """What waits inside under this id, at the place that is shown."""
        if not self._session.begun or "." not in str(uuid):
            return None
        return next((each for each in self.waiting() if each.uuid == uuid), None)


def _failed(moment: Moment) -> int | None:
    return moment.ran.number if moment.status == "failed" and moment.ran is not None else None


def known_values(plan: Plan, values: dict[str, Any]) -> dict[str, Any]:
    """What a sub-graph takes of the state around it."""
    fields = plan.schema.fields
    return {key: value for key, value in values.items() if key in fields or not fields}
