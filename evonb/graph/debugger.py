"""`GraphEngineDebugger`: stop before nodes, step, go back, change what goes along an edge.

It works on the scheduler of ordinary runs: nodes are called the same way, and the same decision says what becomes
ready. What is its own is that it may stop between tasks; `stepping` does the work.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import PrivateAttr

from evonb.errors import GraphError
from evonb.graph.engine import GraphEngine
from evonb.graph.runtime_task import RunTimeTask
from evonb.graph.session import Point, SessionError, Waiting
from evonb.graph.stepping import Stepper
from evonb.graph.trace_tree import TraceTree

__all__ = ["GraphEngineDebugger"]


class GraphEngineDebugger(GraphEngine):
    """An engine that can be stopped before a node, stepped, taken back and edited.

    A breakpoint holds the tasks of its node; other branches run on, and a command returns when nothing else can run.
    A command that is given while another runs nodes is refused. `run` takes no notice of breakpoints or the session.

    Attributes:
        db_file_path: The file for snapshots.
        db_name: Their name in it.
    """

    db_file_path: str = ".state_storage.db"
    db_name: str = "graph state"
    _stepper: Stepper = PrivateAttr()
    _trace_tree: TraceTree = PrivateAttr()

    def __init__(self, **fields: Any) -> None:
        super().__init__(**fields)
        self._stepper = Stepper(self._plan, self._hub, self.max_turn)
        self._trace_tree = TraceTree(self)

    # --- running -----------------------------------------------------------------------------------

    async def debug(self, inputs: Mapping[str, Any]) -> Any:
        """Begin a session and run it until nothing but held tasks is left. Breakpoints stay from session to session.

        Args:
            inputs: State keys and their first values.

        Returns:
            The final state if the end was reached, None if the session paused.

        Raises:
            NodeError: A node failed; the session stays, with the failed task waiting.
            SessionError: Another command is running. A `RuntimeError`.
        """
        with self._stepper.command("debug"):
            await self._stepper.begin(inputs)
            return await self._on()

    async def resume(self, running_queue: list[RunTimeTask] | None = None) -> Any:
        """Run on until nothing but held tasks is left.

        Args:
            running_queue: Tasks to run first, held or not; None takes all that aren't held.

        Returns:
            As `debug`.

        Raises:
            SessionError: Another command is running, no session has begun, or a task isn't waiting.
        """
        with self._stepper.command("resume"):
            if running_queue is None:
                return await self._on()
            await self._stepper.drive([self._runnable(task) for task in running_queue], on=True)
            return await self._on()

    async def step_over(self, node_uuid: str | None = None) -> Any:
        """Run one waiting task, or every one of them once, held or not, then pause.

        Args:
            node_uuid: The task to run; of a join, those that it still misses are run first. None runs all.

        Returns:
            The final state once every branch has finished, else None.

        Raises:
            NodeError: A node failed; the session is as before the step.
            SessionError: Another command is running, or the task isn't waiting.
        """
        with self._stepper.command("step_over"):
            if node_uuid is None:
                wave = [each for each in self._point.waiting if each.can_run]
                await self._stepper.drive(wave, on=False)
            else:
                await self._step(self._must_wait(node_uuid))
            return self._stepper.result()

    async def run_one_step(self, running_queue: list[RunTimeTask]) -> tuple[Any, list[RunTimeTask]]:
        """Run these tasks once each.

        Returns:
            The final state (None before the end), and the tasks that became ready; the end counts as a task.
        """
        with self._stepper.command("run_one_step"):
            new = await self._stepper.drive([self._runnable(task) for task in running_queue], on=False)
            return self._stepper.result(), [self._trace_tree.as_task(each) for each in new if each.can_run]

    async def _on(self) -> Any:
        stepper = self._stepper
        held = {each.number for each in stepper.held()}
        ready = [each for each in stepper.point.waiting if each.can_run and each.number not in held]
        await stepper.drive(ready, on=True)
        return stepper.result()

    async def _step(self, waiting: Waiting) -> None:
        while not waiting.can_run:
            missing = self._missing(waiting)
            await self._stepper.drive(missing, on=False)
            waiting = self._must_wait(self._uuid(waiting.number))
        await self._stepper.drive([waiting], on=False)

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

    # --- going back, editing --------------------------------------------------------------------------

    def restore_step(self, node_uuid: str | None = None) -> None:
        """Go back one step; runs nothing.

        Args:
            node_uuid: A task that was run: goes back to where it waited. None takes the last step back.

        Raises:
            SessionError: There is nothing to take back, or the task wasn't run.
        """
        with self._stepper.command("restore_step"):
            self._stepper.back(None if node_uuid is None else self._number(node_uuid))

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
        with self._stepper.command("change_output"):
            target = self._must_wait(to_node_uuid)
            self._stepper.edit(self._number(from_node_uuid), target, change_key, change_value)

    def reset(self) -> None:
        """Forget the session and all breakpoints."""
        with self._stepper.command("reset"):
            self._stepper.forget()
            self._stepper.breakpoints.clear()

    # --- breakpoints -----------------------------------------------------------------------------------

    def set_breakpoint(self, node_name_bp: str | None = None, condition_bp: Any = None, condition: Any = None) -> None:
        """Hold the tasks of a node before they run.

        Args:
            node_name_bp: The node.
            condition_bp: Not used.
            condition: `(state) -> bool`, or a Python expression over the state's keys: holds only when it is true.

        Raises:
            RuntimeError: No node is named.
            GraphError: There is no such node, or the condition is neither.
        """
        self._stepper.breakpoints[self._node(node_name_bp)] = _condition(condition)

    def clear_breakpoint(
        self, node_name_bp: str | None = None, condition_bp: Any = None, condition: Any = None
    ) -> None:
        """Hold the tasks of a node no more; does nothing if there is no breakpoint.

        Raises:
            RuntimeError: No node is named.
        """
        self._stepper.breakpoints.pop(self._node(node_name_bp), None)

    def clear_all_breakpoint(self) -> None:
        """Remove every breakpoint."""
        self._stepper.breakpoints.clear()

    def _node(self, name: str | None) -> str:
        if name is None:
            raise SessionError("A breakpoint needs a node", fix="set_breakpoint(node_name_bp=...)")
        if name not in self.nodes:
            near = difflib.get_close_matches(str(name), self.nodes, n=1)
            raise GraphError(
                f"There is no node called {name!r}",
                where=f"graph {self.name!r}",
                fix=f"did you mean {near[0]!r}?" if near else f"it has {', '.join(map(repr, self.nodes))}",
            )
        return name

    # --- ids -------------------------------------------------------------------------------------------

    @property
    def _point(self) -> Point:
        return self._stepper.point

    def _uuid(self, number: int) -> str:
        return self._stepper.run.bus.task_id(number, ())

    def _number(self, uuid: str) -> int:
        for number in self._stepper.known:
            if self._uuid(number) == uuid:
                return number
        raise SessionError(f"No task has the id {uuid!r}", fix="take ids from the session that is open now")

    def _waiting_by_uuid(self, uuid: str) -> Waiting | None:
        """What has this id, whether it waits or has been run."""
        if not self._stepper.points:
            return None
        found = next((each for each in self._point.waiting if self._uuid(each.number) == uuid), None)
        return found or next((each for number, each in self._stepper.known.items() if self._uuid(number) == uuid), None)

    def _must_wait(self, uuid: str) -> Waiting:
        waiting = self._point.find(self._number(uuid))
        if waiting is None:
            raise SessionError(f"The task {uuid!r} isn't waiting", fix="step over a task that waits")
        return waiting

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


def _condition(condition: Any) -> Callable[[Any], Any] | None:
    if condition is None:
        return None
    if callable(condition):
        return lambda state: condition(state)
    if not isinstance(condition, str):
        raise GraphError(f"A breakpoint condition must be a function or an expression, found {condition!r}")
    try:
        code = compile(condition, "<breakpoint condition>", "eval")
    except SyntaxError as error:
        raise GraphError(f"The breakpoint condition {condition!r} isn't an expression: {error.msg}") from error

    def holds(state: Any) -> Any:
        # Typed by the user in the kernel, so it is Python; what comes from a browser never gets here.
        fields: Mapping[str, Any] = state if isinstance(state, dict) else state.__dict__
        return eval(code, {**fields, "state": state})

    return holds
