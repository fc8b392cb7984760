"""The debugger's commands that change something: values, answers, code. None of them runs a node."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from evonb.graph.debugging.edits import edited_output, edited_state
from evonb.graph.debugging.face import Face
from evonb.graph.debugging.line import Change
from evonb.graph.debugging.points import SessionError, Waiting
from evonb.graph.debugging.recode import adopt_engine, replace_code
from evonb.graph.debugging.restoring import record_of
from evonb.graph.events import StateEdited
from evonb.graph.handle import run_in_loop_thread
from evonb.graph.isolate import take
from evonb.graph.near import wrong_kind
from evonb.graph.warned import warn

if TYPE_CHECKING:
    from evonb.graph.debugging.performing import Done
    from evonb.graph.debugging.session import Session
    from evonb.graph.engine import GraphEngine
    from evonb.graph.topology import Topology

__all__ = ["Changing"]


class Changing(Face):
    """Take back, edit, skip, pin, replace."""

    if TYPE_CHECKING:
        _topology: Topology | None

    def restore_step(self, node_uuid: str | None = None) -> None:
        """Go back one step, to stay there; runs nothing. What was recorded stays, on the line it was made on.

        Args:
            node_uuid: A task that was run: goes back to where it waited. None takes the last step back.

        Raises:
            SessionError: There is nothing to take back, or the task wasn't run.
        """
        with self._command("restore_step") as session:
            moment = session.past.here
            if node_uuid is None:
                while moment.status == "failed" and moment.before is not None:
                    moment = moment.before
                before = moment.before
            else:
                number = self._number(node_uuid)
                before = None
                while before is None and moment.before is not None:
                    ran = moment.ran
                    if ran is not None and ran.number == number and moment.status not in ("failed", "edited"):
                        before = moment.before
                    moment = moment.before
            if before is None:
                raise SessionError(
                    "There is no step to take back" if node_uuid is None else "That task wasn't run on this line",
                    fix="run one first: await graph.step_over()",
                )
            session.rewind(before)

    def change_output(self, from_node_uuid: str, to_node_uuid: str, change_key: str, change_value: Any) -> None:
        """Change one value in what a finished task gave to a waiting one; other tasks keep theirs.

        Args:
            from_node_uuid: The task that was run.
            to_node_uuid: The task that waits.
            change_key: State key.
            change_value: Taken in as if the first task had returned it.

        Raises:
            SessionError: The target isn't waiting, or got nothing from the source. A `RuntimeError`.
            StateError: The value doesn't fit the state.
        """
        with self._command("change_output") as session:
            target = self._stopped(self._must_wait(to_node_uuid))
            self._edit(session, target, change_key, change_value, self._number(from_node_uuid))

    def edit(self, key: str, value: Any, uuid: str | None = None) -> None:
        """Set one key of the state that a waiting task will start from.

        The value is validated as a node's would be: a dict becomes the nested model, a text the enum or date that the
        schema declares. From an earlier moment this makes a branch.

        Args:
            key: State key.
            value: Its new whole value, whatever the key's update strategy.
            uuid: The waiting task; None if only one can run.

        Raises:
            SessionError: There is no such key or task, or several tasks wait.
            StateError: The value doesn't fit; nothing has changed.
        """
        with self._command("edit") as session:
            self._edit(session, self._one(uuid), key, value, None)

    def _edit(self, session: Session, target: Waiting, key: str, value: Any, source: int | None) -> None:
        point, schema = session.line.here.point, session.plan.schema
        value = take(value)
        if source is None:
            after = edited_state(schema, point, target, key, value)
        else:
            after = edited_output(schema, point, source, target, key, value)
        session.settle()
        session.wake()
        now = after.find(target.number) or target
        change = Change(target.number, schema.key_of(key) or key, value, source)
        session.append(after, "edited", ran=now, record=record_of(now, after), change=change)
        session.holding.forget((target.number,))
        session.run.bus.emit(StateEdited, (), node=target.node.name, keys=(change.key,))

    def _one(self, uuid: str | None) -> Waiting:
        if uuid is not None:
            return self._stopped(self._must_wait(uuid))
        ready = [each for each in self._point.waiting if each.can_run]
        if len(ready) != 1:
            names = ", ".join(repr(each.node.name) for each in ready) or "none"
            raise SessionError(
                f"Which task? {len(ready)} wait and can run: {names}", fix="give uuid=graph.find(node_name)"
            )
        return self._stopped(ready[0])

    def _stopped(self, waiting: Waiting) -> Waiting:
        session = self._session
        if session.line.cursor is None and any(each.number == waiting.number for each in session.flying.values()):
            raise SessionError(f"{waiting.node.name!r} runs already, and waits inside", fix="step_out() first")
        return waiting

    # --- instead of running -------------------------------------------------------------------------------

    def skip(self, uuid: str, delta: Mapping[str, Any] | None = None) -> None:
        """Don't run a waiting task; go on as if its node had answered with this delta. Its routers are asked.

        Args:
            uuid: The waiting task.
            delta: The answer; None changes nothing.

        Raises:
            SessionError: It isn't waiting, or still misses inputs; or the delta is no dict.
            StateError: The delta doesn't fit the state; nothing has changed.
            RouterError: A router answered an undeclared target; nothing has changed.
        """
        with self._command("skip") as session:
            waiting, work = self._skipping(session, uuid, delta)
            self._skipped(session, waiting, _finished(work))

    async def skip_async(self, uuid: str, delta: Mapping[str, Any] | None = None) -> None:
        """As `skip`, and awaits the node's routers: the way where they are asynchronous and a loop is running.

        Args:
            uuid, delta: As for `skip`.

        Raises:
            SessionError, StateError, RouterError: As for `skip`; nothing has changed, as when it is cancelled.
        """
        with self._command("skip") as session:
            waiting, work = self._skipping(session, uuid, delta)
            line, cursor = session.line, session.line.cursor
            done = await session.driver.ask(work)
            if done is None:
                session.driver.stop_now()
                session.result()
                return
            shown, line.cursor = line.cursor, cursor
            self._skipped(session, waiting, done)
            if shown is not cursor:  # somebody looks elsewhere since
                line.cursor = shown

    def _skipping(
        self, session: Session, uuid: str, delta: Mapping[str, Any] | None
    ) -> tuple[Waiting, Coroutine[Any, Any, Done]]:
        waiting = self._stopped(self._must_wait(uuid))
        if waiting.task is None:
            raise SessionError(f"{waiting.node.name!r} can't be skipped: it still misses inputs, or is the end")
        return waiting, session.performer.by_hand(
            waiting.task, {} if delta is None else _delta(delta), "skipped", session.now()
        )

    def _skipped(self, session: Session, waiting: Waiting, done: Done) -> None:
        assert waiting.task is not None
        session.settle()
        session.wake()
        session.error = None
        session.take_in(waiting, waiting.task, done)

    def pin(self, node: str, delta: Mapping[str, Any]) -> None:
        """Have a node give this delta from now on instead of running, until `unpin`. Pins stay from run to run.

        Raises:
            GraphError: There is no such node.
            SessionError: The delta is no dict.
        """
        self._session.pins[self._node(node)] = take(dict(_delta(delta)))
        self._keep_pins()

    def unpin(self, node: str) -> None:
        """Let a node run again; does nothing if it isn't pinned."""
        self._session.pins.pop(self._node(node), None)
        self._keep_pins()

    def pins(self) -> dict[str, dict[str, Any]]:
        """By node, what it gives instead of running."""
        return {node: take(delta) for node, delta in self._session.pins.items()}

    def _keep_pins(self) -> None:
        session = self._session
        session.changed()
        if session.keeper is None:
            return
        kept = {}
        for node, delta in session.pins.items():
            try:
                kept[node] = json.loads(json.dumps(delta))
            except (TypeError, ValueError):
                text = f"The pin of node {node!r} isn't kept with the session: its values aren't plain JSON"
                warn(text)
        session.keeper.put({"pins": kept})

    def allow_rerun(self, uuid: str) -> None:
        """Let one waiting effect act again, though it did before going back.

        Raises:
            SessionError: It isn't waiting.
        """
        self._session.performer.allowed.add(self._must_wait(uuid).number)

    # --- new code -------------------------------------------------------------------------------------------

    def replace_node(self, name: str, func: Any) -> None:
        """Exchange a node's code while the session stands still; history, breakpoints and pins stay.

        Args:
            name: The node.
            func: What `add_node` takes.

        Raises:
            GraphError: There is no such node, or it can't be called.
            SessionError: The session runs.
        """
        self._node(name)
        with self._command("replace_node") as session:
            replace_code(session, self.nodes, name, func)
            self._topology = None

    def adopt(self, engine: GraphEngine) -> list[str]:
        """Take the code of another build of this graph while the session stands still, and go on with it.

        Args:
            engine: The graph with the new code, such as the one that its cell made when it was run again.

        Returns:
            What doesn't fit, a sentence each; then nothing has been taken over. Empty when all of it was.

        Raises:
            SessionError: The session runs, or `engine` is no engine.
        """
        if not hasattr(engine, "_plan"):
            raise wrong_kind(
                SessionError, "adopt takes a built engine", engine, where="adopt", fix="adopt(builder.build())"
            )
        with self._command("adopt") as session:
            found = adopt_engine(session, self.nodes, engine)
            if not found:
                self._topology = None
            return found


def _delta(delta: Any) -> Mapping[str, Any]:
    if not isinstance(delta, Mapping | BaseModel):
        raise wrong_kind(
            SessionError, "A delta is a dict of the keys to change", delta, where="the delta", fix="{} changes nothing"
        )
    return delta  # type: ignore[return-value]  # a state of the schema's own class will do


def _finished(work: Coroutine[Any, Any, Any]) -> Any:
    """The result of a coroutine that only waits if a router does; that one is awaited on a loop of its own thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return run_in_loop_thread(work)
    try:
        work.send(None)
    except StopIteration as done:
        return done.value
    work.close()
    raise SessionError(
        "The node's router is asynchronous, so it can't be asked while a loop runs here",
        fix="await skip_async(uuid, delta)",
    )
