"""The debugger's commands that change something: values, answers, code. None of them runs a node."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from evonb.graph.debugging.edits import edited_output, edited_state
from evonb.graph.debugging.face import Face
from evonb.graph.debugging.inner import after_edit
from evonb.graph.debugging.inner_run import InnerRun
from evonb.graph.debugging.line import Change, Place
from evonb.graph.debugging.nested import InnerWaiting
from evonb.graph.debugging.points import SessionError, Waiting, record_of
from evonb.graph.debugging.recode import adopt_engine, replace_code
from evonb.graph.debugging.steps import RAN
from evonb.graph.debugging.ways import places_back, step_before
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

        Inside of a sub-graph it is one step there, as for `step_back`.

        Args:
            node_uuid: A task that was run: goes back to where it waited. None takes the last step back.

        Raises:
            SessionError: There is nothing to take back, or the task wasn't run.
        """
        with self._command("restore_step") as session:
            before = _last_before(session.past.place) if node_uuid is None else self._before(session, node_uuid)
            if before is None:
                raise SessionError(
                    "There is no step to take back" if node_uuid is None else "That task wasn't run on this line",
                    fix="run one first: await graph.step_over()",
                )
            session.rewind(*before)

    def _before(self, session: Session, uuid: str) -> Place | None:
        """The place that a task waited at before it was run."""
        place, inside = session.past.place, "." in str(uuid)
        number = 0 if inside else self._number(uuid)
        for each in places_back(place):
            moment, inner = each
            if inner is not None:
                ran = inside and inner.row.status in RAN
                found = ran and session.nested.uuid(inner.origin, inner.notes["ran"]) == uuid
            else:
                ran = not inside and moment.before is not None and moment.status not in ("failed", "edited")
                found = ran and moment.ran is not None and moment.ran.number == number
            if found:
                return step_before(each)
        return None

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
            if (waits := session.nested.find(to_node_uuid)) is not None:
                source = _number_inside(session, waits, from_node_uuid)
                self._edit_inside(session, waits, change_key, change_value, source)
                return
            target = self._stopped(self._must_wait(to_node_uuid))
            self._edit(session, target, change_key, change_value, self._number(from_node_uuid))

    def edit(self, key: str, value: Any, uuid: str | None = None) -> None:
        """Set one key of the state that a waiting task will start from.

        The value is validated as a node's would be: a dict becomes the nested model, a text the enum or date that the
        schema declares. From an earlier moment this makes a branch.

        Args:
            key: State key.
            value: Its new whole value, whatever the key's update strategy.
            uuid: The waiting task, inside of a sub-graph too; None if only one of the session's own can run.

        Raises:
            SessionError: There is no such key or task, or several tasks wait.
            StateError: The value doesn't fit; nothing has changed.
        """
        with self._command("edit") as session:
            if uuid is not None and (waits := session.nested.find(uuid)) is not None:
                self._edit_inside(session, waits, key, value, None)
                return
            self._edit(session, self._one(uuid), key, value, None)

    def _edit_inside(self, session: Session, waits: InnerWaiting, key: str, value: Any, source: int | None) -> None:
        name = waits.standing.plan.schema._aliases.get(key, key)
        change = Change(waits.waiting.number, name, take(value), source)
        made = after_edit(waits.standing, change, at_s=session.now())
        _settle_inside(session, waits)
        session.nested.note(waits.origin, waits.path, made, waits.standing.given)
        session.holding.forget_inside(waits.ident)
        session.run.bus.emit(StateEdited, waits.path, node=waits.waiting.node.name, keys=(name,))

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
    ) -> tuple[Waiting | InnerWaiting, Coroutine[Any, Any, Done]]:
        waits = session.nested.find(uuid)
        if waits is not None:
            if waits.waiting.task is None:
                raise SessionError(f"{waits.name!r} can't be skipped: it still misses inputs")
            run = _run_inside(session, waits)
            by_hand = session.performer.by_hand(
                waits.waiting.task, {} if delta is None else _delta(delta), "skipped", session.now(), run
            )
            return waits, by_hand
        waiting = self._stopped(self._must_wait(uuid))
        if waiting.task is None:
            raise SessionError(f"{waiting.node.name!r} can't be skipped: it still misses inputs, or is the end")
        return waiting, session.performer.by_hand(
            waiting.task, {} if delta is None else _delta(delta), "skipped", session.now()
        )

    def _skipped(self, session: Session, waiting: Waiting | InnerWaiting, done: Done) -> None:
        if isinstance(waiting, InnerWaiting):
            _settle_inside(session, waiting)
            assert waiting.waiting.task is not None
            run = _run_inside(session, waiting)
            run.take_over(waiting.standing)
            run.note_skipped(waiting.waiting.task, done.record, done.hops, done.at_s)
            return
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
        """Let one waiting effect act again once, though it did before going back or may have when it was begun.

        Raises:
            SessionError: It isn't waiting.
        """
        waits = self._session.nested.find(uuid)
        key = self._must_wait(uuid).number if waits is None else waits.ident
        self._session.performer.allowed.add(key)

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
        if name not in self.nodes:
            raise SessionError(
                f"{name!r} is inside of a sub-graph, which other graphs may share",
                fix="build the sub-graph anew and replace its node; its steps are kept if its shape is the same",
            )
        with self._command("replace_node") as session:
            _leave(session, name)
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
                _leave(session)
                self._topology = None
            return found


def _delta(delta: Any) -> Mapping[str, Any]:
    if not isinstance(delta, Mapping | BaseModel):
        raise wrong_kind(
            SessionError, "A delta is a dict of the keys to change", delta, where="the delta", fix="{} changes nothing"
        )
    return delta  # type: ignore[return-value]  # a state of the schema's own class will do


def _last_before(place: Place) -> Place | None:
    """The place before the last step; a step that failed counts for nothing."""
    found: Place | None = place
    while found is not None and _failed(found):
        found = step_before(found)
    return None if found is None else step_before(found)


def _failed(place: Place) -> bool:
    moment, inner = place
    return (moment.status if inner is None else inner.row.status) == "failed"


def _number_inside(session: Session, waits: InnerWaiting, uuid: str) -> int:
    """The number of a task of the same run of a sub-graph."""
    number = uuid.rpartition(".")[2]
    if not number.isdigit() or session.nested.uuid(waits.origin, int(number)) != uuid:
        raise SessionError(
            f"{waits.name!r} got nothing from {uuid!r}", fix="give a task of the same sub-graph: history(inside=True)"
        )
    return int(number)


def _run_inside(session: Session, waits: InnerWaiting) -> InnerRun:
    """A run that stands for that of a sub-graph while nothing runs there."""
    return InnerRun(session, waits.standing.plan, session.run.bus, None, waits.path, waits.origin)


def _settle_inside(session: Session, waits: InnerWaiting) -> None:
    """Go on from the place that is shown; the sub-graph that is changed is begun again when it is to go on."""
    session.settle()
    session.driver.drop(waits.origin[0])
    session.wake()
    session.error = None


def _leave(session: Session, name: str | None = None) -> None:
    """Give up sub-graphs that are stepped through: they go on, from the record, with their new code."""
    for waiting in tuple(session.flying.values()):
        if waiting.node.subgraph is not None and name in (None, waiting.node.name):
            session.driver.drop(waiting.number)


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
