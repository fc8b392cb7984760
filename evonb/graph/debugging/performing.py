"""Getting the answer of one task: from its node, a pin, the record of an effect, or a delta given by hand."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evonb.graph import record as records
from evonb.graph import telling
from evonb.graph.contexts import put_back
from evonb.graph.debugging.attempts import Attempt, is_marked
from evonb.graph.debugging.effects import EffectRepeats, repeats, tools_of, verdict, verdict_inside
from evonb.graph.debugging.inner import Origin, ident
from evonb.graph.debugging.inner_run import InnerRun
from evonb.graph.debugging.line import Inner, Moment
from evonb.graph.debugging.points import Waiting
from evonb.graph.debugging.rows import usage_from
from evonb.graph.debugging.steps import Usage
from evonb.graph.debugging.watching import Told, Watch
from evonb.graph.decide import Hop, Task
from evonb.graph.hops import hops_of
from evonb.graph.record import Record
from evonb.graph.run import Run
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
        asked_inside: By id, the names of those inside of sub-graphs.
        rerun: Whether effects may act again, for the time of one command.
        allowed: Numbers of tasks that may; of one inside of a sub-graph, what names it.
    """

    def __init__(self, session: Session) -> None:
        self.asked: list[Waiting] = []
        self.rerun = False
        self.asked_inside: dict[str, str] = {}
        self.allowed: set[int | str] = set()
        self._attempted: dict[str, Attempt] = {}
        self._session = session
        self._recorded: dict[int, Moment] = {}
        self._known_inside: dict[str, Inner] = {}
        self._told: dict[int, Told] = {}

    def asks(self, waiting: Waiting) -> bool:
        """Whether a task has to wait for a word of the user, since it would act again; decides about replaying too."""
        self._recorded.pop(waiting.number, None)
        if self.rerun or waiting.number in self.allowed or waiting.node.name in self._session.pins:
            return False
        if waiting.node.subgraph is not None and self._goes_inside(waiting):
            return False
        found = verdict(self._session, waiting)
        if found.what == "replay" and found.by is not None:
            self._recorded[waiting.number] = found.by
        if found.what == "ask":
            self.asked.append(waiting)
            self._note_attempt(self._session.uuid(waiting.number), found.attempt)
        return found.what == "ask"

    def _goes_inside(self, waiting: Waiting) -> bool:
        """Whether a sub-graph goes on inside: what acted there is judged task by task."""
        stepping = self._session.inside.stepping
        return (waiting.node.name,) in stepping or self._session.nested.last((waiting.number,)) is not None

    def asks_inside(self, run: InnerRun, task: Task) -> bool:
        """As `asks`, for a task of a sub-graph."""
        name, key = self._session.inside.name_of(run, task), ident(run.origin, task.number)
        self._known_inside.pop(key, None)
        if self.rerun or key in self.allowed or name in self._session.pins:
            return False
        found = verdict_inside(self._session, run.origin, run.path, run.plan, task)
        if found.what == "replay" and found.by_inner is not None:
            self._known_inside[key] = found.by_inner
        if found.what == "ask":
            self.asked_inside[run.task_id(task)] = name
            self._note_attempt(run.task_id(task), found.attempt)
        return found.what == "ask"

    def _note_attempt(self, uuid: str, attempt: Attempt | None) -> None:
        """Why a task asks: it was begun before, and nobody knows what it did."""
        if attempt is not None:
            self._attempted[uuid] = attempt

    def known_inside(self, run: InnerRun, task: Task) -> Inner | None:
        """The recorded step that answers for a task of a sub-graph, as `asks_inside` has found."""
        return self._known_inside.pop(ident(run.origin, task.number), None)

    @property
    def has_asked(self) -> bool:
        """Whether something waits for a word."""
        return bool(self.asked or self.asked_inside)

    def forget_asked(self) -> None:
        """A command begins."""
        self.asked.clear()
        self.asked_inside.clear()
        self._attempted.clear()

    def asking(self) -> EffectRepeats:
        """The question about those that wait for a word."""
        return repeats(self._session, self.asked, self.asked_inside, self._attempted)

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
        if waiting.node.subgraph is not None:
            self._with_recorded(told, waiting.number)
        token = watch.set(Watch(session.inside, waiting, told, rerun=rerun))
        clock = Stopwatch()
        clock_token = stopwatch.set(clock)
        attempt = self.begin((), (), task) if is_marked(waiting.node) else None
        try:
            record = await session.run.perform(task)
        except BaseException:
            if attempt is not None:
                session.attempts.left(attempt)
            raise
        finally:
            put_back(watch, token)
            put_back(stopwatch, clock_token)
            session.inside.after_node(waiting)
        self.allowed.discard(waiting.number)
        duration_s = time.perf_counter() - began - clock.held_s
        hops = await hops_of(session.run, task, record)
        told = self.told(waiting)
        return Done(record, hops, "done", at_s, duration_s, tuple(told.calls), told.usage)

    def begin(self, origin: Origin, path: tuple[str, ...], task: Task) -> Attempt:
        """An effect is about to act; a word that let it act again is used up."""
        self.allowed -= {task.number} if not origin else {ident(origin, task.number)}
        return self._session.attempts.begin(origin, path, task)

    def _with_recorded(self, told: Told, number: int) -> None:
        """Begin with what was told in the recorded steps inside; what wasn't recorded there stays."""
        steps = self._session.nested.finished(number)
        calls = [call for each in steps for call in tools_of(each)]
        told.calls[:] = [*calls, *(call for call in told.calls if not call.get("inner"))]
        around = {(*each.origin, each.notes["ran"]) for each in steps}  # they count what was inside of them
        usages = [usage_from(each.row) for each in steps if each.origin not in around]
        told.usages[:] = [usage for usage in usages if usage is not None]

    def told(self, waiting: Waiting) -> Told:
        """What the tools and models of a task told since they were asked for last."""
        return self._told.pop(waiting.number, None) or Told()

    async def by_hand(
        self, task: Task, delta: Mapping[str, Any], status: str, at_s: float, run: Run | None = None
    ) -> Done:
        """A task's outcome as if its node had answered with this delta; routers and filters are asked as ever.

        Args:
            task: The task.
            delta: The answer.
            status, at_s: Of the outcome.
            run: The sub-graph's run that it belongs to, if it does.

        Raises:
            StateError: The delta doesn't fit the state.
        """
        run = run or self._session.run
        schema = run.plan.schema
        before = self._session.nested.joined(run.plan, run.path, task)
        values = records.values_of(schema, before)
        cleaned, updates = schema.absorb(values, dict(delta), task.node.name)
        if run.bus.on:
            telling.started(run, task, values)
            telling.finished(run, task, cleaned, time.perf_counter())
        record = records.after(before, cleaned, updates, keep=True)
        return Done(record, await hops_of(run, task, record), status, at_s)
