"""Driving a session from point to point: runs waiting tasks, holds those with breakpoints, keeps every point passed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from evonb.graph import record as records
from evonb.graph import telling
from evonb.graph.bus import Bus, Hub
from evonb.graph.decide import Hop, Outcome, Task, decide
from evonb.graph.events import BreakpointHit, ForkMade, RunPaused, StateEdited
from evonb.graph.hops import hops_of
from evonb.graph.isolate import take
from evonb.graph.plan import Plan
from evonb.graph.record import Record
from evonb.graph.run import Run
from evonb.graph.session import Numbers, Point, SessionError, Waiting, advanced, edited

__all__ = ["Stepper"]

Condition = Callable[[Any], Any]
Done = tuple[Record, list[Hop]]


class Stepper:
    """One session.

    Attributes:
        points: Every point passed, the present one last.
        known: All that ever waited, by number.
        breakpoints: By node name, with a condition or None.
        busy: Whether a command is running nodes.
    """

    def __init__(self, plan: Plan, hub: Hub, limit: int | None) -> None:
        self.plan = plan
        self.hub = hub
        self.limit = limit
        self.points: list[Point] = []
        self.known: dict[int, Waiting] = {}
        self.breakpoints: dict[str, Condition | None] = {}
        self.busy = False
        self._forks = 0
        self._numbers = Numbers(plan.nodes)
        self._run: Run | None = None
        self._told: set[int] = set()

    @property
    def point(self) -> Point:
        """Where the session stands; before it has begun, nothing waits."""
        return self.points[-1] if self.points else Point()

    @property
    def run(self) -> Run:
        """The run behind the session.

        Raises:
            SessionError: No session has begun.
        """
        if self._run is None:
            raise SessionError("No session has begun", fix="await graph.debug(inputs)")
        return self._run

    @contextmanager
    def command(self, name: str) -> Any:
        """Holds off other commands for the time of one.

        Raises:
            SessionError: One is under way.
        """
        if self.busy:
            raise SessionError(f"{name} isn't allowed while the session runs", fix="wait until it has paused")
        self.busy = True
        try:
            yield
        finally:
            self.busy = False

    async def begin(self, inputs: Mapping[str, Any]) -> None:
        """A new session at its start; the breakpoints stay."""
        self.forget()
        bus = Bus(self.hub, live=True)
        self._run = run = Run(self.plan, bus, self.limit, keeps=True)
        self._numbers = Numbers(self.plan.nodes)
        inputs = take(dict(inputs))
        telling.run_started(bus, self.plan.name, inputs)
        start = records.root(self.plan.schema, inputs)
        first = Task(self.plan.start, (start,), (), -1, "", None, True)
        self.points = [Point(visits=tuple(run.visits))]
        self._take_in(None, first, start, await hops_of(run, first, start))

    def forget(self) -> None:
        """Drop the session."""
        if self._run is not None:
            self._run.bus.shut()
        self._run, self.points, self.known, self._forks = None, [], {}, 0
        self._told = set()

    # --- running ---------------------------------------------------------------------------------

    async def drive(self, first: Iterable[Waiting], *, on: bool) -> list[Waiting]:
        """Run these tasks and, if `on`, what becomes ready by them and isn't held, side by side.

        Returns:
            What came to wait and wasn't run.

        Raises:
            NodeError: A node failed. It and the tasks beside it wait as before; finished ones stay finished.
        """
        run = self.run
        run.bus.wake()
        left: list[Waiting] = []
        running: dict[asyncio.Task[Done], Waiting] = {}
        try:
            self._start(first, running)
            while running:
                finished, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for work in sorted(finished, key=lambda each: running[each].number):
                    waiting = running.pop(work)
                    run.active = len(running)
                    new = self._finish(waiting, work)
                    ready = [each for each in new if on and not self._holds(each)]
                    left += [each for each in new if each not in ready]
                    self._start(ready, running)
        finally:
            for work in running:
                work.cancel()
            if running:
                await asyncio.wait(running)
            run.active = 0
        return left

    def _start(self, ready: Iterable[Waiting], running: dict[asyncio.Task[Done], Waiting]) -> None:
        run = self.run
        for waiting in ready:
            limit = run.limit
            if limit is not None and run.turns >= limit and waiting.task is not None:
                run.skipped.append(waiting.task)
                self._drop(waiting)
                continue
            run.turns += 1 if waiting.task is not None else 0
            running[asyncio.create_task(self._work(waiting))] = waiting
            run.active = len(running)

    def _drop(self, waiting: Waiting) -> None:
        left = tuple(each for each in self.point.waiting if each.number != waiting.number)
        self.points.append(replace(self.point, waiting=left))

    async def _work(self, waiting: Waiting) -> Done:
        task = waiting.task
        if task is None:  # the end: nothing runs
            assert waiting.hop is not None
            return waiting.hop.record, []
        record = await self.run.perform(task)
        return record, await hops_of(self.run, task, record)

    def _finish(self, waiting: Waiting, work: asyncio.Task[Done]) -> list[Waiting]:
        try:
            record, hops = work.result()
        except Exception as error:
            telling.run_failed(self.run.bus, self.plan.name, error)
            raise
        if waiting.task is None:
            self._end(waiting)
            return []
        return self._take_in(waiting, waiting.task, record, hops)

    def _take_in(self, ran: Waiting | None, task: Task, record: Record, hops: Sequence[Hop]) -> list[Waiting]:
        run = self.run
        outcome = decide(self.point.slots, task, hops)
        after, new = advanced(self.point, ran, task, outcome, self._numbers)
        self._count(outcome)
        self.points.append(replace(after, visits=tuple(run.visits), turns=run.turns))
        for each in after.waiting:
            self.known.setdefault(each.number, each)
            if each.task is not None:
                self.known[each.number] = each
        if run.bus.on:
            telling.went_on(run, task, hops, outcome)
        return new

    def _count(self, outcome: Outcome) -> None:
        for ready in outcome.ready:
            self.run.visits[ready.node.index] += 1
            ready.visit = self.run.visits[ready.node.index]

    def _end(self, waiting: Waiting) -> None:
        assert waiting.hop is not None
        assert waiting.source is not None
        point = self.point
        left = tuple(each for each in point.waiting if each.number != waiting.number)
        ended = (*point.ended, (waiting.source, waiting.hop))
        self.points.append(replace(point, waiting=left, ended=ended, turns=self.run.turns, ran=waiting.number))

    # --- holding ---------------------------------------------------------------------------------

    def held(self) -> list[Waiting]:
        """What waits because of a breakpoint."""
        return [each for each in self.point.waiting if self._holds(each)]

    def _holds(self, waiting: Waiting) -> bool:
        if waiting.task is None or waiting.node.name not in self.breakpoints:
            return False
        condition = self.breakpoints[waiting.node.name]
        if condition is not None:
            record = self.run.joined(waiting.task)
            schema = self.plan.schema
            if not condition(schema.hand_out(records.values_of(schema, record), {})):
                return False
        if waiting.number not in self._told:
            self._told.add(waiting.number)
            self.run.bus.emit(BreakpointHit, (), node=waiting.node.name, breakpoint_id=waiting.node.name)
        return True

    # --- going back and editing ---------------------------------------------------------------------

    def back(self, number: int | None) -> None:
        """Take the last step back, or everything since this task was run.

        Raises:
            SessionError: There is no such step.
        """
        if len(self.points) <= 2:
            raise SessionError("There is no step to take back", fix="run one first: await graph.step_over()")
        left = len(self.points) - 1
        if number is not None:
            steps = [at for at, point in enumerate(self.points) if point.ran == number]
            if not steps:
                raise SessionError("That task hasn't been run, so there is nothing to take back of it")
            left = steps[-1]
        del self.points[left:]
        self._restore()

    def _restore(self) -> None:
        run, point = self.run, self.point
        run.visits = list(point.visits)
        run.turns = point.turns
        run.skipped = []
        self._forks += 1
        self._told = {each for each in self._told if point.find(each) is None}
        run.bus.wake()
        number = point.waiting[0].number if point.waiting else 0
        run.bus.emit(ForkMade, (), fork=str(self._forks), from_task_id=run.bus.task_id(number, ()))

    def edit(self, source: int, target: Waiting, key: str, value: Any) -> None:
        """Change what goes along an edge; see `session.edited`."""
        self.points.append(edited(self.plan.schema, self.point, source, target, key, value))
        for each in self.point.waiting:
            self.known[each.number] = each
        self.run.bus.emit(StateEdited, (), node=target.node.name, keys=(key,))

    # --- results ---------------------------------------------------------------------------------

    def result(self) -> Any:
        """The final state if nothing waits any more, else None; tells listeners which of the two."""
        run, point = self.run, self.point
        run.ended, run.slots = list(point.ended), dict(point.slots)
        if any(each.can_run for each in point.waiting):
            names = tuple(each.node.name for each in point.waiting)
            run.bus.emit(RunPaused, (), reason="breakpoint" if self.held() else "step", waiting=names)
            return None
        reached = run.result()
        schema = self.plan.schema
        state = None if reached is None else schema.view(records.values_of(schema, reached))
        telling.run_finished(run, state)
        return take(state)
