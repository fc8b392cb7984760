"""The runs behind a session: its own, and those of sub-graphs. What finishes in a sub-graph is recorded at once; a
run that is begun again stands where the record left it and goes on from there.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from evonb.graph import record as records
from evonb.graph import telling
from evonb.graph.bus import Bus
from evonb.graph.contexts import put_back
from evonb.graph.debugging.effects import tools_of
from evonb.graph.debugging.inner import Origin, Standing, after_failure, after_task, at_start, ident, same_run
from evonb.graph.debugging.line import Inner
from evonb.graph.debugging.steps import RAN
from evonb.graph.debugging.watching import Told, Watch
from evonb.graph.decide import Hop, Outcome, Task
from evonb.graph.events import TaskId
from evonb.graph.failure import describe
from evonb.graph.hops import hops_of
from evonb.graph.plan import Plan
from evonb.graph.record import Record
from evonb.graph.run import Run
from evonb.graph.schema import Values
from evonb.graph.stopwatch import stopwatch
from evonb.graph.toolwatch import watch

if TYPE_CHECKING:
    from evonb.graph.debugging.session import Session

__all__ = ["InnerRun", "OuterRun", "current_inner"]

current_inner: ContextVar[tuple[InnerRun, Task] | None] = ContextVar("evonb_inner_run", default=None)
"""The task of a sub-graph that this code runs in, if a debugger runs it."""


class OuterRun(Run):
    """The run of a session: whose tasks the session itself performs, one by one."""

    __slots__ = ("origin", "session")

    def __init__(self, session: Session, plan: Plan, bus: Bus, limit: int | None) -> None:
        super().__init__(plan, bus, limit, keeps=True)
        self.session = session
        self.origin: Origin = ()

    def nested(self, task: Task) -> Run:
        """As ever; its steps are recorded."""
        return nested_run(self, task)


class InnerRun(Run):
    """The run of a sub-graph inside of a session.

    Attributes:
        origin: The numbers of the tasks around it.
        at: Where it stands.
    """

    __slots__ = ("_times", "_told", "_waves", "at", "origin", "session")

    def __init__(
        self, session: Session, plan: Plan, bus: Bus, limit: int | None, path: tuple[str, ...], origin: Origin
    ) -> None:
        super().__init__(plan, bus, limit, path, keeps=True)
        self.session = session
        self.origin = origin
        self.at: Standing | None = None
        self._times: dict[int, tuple[float, float, str]] = {}
        self._told: dict[int, Told] = {}
        self._waves: dict[int, int] = {}

    def nested(self, task: Task) -> Run:
        """As ever; its steps are recorded."""
        return nested_run(self, task)

    def task_id(self, task: Task) -> TaskId:
        """The id of a task, the same as for commands."""
        return TaskId(self.session.nested.uuid(self.origin, task.number))

    # --- beginning -------------------------------------------------------------------------------------

    def root(self, values: Values) -> Record:
        """What it begins with; what it began with, if it goes on."""
        last = self.session.nested.last(self.origin)
        if last is None or last.standing is None:
            return super().root(values)
        self.at = last.standing
        return self.at.start

    async def _begin(self, start: Record) -> list[Task]:
        if self.at is not None:
            ready = self.take_over(self.at)
            if self.bus.on:
                self._tell_again()
            return ready
        first = Task(self.plan.start, (start,), (), -1, "", None, True)
        hops = await hops_of(self, first, start)
        made, outcome = at_start(self.plan, first, hops)
        made.moment.at_s = self.session.now()
        self._count(outcome)
        self._stand(made, 0)
        if self.bus.on:
            telling.went_on(self, first, hops, outcome)
        return outcome.ready

    def take_over(self, at: Standing) -> list[Task]:
        """Stand where the record says. What waits there is ready."""
        for each in self._recorded():
            index = self.plan.by_name[each.row.node].index
            self.visits[index] = max(self.visits[index], each.row.visit)
            self._waves[each.notes["ran"]] = each.notes["wave"]
        ready = [each.task for each in at.moment.point.waiting if each.task is not None]
        for task in ready:
            self.visits[task.node.index] = max(self.visits[task.node.index], task.visit)
        self.turns = at.moment.point.turns
        self._mirror(at)
        return ready

    def _recorded(self) -> list[Inner]:
        """The finished tasks of this run in the record, oldest first."""
        moment, inner = self.session.line.place
        steps = [each for each in same_run(moment, inner, self.origin) if each.row.status in RAN]
        steps.reverse()
        return steps

    def _tell_again(self) -> None:
        """Listeners hear of what is answered from the record as of what runs."""
        for each in self._recorded():
            standing = self.session.nested.standing(each)
            ran = None if standing is None else standing.moment.ran
            if standing is not None and ran is not None and ran.task is not None:
                record = standing.moment.record
                telling.started(self, ran.task, records.values_of(self.plan.schema, record.parent or record))
                telling.finished(self, ran.task, dict(record.delta or {}), time.perf_counter())

    def note_skipped(self, task: Task, record: Record, hops: list[Hop], at_s: float) -> None:
        """Have made a step whose answer was given by hand, while nothing runs here."""
        assert self.at is not None
        first = self.at.given
        made, outcome = after_task(self.at, task, record, hops, "skipped", at_s=at_s, **self._fields(task))
        self._count(outcome)
        self._stand(made, first)
        if self.bus.on:
            telling.went_on(self, task, hops, outcome)

    def _stand(self, standing: Standing, first: int) -> None:
        """Have made a step."""
        inner = self.session.nested.note(self.origin, self.path, standing, first)
        self._mirror(standing)
        self.session.holding.passed_inside(self, inner.number, standing.moment)

    def _mirror(self, standing: Standing) -> None:
        self.at = standing
        self.slots = dict(standing.moment.point.slots)
        self.ended = list(standing.moment.point.ended)

    def _count(self, outcome: Outcome) -> None:
        for ready in outcome.ready:
            self.visits[ready.node.index] += 1
            ready.visit = self.visits[ready.node.index]

    # --- one task ----------------------------------------------------------------------------------------

    async def perform(self, task: Task) -> Record:
        """As ever, once nothing holds it; or its answer by a pin, or from the record of an effect."""
        session = self.session
        acts = session.attempts.acts
        await session.inside.gate(self, task)
        began, at_s, clock = time.perf_counter(), session.now(), stopwatch.get()
        held_s = 0.0 if clock is None else clock.held_s
        status = "done"
        with self._watching(task):
            try:
                given = session.pins.get(session.inside.name_of(self, task))
                if given is not None:
                    status, record = "pinned", self.by_hand(task, given)
                elif (known := session.performer.known_inside(self, task)) is not None:
                    status, record = "replayed", self._by_record(task, known)
                else:
                    record = await (self._act(task) if acts(self.path, task.node) else super().perform(task))
            except Exception as error:
                self._note_failure(task, error, at_s, time.perf_counter() - began)
                raise
        session.performer.allowed.discard(ident(self.origin, task.number))
        took_s = time.perf_counter() - began - (0.0 if clock is None else clock.held_s - held_s)
        self._times[task.number] = (at_s, max(0.0, took_s), status)
        return record

    async def _act(self, task: Task) -> Record:
        """Perform an effect; that it was begun is known before it acts."""
        attempt = self.session.performer.begin(self.origin, self.path, task)
        try:
            return await super().perform(task)
        except BaseException:
            self.session.attempts.left(attempt)
            raise

    def _by_record(self, task: Task, known: Inner) -> Record:
        mine = watch.get()
        if isinstance(mine, Watch):
            mine.replayed(tools_of(known))
        return self.by_hand(task, known.row.delta)

    def by_hand(self, task: Task, delta: Any) -> Record:
        """The record after a task as if its node had answered with this delta."""
        schema = self.plan.schema
        before = self.session.nested.joined(self.plan, self.path, task)
        values = records.values_of(schema, before)
        cleaned, updates = schema.absorb(values, dict(delta), task.node.name)
        if self.bus.on:
            telling.started(self, task, values)
            telling.finished(self, task, cleaned, time.perf_counter())
        return records.after(before, cleaned, updates, keep=True)

    @contextmanager
    def _watching(self, task: Task) -> Iterator[None]:
        """Tool calls are this task's, and also of the session's task around it."""
        inner = current_inner.set((self, task))
        around = watch.get()
        mine = around
        if isinstance(around, Watch):
            mine = around.within()
            self._told[task.number] = mine.told
        token = watch.set(mine)
        try:
            yield
        finally:
            put_back(current_inner, inner)
            put_back(watch, token)

    def _note_failure(self, task: Task, error: Exception, at_s: float, duration_s: float) -> None:
        assert self.at is not None
        info = describe(error, where=self.place())
        fields = self._fields(task) | {"at_s": at_s, "duration_s": duration_s, "error": info}
        self._stand(after_failure(self.at, task, **fields), self.at.given)

    def _fields(self, task: Task) -> dict[str, Any]:
        wave = 1 + max((self._waves.get(parent.number, 0) for parent in task.parents), default=0)
        self._waves[task.number] = wave
        told = self._told.pop(task.number, None) or Told()
        for call in told.calls:
            call.setdefault("inner", ident(self.origin, task.number))  # its own step; those around it have it too
        return {"wave": wave, "tools": tuple(told.calls), "usage": told.usage}

    async def _go_on(self, task: Task, record: Record) -> list[Task]:
        hops = await hops_of(self, task, record)
        assert self.at is not None
        at_s, duration_s, status = self._times.pop(task.number)
        fields = self._fields(task) | {"at_s": at_s, "duration_s": duration_s}
        first = self.at.given
        made, outcome = after_task(self.at, task, record, hops, status, **fields)
        self._count(outcome)
        self._stand(made, first)
        if self.bus.on:
            telling.went_on(self, task, hops, outcome)
        return outcome.ready


def nested_run(caller: OuterRun | InnerRun, task: Task) -> InnerRun:
    """The run of a task of another one, whose node is a sub-graph."""
    engine = task.node.subgraph
    assert engine is not None
    path, origin = (*caller.path, task.node.name), (*caller.origin, task.number)
    return InnerRun(caller.session, engine._plan, caller.bus, engine.max_turn, path, origin)
