"""Driving a session: starts tasks side by side, takes in what finishes, stops where a command wants it to."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from evonb.graph import telling
from evonb.graph.debugging.asked import only_asks
from evonb.graph.debugging.inside import Parked
from evonb.graph.debugging.performing import Done
from evonb.graph.debugging.points import Waiting, start_waits
from evonb.graph.decide import Task
from evonb.graph.events import BreakpointHit
from evonb.graph.failure import describe
from evonb.graph.run import STOPPED
from evonb.graph.topology import node_id

if TYPE_CHECKING:
    from evonb.graph.debugging.session import Session

__all__ = ["Driver"]

_T = TypeVar("_T")

_standing: set[asyncio.Task[Done]] = set()
"""Tasks that are parked inside between commands. A loop knows its tasks weakly: one whose debugger the user has let go
of would be torn apart by the garbage collector, in the middle of its node."""


class Driver:
    """Runs tasks of one session.

    Attributes:
        flying: Running tasks; between commands those that are parked inside.
    """

    def __init__(self, session: Session) -> None:
        self.flying: dict[asyncio.Task[Done], Waiting] = {}
        self._asking: asyncio.Task[Any] | None = None
        self._on = False
        self._single: set[int] = set()
        self._session = session

    async def drive(self, first: Iterable[Waiting], *, on: bool, release: Iterable[Parked] = ()) -> list[Waiting]:
        """Run these tasks and, if `on`, what becomes ready by them and isn't held, side by side.

        Returns when nothing goes on by itself: everything has finished, is held or is parked inside.

        Returns:
            What came to wait and wasn't run.

        Raises:
            NodeError: A node failed. It and the tasks beside it wait as before; finished ones stay finished.
            EffectRepeats: An effect would act again; everything else that could has run.
        """
        self._session.settle()
        self._session.wake()
        self._session.error = None
        self._session.performer.forget_asked()
        self._on, self._single = on, set()
        left: list[Waiting] = []
        try:
            if not self._session.pausing and not self._session.stopping:  # asked for before it had begun
                self._start(first)
            self._session.inside.release(release)
            while self.flying and not self._session.inside.is_still(self.flying.values()):
                for work in await self._next():
                    left += self._finished(work)
                if only_asks(self._session):
                    self._session.changed()
        except asyncio.CancelledError:
            ends = self._session.busy in ("debug", "start")
            try:
                await self._cancel(tell=not ends)
            finally:
                self._was_cancelled(ends=ends)
            raise
        except BaseException:
            await self._cancel()
            raise
        if self.flying:
            _stand(self.flying)
        if self._session.stopping:
            self._stop()
        if self._session.performer.has_asked and not self._session.stopping:
            raise self._session.performer.asking()
        return left

    async def ask(self, work: Coroutine[Any, Any, _T]) -> _T | None:
        """Await where a task goes on that isn't run; None if the session was stopped meanwhile."""
        self._asking = asyncio.create_task(work)
        try:
            return cast(_T, await self._asking)
        except asyncio.CancelledError:
            me = asyncio.current_task()
            if not self._session.stopping or (me is not None and me.cancelling()):
                raise
            return None
        finally:
            self._asking = None

    def beside(self, ready: Iterable[Waiting], *, on: bool, release: Iterable[Parked]) -> None:
        """Have the drive that runs take these in too; of a step, what follows from it is left waiting."""
        ready = tuple(ready)
        if on:
            self._on, self._session.pausing = True, False
        else:
            self._single |= {each.number for each in ready}
        self._start(ready)
        self._session.inside.release(release)
        self._session.inside.wake()

    def _finished(self, work: asyncio.Task[Done]) -> list[Waiting]:
        waiting = self.flying.pop(work)
        self._session.run.active = len(self.flying)
        if work.cancelled() and self._session.stopping:
            return []
        made = self._finish(waiting, work)
        on = self._on and waiting.number not in self._single
        go_on = on and not self._session.pausing and not self._session.stopping
        ready = [each for each in made if go_on and self._session.holding.holder(each) is None]
        self._start(ready)
        if self._session.keeper is not None:
            self._session.keeper.flush(last=not self.flying)
        return [each for each in made if each not in ready]

    async def _next(self) -> list[asyncio.Task[Done]]:
        """Wait until a task has finished, or something is parked inside; the tasks in the order of their numbers."""
        wake: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._session.inside.wake = lambda: None if wake.done() else wake.set_result(None)
        both: set[asyncio.Future[Any]] = {*self.flying, wake}
        done, _ = await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        wake.cancel()
        finished = [work for work in self.flying if work in done]
        return sorted(finished, key=lambda each: self.flying[each].number)

    def _start(self, ready: Iterable[Waiting]) -> None:
        for waiting in ready:
            if any(each.number == waiting.number for each in self.flying.values()):
                continue
            turns = self._session.line.present.point.turns + sum(each.task is not None for each in self.flying.values())
            if waiting.task is not None and self._session.limit is not None and turns >= self._session.limit:
                self._drop(waiting, waiting.task)
            elif not self._session.performer.asks(waiting):
                self.flying[asyncio.create_task(self._session.performer.work(waiting))] = waiting
                self._session.run.active = len(self.flying)

    def _drop(self, waiting: Waiting, task: Task) -> None:
        self._session.run.skipped.append(task)
        telling.skipped(self._session.run, task, f"the limit of {self._session.limit} node calls was met")
        point = replace(
            self._session.line.present.point, waiting=self._session.line.present.point.without(waiting.number)
        )
        self._session.append(point, "limit", ran=waiting, record=self._session.line.present.record)

    def _finish(self, waiting: Waiting, work: asyncio.Task[Done]) -> list[Waiting]:
        try:
            done = work.result()
        except Exception as error:
            return self._failed(waiting, error)
        if waiting.task is None:
            self._session.end(waiting)
            return []
        return self._session.take_in(waiting, waiting.task, done)

    def _failed(self, waiting: Waiting, error: Exception) -> list[Waiting]:
        self._session.error = error
        info = describe(error, where=f"graph {self._session.plan.name!r}")
        present = self._session.line.present
        told = self._session.performer.told(waiting)
        self._session.append(
            present.point, "failed", ran=waiting, record=present.record, error=info,
            tools=tuple(told.calls), usage=told.usage,
        )  # fmt: skip
        caught = self._session.holding.catches(waiting.node.name, _place_of(error))
        if caught is None:
            telling.run_failed(self._session.run.bus, self._session.plan.name, error)
            raise error
        self._session.run.bus.emit(BreakpointHit, (), node=waiting.node.name, breakpoint_id=caught)
        return []

    # --- ending it --------------------------------------------------------------------------------------

    def stop(self) -> None:
        """Ask for the end; running tasks are cancelled, and those that wait won't run: all are told as skipped."""
        self._session.stopping = True
        for work in self.flying:
            work.cancel()
        if self._asking is not None:
            self._asking.cancel()
        self._session.inside.wake()
        self._session.changed()

    def _was_cancelled(self, *, ends: bool) -> None:
        """Whoever awaited the command has given up: what it began has ended, what it went on with has paused."""
        if ends:
            self._stop()
            self._session.result()
        else:
            self._session.tell_paused("pause")

    def _unfinished(self, those: Iterable[Waiting]) -> None:
        """Tell that these, running or queued, won't finish."""
        for waiting in those:
            if waiting.task is not None:
                telling.skipped(self._session.run, waiting.task, STOPPED)

    def _stop(self) -> None:
        present = self._session.line.present
        if start_waits(present.point):
            return  # nothing has run
        self._unfinished(each for each in present.point.waiting if each.can_run)
        waiting = next(iter(present.point.waiting), None)
        ran = waiting or Waiting(0, self._session.plan.end)
        self._session.append(replace(present.point, waiting=()), "stopped", ran=ran, record=present.record)

    def stop_now(self) -> None:
        """End a session that stands still."""
        self.abandon()
        self._session.settle()
        self._session.wake()
        self._stop()

    async def _cancel(self, *, tell: bool = True) -> None:
        """Cancel what runs and wait for its end, so that no task outlives the command."""
        for work in self.flying:
            work.cancel()
        try:
            if self.flying:
                await asyncio.wait(self.flying)
        finally:
            for work, waiting in self.flying.items():
                if work.done() and not work.cancelled():
                    work.exception()  # asyncio would complain about an error that nobody fetched
                elif tell:
                    self._unfinished([waiting])
            self.flying.clear()
            self._session.inside.clear()
            self._session.run.active = 0

    @property
    def alive(self) -> set[int]:
        """Numbers of the tasks that run or are parked inside; not those of a loop that is gone."""
        return {waiting.number for work, waiting in self.flying.items() if not work.get_loop().is_closed()}

    def drop(self, owner: int) -> None:
        """Give up one running task, which is parked inside; what it did so far is in the record."""
        for work, waiting in tuple(self.flying.items()):
            if waiting.number == owner:
                del self.flying[work]
                if not work.get_loop().is_closed():
                    work.cancel()
        self._session.inside.drop(owner)
        self._session.run.active = len(self.flying)

    def abandon(self) -> None:
        """Give up what is parked inside of running nodes: the session goes elsewhere."""
        for work in self.flying:
            if not work.get_loop().is_closed():
                work.cancel()
        self.flying.clear()
        self._session.inside.clear()


def _stand(tasks: Iterable[asyncio.Task[Done]]) -> None:
    for task in tasks:
        if task not in _standing:
            _standing.add(task)
            task.add_done_callback(_standing.discard)


def _place_of(error: Exception) -> str:
    """The id in the picture of the node that failed, inside of a sub-graph perhaps."""
    name = getattr(error, "node_name", "")
    return node_id(getattr(error, "path", ()), name) if name else ""
