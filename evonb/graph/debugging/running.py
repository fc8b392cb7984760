"""The debugger's commands that run nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from evonb.graph.debugging.asked import go_beside, idle_tasks, only_asks
from evonb.graph.debugging.beginning import begin, decide_start
from evonb.graph.debugging.face import Face
from evonb.graph.debugging.inside import Parked
from evonb.graph.debugging.points import SessionError, Waiting
from evonb.graph.debugging.session import Session
from evonb.graph.engine import NOT_GIVEN
from evonb.graph.isolate import take
from evonb.graph.runtime_task import RunTimeTask

__all__ = ["Running"]


class Running(Face):
    """Begin, step, run on, pause, stop."""

    async def debug(self, inputs: Mapping[str, Any] = NOT_GIVEN) -> Any:
        """Begin a session and run it until nothing but held tasks is left. Breakpoints stay from session to session.

        Cancelling it ends the session, as `stop` does; cancelling any other command leaves the session paused, with
        the tasks that ran waiting as before.

        Args:
            inputs: State keys and their first values.

        Returns:
            The final state if the end was reached, None if the session paused.

        Raises:
            NodeError: A node failed; the session stays, with the failed task waiting: edit, replace, step it again.
            StateError: The inputs are no dict of state keys, or one doesn't fit.
            SessionError: Another command is running. A `RuntimeError`.
        """
        with self._command("debug") as session:
            return await self._on(session) if await begin(session, self._given(inputs, "debug")) else None

    async def resume(self, running_queue: list[RunTimeTask] | None = None, *, rerun_effects: bool = False) -> Any:
        """Run on, from the moment that is shown, until nothing but held tasks is left.

        From an earlier moment this makes a branch; what was recorded after it stays on its own.

        Args:
            running_queue: Tasks to run first, held or not; None takes all that aren't held.
            rerun_effects: Whether effects may act again that acted before going back, or that failed or were stopped
                and so may have acted.

        Returns:
            As `debug`.

        Raises:
            NodeError: As `debug`.
            EffectRepeats: An effect would act again, or may; nothing of it has run this time.
            SessionError: Another command is running, no session has begun, or a task isn't waiting.
        """
        if self._session.begun and not self._session.busy and running_queue is None and self._is_over():
            return self._ended()
        if only_asks(self._session) and running_queue is None:
            return await self._beside("resume", self._free(), on=True, rerun_effects=rerun_effects)
        with self._command("resume") as session:
            session.performer.rerun = rerun_effects
            try:
                if not await decide_start(session) and running_queue is not None:
                    await session.drive(self._runnable_all(running_queue), on=True)
                return await self._on(session)
            finally:
                session.performer.rerun = False

    async def step_over(self, node_uuid: str | None = None, *, rerun_effects: bool = False) -> Any:
        """Run one waiting task, or every one of them once, held or not, then pause.

        While nothing but a person's answer is waited for, other tasks can be stepped beside it.

        Args:
            node_uuid: The task to run; of a join, those that it still misses are run first. None runs all.
            rerun_effects: As for `resume`.

        Returns:
            The final state once every branch has finished, else None.

        Raises:
            NodeError: A node failed; the session is as before the step.
            EffectRepeats: As `resume`.
            SessionError: Another command is running, or the task isn't waiting.
        """
        if only_asks(self._session):
            return await self._step_beside(node_uuid, rerun_effects=rerun_effects)
        with self._command("step_over") as session:
            session.performer.rerun = rerun_effects
            try:
                await self._step_over(session, node_uuid)
            finally:
                session.performer.rerun = False
            return session.result()

    async def _step_over(self, session: Session, uuid: str | None) -> None:
        inside = session.inside
        if await decide_start(session) and uuid == self._uuid(0):
            return
        if uuid is None:
            await self._stand_inside(session)
            wave = [each for each in self._point.waiting if each.can_run]
            inside.step([each for each in wave if not session.nested.is_begun(each)], inside.parked)
            await session.drive(wave, on=False, release=inside.parked)
            return
        is_inside, parked = await self._parked(session, uuid)
        if parked is not None:
            inside.step((), (parked,))
            await session.drive((), on=False, release=(parked,))
        if is_inside:
            return
        waiting = self._must_wait(uuid)
        session.settle()
        within = [each for each in inside.parked if each.owner == waiting.number]
        inside.run_through((waiting.node.name,))
        await self._step(session, waiting, within)

    async def step_into(self, node_uuid: str | None = None) -> Any:
        """Begin a waiting sub-graph and pause before its first task; any other task is stepped over.

        What waits inside has ids of its own: see `waiting`. Steps inside are recorded as they finish, so one can go
        back to each of them; `history` shows them with `inside=True`.

        Args:
            node_uuid: The task; None takes the first sub-graph that waits.

        Returns:
            As `step_over`.

        Raises:
            NodeError: A node failed.
            SessionError: Another command is running, or no sub-graph waits.
        """
        with self._command("step_into") as session:
            inside = session.inside
            await decide_start(session)
            if node_uuid:
                is_inside, parked = await self._parked(session, node_uuid)
            else:
                await self._stand_inside(session)
                parked = next((each for each in inside.parked if _is_graph(each.task)), None)
                is_inside = parked is not None
            if parked is not None:
                name = parked.task.node.name if parked.task is not None else ""
                inside.stepping |= {parked.path, (*parked.path, name)}
                await session.drive((), on=False, release=(parked,))
            if not is_inside:
                waiting = self._must_wait(node_uuid) if node_uuid else self._first_graph()
                session.settle()
                inside.stepping.add((waiting.node.name,))
                await self._step(session, waiting, ())
            return session.result()

    def _first_graph(self) -> Waiting:
        return next(each for each in self._point.waiting if each.can_run and each.node.subgraph is not None)

    async def step_out(self) -> Any:
        """Run what waits inside until its node has finished, then pause; breakpoints still hold.

        Returns:
            As `step_over`.

        Raises:
            NodeError: A node failed.
            SessionError: Another command is running, or nothing waits inside.
        """
        with self._command("step_out") as session:
            await self._stand_inside(session)
            if not session.inside.parked:
                return session.result()
            deepest = max(len(each.path) for each in session.inside.parked)
            leaving = [each for each in session.inside.parked if len(each.path) == deepest]
            for each in leaving:
                session.inside.run_through(each.path)
            await session.drive((), on=False, release=leaving)
            return session.result()

    async def run_to(self, node_name: str) -> Any:
        """Run everything on, held or not, and hold the next tasks of a node; other breakpoints hold what comes to them.

        Args:
            node_name: The node.

        Returns:
            The final state if the end was reached before, else None.

        Raises:
            NodeError: A node failed.
            GraphError: There is no such node.
            SessionError: Another command is running, or nothing waits.
        """
        self._node(node_name)
        with self._command("run_to") as session:
            await decide_start(session)
            ready = [each for each in self._point.waiting if each.can_run]
            session.holding.until = node_name
            try:
                session.inside.stepping.clear()
                await session.drive(ready, on=True, release=session.inside.parked)
                return session.result()
            finally:
                session.holding.until = None

    def pause(self) -> None:
        """Have the running command return before the next task; a running node is waited for. Call it on the loop.

        Raises:
            SessionError: Nothing runs.
        """
        self._may("pause")
        self._session.pause()

    def stop(self) -> None:
        """End the session: what runs is cancelled. Its record stays, and going on from an earlier step works.

        Raises:
            SessionError: Nothing runs or waits.
        """
        self._may("stop")
        if self._session.busy:
            self._session.driver.stop()
        else:
            with self._session.command("stop"):
                self._session.driver.stop_now()
                self._session.result()

    def _may(self, command: str) -> None:
        from evonb.graph.debugging.views import COMMANDS

        label, needs = COMMANDS[command]
        if reason := needs(self._session):
            raise SessionError(f"{label}: {reason}", where=f"graph {self.name!r}", fix="look at allowed()")

    async def run_one_step(self, running_queue: list[RunTimeTask]) -> tuple[Any, list[RunTimeTask]]:
        """Run these tasks once each.

        Returns:
            The final state (None before the end), and the tasks that became ready; the end counts as a task.
        """
        with self._command("step_over") as session:
            if await decide_start(session):
                new = list(self._point.waiting)
                return session.result(), [self._trace_tree.as_task(each) for each in new if each.can_run]
            new = await session.drive(self._runnable_all(running_queue), on=False)
            return session.result(), [self._trace_tree.as_task(each) for each in new if each.can_run]

    # --- how -------------------------------------------------------------------------------------------

    async def _on(self, session: Session) -> Any:
        session.settle()
        session.inside.stepping.clear()
        await session.drive(self._free(), on=True, release=[each for each in session.inside.parked if not each.held])
        return session.result()

    def _free(self) -> list[Waiting]:
        """What could run and isn't held, or is a sub-graph that was begun."""
        holder, is_begun = self._session.holding.holder, self._session.nested.is_begun
        return [each for each in self._point.waiting if each.can_run and (holder(each) is None or is_begun(each))]

    async def _step_beside(self, uuid: str | None, *, rerun_effects: bool) -> None:
        inside = self._session.inside
        self._may("step_over")
        parked = list(inside.parked) if uuid is None else [each for each in (inside.find(uuid),) if each is not None]
        tasks = idle_tasks(self._session) if uuid is None else [] if parked else [self._must_wait(str(uuid))]
        inside.step(tasks, parked)
        for task in tasks:
            if not task.can_run:
                what = f"{task.node.name!r} still misses inputs"
                raise SessionError(what, fix="answer the question first, or step what it misses")
        await self._beside("step_over", tasks, on=False, release=parked, rerun_effects=rerun_effects)

    async def _beside(
        self, command: str, tasks: list[Waiting], *, on: bool, rerun_effects: bool, release: Iterable[Parked] = ()
    ) -> None:
        """Run these beside the nodes that wait for answers."""
        self._may(command)
        session = self._session
        session.performer.rerun = rerun_effects
        try:
            await go_beside(session, tasks, on=on, release=release)
        finally:
            session.performer.rerun = False

    async def _parked(self, session: Session, uuid: str) -> tuple[bool, Parked | None]:
        """Whether something waits inside under an id, and it; a sub-graph that isn't running is begun again for it.

        It is None if that was all it took: a sub-graph whose tasks had all run has finished by being begun again.
        """
        session.leave_lost_loops()
        if session.line.cursor is None and (parked := session.inside.find(uuid)) is not None:
            return True, parked
        waits = session.nested.find(uuid)
        if waits is None or not waits.waiting.can_run:
            return False, None
        await self._stand_inside(session, waits.origin[0])
        return True, session.inside.find(uuid)

    async def _stand_inside(self, session: Session, owner: int = 0) -> None:
        """Begin again the sub-graphs that stand in the middle; they go where the record left them, and no further."""
        session.settle()
        flying = {each.number for each in session.flying.values()}
        begun = [
            each
            for each in self._point.waiting
            if each.can_run and each.number not in flying and (each.number == owner or session.nested.is_begun(each))
        ]
        if not begun:
            return
        session.inside.entering = True
        try:
            await session.drive(begun, on=False)
        finally:
            session.inside.entering = False

    async def _step(self, session: Session, waiting: Waiting, release: Any) -> None:
        inside = session.inside
        while not waiting.can_run:
            missing = self._missing(waiting)
            numbers = {each.number for each in missing}
            for each in missing:
                inside.run_through((each.node.name,))
            within = [each for each in inside.parked if each.owner in numbers]
            await session.drive(missing, on=False, release=within)
            if session.stopping or session.pausing or numbers & session.driver.alive:
                return  # a breakpoint inside of them holds, or somebody said so
            waiting = self._must_wait(self._uuid(waiting.number))
        await session.drive([waiting], on=False, release=release)

    def _missing(self, join: Waiting) -> list[Waiting]:
        """The waiting tasks that a join still needs."""
        assert join.key is not None
        assert join.node.joins is not None
        plan, slot = join.node.joins[join.key[1]], self._point.slots[join.key]
        names = [name for bit, name in enumerate(plan.sources) if not slot.mask >> bit & 1]
        found = [each for each in self._point.waiting if each.can_run and each.node.name in names]
        if not found:
            raise SessionError(
                f"Node {join.node.name!r} waits for {', '.join(map(repr, names))}, and none of them is waiting to run",
                fix="step over the nodes before them first",
            )
        return found

    def _is_over(self) -> bool:
        line = self._session.line
        return not self._session.flying and not any(each.can_run for each in line.here.point.waiting)

    def _ended(self) -> Any:
        """A finished session gives its result again."""
        session = self._session
        return take(self._state_shown(session))

    def _state_shown(self, session: Session) -> Any:
        session.settle()
        return session.final_state()


def _is_graph(task: Any) -> bool:
    return task is not None and task.node.subgraph is not None
