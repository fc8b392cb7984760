"""One debugging session: runs waiting tasks, holds those with breakpoints, and keeps every moment passed.

It works on the scheduler of ordinary runs: nodes are called by `Run.perform`, `decide` says what becomes ready. What is
its own is that it may stop between tasks. Commands that read the past or change it are in modules of their own.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evonb.graph import record as records
from evonb.graph import telling
from evonb.graph.bus import Bus, Hub
from evonb.graph.debugging.attempts import Attempts
from evonb.graph.debugging.breakpoints import Breakpoints
from evonb.graph.debugging.driving import Driver
from evonb.graph.debugging.holding import Holding
from evonb.graph.debugging.inner_run import OuterRun
from evonb.graph.debugging.inside import Inside, Parked
from evonb.graph.debugging.line import Inner, Line, Moment
from evonb.graph.debugging.nested import Nested
from evonb.graph.debugging.performing import Done, Performer
from evonb.graph.debugging.points import Numbers, Point, SessionError, Waiting, advanced
from evonb.graph.debugging.ways import back_from, visits_at
from evonb.graph.decide import Hop, Outcome, Task, decide, in_edge_order
from evonb.graph.events import ForkMade, RunPaused
from evonb.graph.isolate import take
from evonb.graph.late_log import read_all
from evonb.graph.message_log import MessageLog
from evonb.graph.plan import Plan
from evonb.graph.record import Record

if TYPE_CHECKING:
    from evonb.graph.debugging.keeping import Keeper

__all__ = ["Session"]

Status = str


class Session:
    """The state of one debugger.

    Attributes:
        line: Every moment passed, as a tree.
        known: All that ever waited, by number.
        breakpoints: They stay from run to run.
        attempts: The effects that were begun and haven't given an answer.
        pins: By node, the delta that it gives instead of running.
        busy: The command that runs nodes, "" if none does.
        pausing, stopping: Whether somebody asked for it.
        error: What the failed task raised, while the session stands at it.
        keeper: Writes moments to the store; None for a session in memory.
        opened_with: The inputs of a stored run that nobody has been told of yet.
        unread: Lists of messages that are still in the store; they are read in the background after a command.
    """

    def __init__(self, plan: Plan, hub: Hub, limit: int | None) -> None:
        self.plan = plan
        self.hub = hub
        self.limit = limit
        self.breakpoints = Breakpoints()
        self.pins: dict[str, dict[str, Any]] = {}
        self.watchers: list[Callable[[], None]] = []
        self.keeper: Keeper | None = None
        self.make_keeper: Callable[[Session, Mapping[str, Any]], Keeper | None] = lambda _session, _inputs: None
        self.busy = ""
        self.pausing = self.stopping = False
        self._run: OuterRun | None = None
        self.clear()

    def clear(self) -> None:
        """Drop the run, not the breakpoints."""
        if self._run is not None:
            self.driver.abandon()
            self._run.bus.shut()
        self._run = None
        self._line: Line | None = None
        self.known: dict[int, Waiting] = {}
        self.numbers = Numbers(self.plan.nodes)
        self.holding = Holding(self, self.breakpoints)
        self.nested = Nested(self)
        self.inside = Inside(self)
        self.performer = Performer(self)
        self.attempts = Attempts(self)
        self.driver: Driver = Driver(self)
        self.began = 0.0
        self.error: BaseException | None = None
        self.load: Callable[[], None] | None = None
        self.load_whole: Callable[[], None] | None = None
        self.stored_position: Mapping[str, Any] | None = None
        self.opened_with: Mapping[str, Any] | None = None
        self.unread: list[MessageLog] = []
        self.keeper = None

    # --- what it stands at ---------------------------------------------------------------------------

    @property
    def begun(self) -> bool:
        """Whether there is a run."""
        return self._run is not None

    @property
    def run(self) -> OuterRun:
        """The run behind the session.

        Raises:
            SessionError: No session has begun.
        """
        if self._run is None:
            raise SessionError("No session has begun", fix="await graph.debug(inputs)")
        return self._run

    @property
    def line(self) -> Line:
        """The history; of a reopened session what going on needs, which is read from the store now.

        Raises:
            SessionError: No session has begun, or the stored run can't be read.
        """
        if self.load is not None:
            load, self.load = self.load, None
            load()
        if self._line is None:
            raise SessionError("No session has begun", fix="await graph.debug(inputs)")
        return self._line

    @property
    def past(self) -> Line:
        """The whole history; a reopened session reads it from the store now."""
        line = self.line
        if self.load_whole is not None:
            load, self.load_whole = self.load_whole, None
            if self.keeper is not None:
                self.keeper.flush()
            load()
            line = self.line
        return line

    @property
    def point(self) -> Point:
        """What waits at the moment that is shown; before a session has begun, nothing."""
        return self.line.here.point if self.begun else Point()

    @property
    def status(self) -> Status:
        """One of idle, running, pausing, paused, failed, finished."""
        if self.busy:
            return "pausing" if self.pausing or self.stopping else "running"
        if not self.begun:
            return "idle"
        if self.stored_position is not None:
            return str(self.stored_position.get("status", "paused"))
        present = self.line.present
        if present.status == "failed" or self.error is not None:
            return "failed"
        return "paused" if self.flying or any(each.can_run for each in present.point.waiting) else "finished"

    def uuid(self, number: int) -> str:
        """The id of a task."""
        return self.run.bus.task_id(number, ())

    def joined(self, task: Task) -> Record:
        """The record that a task starts from."""
        return task.inputs[0] if len(task.inputs) == 1 and task.node.joins is None else self.run.joined(task)

    def record_at(self, moment: Moment) -> Record:
        """The state at a moment: after its step, or, once nothing waits there any more, the whole result."""
        ended = moment.point.ended
        if ended and not any(each.can_run for each in moment.point.waiting):
            return records.joined(self.plan.schema, [hop.record for _, hop in in_edge_order(ended)])
        return moment.record

    def changed(self) -> None:
        """Tell the watchers that something is to be looked at anew."""
        for watcher in tuple(self.watchers):
            watcher()

    # --- beginning -----------------------------------------------------------------------------------

    @contextmanager
    def command(self, name: str) -> Iterator[None]:
        """Holds off other commands for the time of one.

        Raises:
            SessionError: One is under way.
        """
        if self.busy:
            fix = "wait until it has paused, or call pause()"
            raise SessionError(f"{name} isn't allowed while the session runs", fix=fix)
        self.busy = name
        try:
            yield
        finally:
            self.busy = ""
            self.pausing = self.stopping = False
            if self.keeper is not None:
                self.keeper.pause()
            self.changed()
            if self.unread:
                # Not for speed: the file may be gone when somebody looks.
                logs, self.unread = self.unread, []
                threading.Thread(target=read_all, args=(logs,), name="evonb-reading", daemon=True).start()

    def attach(self, bus: Bus) -> None:
        """Stand on a run with this stream."""
        self._run = OuterRun(self, self.plan, bus, self.limit)
        self.began = time.perf_counter()

    def wake(self) -> None:
        """Open the stream, on this loop; that of a reopened run begins with its start."""
        self.run.bus.wake()
        if self.opened_with is not None:
            inputs, self.opened_with = self.opened_with, None
            telling.run_started(self.run.bus, self.plan.name, inputs)

    def set_line(self, line: Line) -> None:
        """Have this history."""
        self._line = line

    async def drive(self, first: Iterable[Waiting], *, on: bool, release: Iterable[Parked] = ()) -> list[Waiting]:
        """As `Driver.drive`."""
        return await self.driver.drive(first, on=on, release=release)

    @property
    def flying(self) -> dict[asyncio.Task[Done], Waiting]:
        """Running tasks; between commands those that are parked inside."""
        return self.driver.flying

    def pause(self) -> None:
        """Ask for a stop before the next task."""
        self.pausing = True
        self.changed()

    # --- moments ---------------------------------------------------------------------------------------

    def take_in(self, waiting: Waiting, task: Task, done: Done) -> list[Waiting]:
        """Make the moment after a task has finished, by itself or by hand."""
        outcome = decide(self.line.present.point.slots, task, done.hops)
        after, made = advanced(self.line.present.point, waiting, task, outcome, self.numbers)
        self.count(outcome)
        moment = self.append(
            after, done.status, ran=waiting, record=done.record, hops=tuple(done.hops), made=tuple(made),
            duration_s=done.duration_s, at_s=done.at_s, tools=done.tools, usage=done.usage,
        )  # fmt: skip
        self.tell(task, done.hops, outcome)
        self.holding.passed(moment)
        return made

    def count(self, outcome: Outcome) -> None:
        """Number the visits of what became ready."""
        for ready in outcome.ready:
            self.run.visits[ready.node.index] += 1
            ready.visit = self.run.visits[ready.node.index]

    def tell(self, task: Task, hops: Sequence[Hop], outcome: Outcome) -> None:
        """Tell listeners where a task has led."""
        if self.run.bus.on:
            telling.went_on(self.run, task, hops, outcome)

    def end(self, waiting: Waiting) -> None:
        """Make the moment after something has reached the end."""
        assert waiting.hop is not None
        assert waiting.source is not None
        point = self.line.present.point
        ended = (*point.ended, (waiting.source, waiting.hop))
        after = replace(point, waiting=point.without(waiting.number), ended=ended)
        self.append(after, "done", ran=waiting, record=waiting.hop.record, at_s=self.now())

    def append(self, point: Point, status: str, *, ran: Waiting, record: Record, **fields: Any) -> Moment:
        """Make a moment after the present one; it begins a branch if the present has been gone on from before."""
        before = self.line.present
        wave = 1 + self._wave_before(ran)
        fields.setdefault("at_s", self.now())
        moment = Moment(
            number=0, before=before, point=point, status=status, ran=ran, record=record, wave=wave, **fields
        )  # fmt: skip
        if self.line.add(moment):
            number = ran.number
            fork = self.line.name(moment.branch)
            self.run.bus.emit(ForkMade, (), fork=fork, from_task_id=self.run.bus.task_id(number, ()))
        self.learn(moment)
        self.attempts.recorded((), moment)
        if self.keeper is not None:
            self.keeper.note(moment)
        return moment

    def _wave_before(self, ran: Waiting) -> int:
        """The latest wave among the steps that a task follows from; they are near the present."""
        task = ran.task or ran.source
        parents = (
            {parent.number for parent in task.parents}
            if ran.task is not None and task
            else {task.number if task else 0}
        )
        waves = []
        for each in back_from(self.line.present):
            if each.ran is not None and each.ran.number in parents and each.status != "edited":
                waves.append(each.wave)
                parents.discard(each.ran.number)
            if not parents or each.before is None:
                break
        return max(waves, default=0)

    def learn(self, moment: Moment) -> None:
        """Know what waits by number."""
        for each in (*moment.made, *moment.point.waiting):
            if each.can_run or each.number not in self.known:
                self.known[each.number] = each

    def now(self) -> float:
        """Seconds since the session began."""
        return time.perf_counter() - self.began

    # --- going back --------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Go on from the moment that is looked at: it becomes the present."""
        self.leave_lost_loops()
        if self.line.cursor is not None:
            self.rewind(self.line.cursor, self.line.inner_cursor)

    def leave_lost_loops(self) -> None:
        """Give up what is parked in a loop that is gone."""
        if any(work.get_loop().is_closed() for work in self.flying):
            self.driver.abandon()

    def rewind(self, moment: Moment, inner: Inner | None = None) -> None:
        """Make an earlier moment the present; nothing that was recorded is lost."""
        if moment is self.line.present and inner is self.line.inner and self.line.cursor is None:
            return
        self.driver.abandon()
        self.line.rewind(moment, inner)
        run = self.run
        run.visits = visits_at(moment, len(self.plan.nodes))
        run.skipped = [
            each.ran.task for each in back_from(moment) if each.status == "limit" and each.ran and each.ran.task
        ]
        self.error = None
        self.holding.forget(each.number for each in moment.point.waiting)
        self.wake()
        if self.keeper is not None:
            self.keeper.moved()

    # --- results -------------------------------------------------------------------------------------------

    def result(self) -> Any:
        """The final state if nothing waits any more, else None; tells listeners which of the two."""
        run, point = self.run, self.line.present.point
        if self.status_after() == "paused":
            held = any(self.holding.holder(each) for each in point.waiting)
            self.tell_paused("pause" if self.pausing else "breakpoint" if held or self.inside.parked else "step")
            return None
        state = self.final_state()
        if self.line.present.status == "stopped":
            telling.run_finished(run, state, reason="stopped", message="stopped before its end")
            return None
        telling.run_finished(run, state)
        return take(state)

    def tell_paused(self, reason: str) -> None:
        """Tell listeners that nothing runs, and what waits."""
        names = tuple(each.node.name for each in self.line.present.point.waiting)
        self.run.bus.emit(RunPaused, (), reason=reason, waiting=names)

    def status_after(self) -> Status:
        """The status once the command that runs is over."""
        waits = self.flying or any(each.can_run for each in self.line.present.point.waiting)
        return "paused" if waits else "finished"

    def final_state(self) -> Any:
        """What has reached the end by now, shared with the record; None if nothing did."""
        run, point = self.run, self.line.present.point
        run.ended, run.slots = list(point.ended), dict(point.slots)
        reached = run.result()
        return None if reached is None else self.plan.schema.view(records.values_of(self.plan.schema, reached))
