"""What the parts of `GraphEngineDebugger` share: the session, and ids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from evonb.errors import GraphError
from evonb.graph.debugging.asked import questions_of
from evonb.graph.debugging.points import Point, SessionError, Waiting
from evonb.graph.debugging.views import COMMANDS
from evonb.graph.near import near_names, wrong_kind
from evonb.graph.runtime_task import RunTimeTask
from evonb.graph.topology import PATH_SEPARATOR

if TYPE_CHECKING:
    from evonb.graph.debugging.session import Session
    from evonb.graph.debugging.trace_tree import TraceTree
    from evonb.graph.nodes import GraphNodeSpec

__all__ = ["Face"]


class Face:
    """The base of the parts. Each part is one concern of the debugger's API; they meet in `GraphEngineDebugger`."""

    if TYPE_CHECKING:
        _session: Session
        _trace_tree: TraceTree
        name: str
        nodes: dict[str, GraphNodeSpec]

        def _given(self, inputs: Any, call: str = "run") -> Mapping[str, Any]: ...

    @contextmanager
    def _command(self, command: str) -> Iterator[Session]:
        """A command that nothing may come between.

        Raises:
            SessionError: It isn't allowed now.
        """
        session = self._session
        label, needs = COMMANDS[command]
        if reason := needs(session):
            raise SessionError(f"{label}: {reason}", where=f"graph {self.name!r}", fix=_fix(session))
        with session.command(command):
            yield session

    def _node(self, name: str | None) -> str:
        if name is None:
            raise SessionError(
                "A breakpoint needs a node", where=f"graph {self.name!r}", fix="set_breakpoint(node_name)"
            )
        if isinstance(name, str) and self._has_node(name):
            return name
        near = near_names(name, self.nodes)
        raise GraphError(
            f"There is no node called {name!r}",
            where=f"graph {self.name!r}",
            fix=f"did you mean {near[0]!r}?" if near else f"it has {', '.join(map(repr, self.nodes))}",
        )

    def _has_node(self, name: str) -> bool:
        return name in self.nodes or (PATH_SEPARATOR in name and self._inner(name))

    def _inner(self, name: str) -> bool:
        plan = self._session.plan
        *path, last = name.split(PATH_SEPARATOR)
        for each in path:
            node = plan.by_name.get(each)
            if node is None or node.subgraph is None:
                return False
            plan = node.subgraph._plan
        return last in plan.by_name

    # --- ids -------------------------------------------------------------------------------------------

    @property
    def _point(self) -> Point:
        return self._session.point

    def _uuid(self, number: int) -> str:
        return self._session.uuid(number)

    def _number(self, uuid: str) -> int:
        _, _, number = str(uuid).rpartition("-")
        found = int(number) if number.isdigit() else -1
        if not self._session.begun or self._uuid(found) != uuid or not self._knows(found):
            is_name = isinstance(uuid, str) and uuid in self.nodes
            by_name = f"graph.find({uuid!r}) gives the id of a waiting task" if is_name else ""
            raise SessionError(
                f"No task has the id {uuid!r}",
                where=f"graph {self.name!r}",
                fix=by_name or "take ids from the session that is open now: graph.waiting(), graph.find(node_name)",
            )
        return found

    def _knows(self, number: int) -> bool:
        session = self._session
        if session.load is not None:
            session.line  # noqa: B018 - reads the stored session
        if number not in session.known:
            session.past  # noqa: B018 - an older one, perhaps
        return number in session.known

    def _waiting_by_uuid(self, uuid: str) -> Waiting | None:
        """What has this id, whether it waits or has been run."""
        try:
            number = self._number(uuid)
        except SessionError:
            return None
        return self._point.find(number) or self._session.known[number]

    def _must_wait(self, uuid: str) -> Waiting:
        number = self._number(uuid)
        waiting = self._point.find(number)
        if waiting is None:
            names = ", ".join(each.node.name for each in self._point.waiting) or "nothing"
            raise SessionError(
                f"{self._session.known[number].node.name!r} isn't waiting under the id {uuid!r}",
                fix=f"waiting: {names}",
            )
        return waiting

    def _runnable_all(self, tasks: list[RunTimeTask]) -> list[Waiting]:
        if not isinstance(tasks, list | tuple) or not all(isinstance(each, RunTimeTask) for each in tasks):
            raise wrong_kind(
                SessionError,
                "running_queue is a list of tasks",
                tasks,
                where=f"graph {self.name!r}",
                fix="step_over(graph.find(node_name)) runs one task",
            )
        return [self._runnable(task) for task in tasks]

    def _runnable(self, task: RunTimeTask) -> Waiting:
        of_task = [
            each
            for each in self._point.waiting
            if each.can_run
            and (each.number == task._waiting or (not task._waiting and each.node.name == task.node_name))
        ]
        if not of_task:
            raise SessionError(f"No task of node {task.node_name!r} is waiting to run", fix="take one that waits")
        return of_task[0]


def _fix(session: Session) -> str:
    if asked := questions_of(session):
        return f"answer {asked[0].text!r:.80} first, or call stop()"
    if session.busy:
        return "wait until it has paused, or call pause()"
    return "look at allowed()" if session.begun else "begin with debug(inputs) or start(inputs)"
