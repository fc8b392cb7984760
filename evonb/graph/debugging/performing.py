"""Getting the answer of one task: from its node, a pin, the record of an effect, or a delta given by hand."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evonb.graph import record as records
from evonb.graph import telling
from evonb.graph.debugging.effects import EffectRepeats, repeats, verdict
from evonb.graph.debugging.inside import Told, Watch
from evonb.graph.debugging.line import Moment, Usage
from evonb.graph.debugging.points import Waiting
from evonb.graph.decide import Hop, Task
from evonb.graph.hops import hops_of
from evonb.graph.record import Record
from evonb.graph.stopwatch import Stopwatch, stopwatch
from evonb.graph.toolwatch import watch

if TYPE_CHECKING:
    from evonb.graph.debugging.session import Session

__all__ = ["Done", "Performer"]


@dataclass(frozen=True, slots=True)
class Done:
    """How a task came out."""

    record: Record
    hops: list[Hop]
    status: str = "done"
    at_s: float = 0.0
    duration_s: float = 0.0
    tools: tuple[dict[str, object], ...] = ()
    usage: Usage | None = None


class Performer:
    """Performs the tasks of a session.

    Attributes:
        asked: Effects that weren't started, because they would act again.
        rerun: Whether effects may act again, for the time of one command.
        allowed: Numbers of tasks that may.
    """

    def __init__(self, session: Session) -> None:
        self.asked: list[Waiting] = []
        self.rerun = False
        self.allowed: set[int] = set()
        self._session = session
        self._recorded: dict[int, Moment] = {}
        self._told: dict[int, Told] = {}

    def asks(self, waiting: Waiting) -> bool:
        """Whether a task has to wait for a word of the user, since it would act again; decides about replaying too."""
        self._recorded.pop(waiting.number, None)
        if self.rerun or waiting.number in self.allowed or waiting.node.name in self._session.pins:
            return False
        found = verdict(self._session, waiting)
        if found.what == "replay" and found.by is not None:
            self._recorded[waiting.number] = found.by
        if found.what == "ask":
            self.asked.append(waiting)
        return found.what == "ask"

    def asking(self) -> EffectRepeats:
        """The question about those that wait for a word."""
        return repeats(self._session, self.asked)

    async def work(self, waiting: Waiting) -> Done:
        """Perform a waiting task."""
        session, task = self._session, waiting.task
        at_s, began = session.now(), time.perf_counter()
        if task is None:  # the end: nothing runs
            assert waiting.hop is not None
            return Done(waiting.hop.record, [], at_s=at_s)
        given = session.pins.get(waiting.node.name)
        recorded = self._recorded.pop(waiting.number, None)
        if given is not None:
            return await self.by_hand(task, given, "pinned", at_s)
        if recorded is not None:
            done = await self.by_hand(task, recorded.record.delta or {}, "replayed", at_s)
            return replace(done, tools=tuple({**call, "replayed": True} for call in recorded.tools))
        rerun = self.rerun or waiting.number in self.allowed
        told = self._told.setdefault(waiting.number, Told())
        token = watch.set(Watch(session.inside, waiting, told, rerun=rerun))
        clock = Stopwatch()
        clock_token = stopwatch.set(clock)
        try:
            record = await session.run.perform(task)
        finally:
            watch.reset(token)
            stopwatch.reset(clock_token)
            session.inside.after_node(waiting)
        self.allowed.discard(waiting.number)
        duration_s = time.perf_counter() - began - clock.held_s
        hops = await hops_of(session.run, task, record)
        told = self.told(waiting)
        return Done(record, hops, "done", at_s, duration_s, tuple(told.calls), told.usage)

    def told(self, waiting: Waiting) -> Told:
        """What the tools and models of a task told since they were asked for last."""
        return self._told.pop(waiting.number, None) or Told()

    async def by_hand(self, task: Task, delta: Mapping[str, Any], status: str, at_s: float) -> Done:
        """A task's outcome as if its node had answered with this delta; routers and filters are asked as ever.

        Raises:
            StateError: The delta doesn't fit the state.
        """
        run, schema = self._session.run, self._session.plan.schema
        before = self._session.joined(task)
        values = records.values_of(schema, before)
        cleaned, updates = schema.absorb(values, dict(delta), task.node.name)
        if run.bus.on:
            telling.started(run, task, values)
            telling.finished(run, task, cleaned, time.perf_counter())
        record = records.after(before, cleaned, updates, keep=True)
        return Done(record, await hops_of(run, task, record), status, at_s)
