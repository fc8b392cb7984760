"""Stopping inside of a running node: before a task of a sub-graph, or before a tool call.

The node's own asyncio task stays where it is, parked, until a command lets it go on. What a sub-graph has done so far
is in the record (see `nested`), so it can be given up and begun again at any time; a tool's call can't.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from evonb.graph.debugging.inner_run import InnerRun, current_inner
from evonb.graph.debugging.points import Waiting
from evonb.graph.decide import Task
from evonb.graph.stopwatch import stopwatch
from evonb.graph.topology import node_id

if TYPE_CHECKING:
    from evonb.graph.debugging.session import Session

__all__ = ["Inside", "Parked"]

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Parked:
    """Something that waits inside of a running node.

    Attributes:
        uuid: Its id.
        name: The node's id in the picture, or "node: tool".
        path: The sub-graph nodes around it.
        held: The breakpoint that holds it, "" if it was stepped to.
        owner: Number of the session's task that it is inside of.
        run: The sub-graph's run that it is in; None for a tool call of a node outside of sub-graphs.
        task: The task, None for a tool call.
        branch: The task of `run` that waits, or in which a call does.
        go: Ends the wait.
    """

    uuid: str
    name: str
    path: Path
    held: str
    owner: int
    run: InnerRun | None
    task: Task | None
    branch: Task | None
    go: asyncio.Future[None]


class Inside:
    """What is parked in a session, and which sub-graphs are stepped through.

    Attributes:
        parked: What waits.
        stepping: The sub-graphs in which every task waits before it runs.
        entering: Whether every task in any of them does.
        wake: To be called when something was parked or has ended.
    """

    def __init__(self, session: Session) -> None:
        self.parked: list[Parked] = []
        self.stepping: set[Path] = set()
        self.entering = False
        self.wake: Callable[[], None] = lambda: None
        self._session = session
        self._calls = 0
        self._calling: dict[tuple[int, str, str | None], asyncio.Task[Any] | None] = {}
        self._runs: list[InnerRun] = []
        self._branches: WeakSet[asyncio.Task[Any]] = WeakSet()

    def find(self, uuid: str) -> Parked | None:
        """What is parked under this id."""
        return next((each for each in self.parked if each.uuid == uuid), None)

    def name_of(self, run: InnerRun, task: Task) -> str:
        """A task's node by its id in the picture."""
        return node_id(run.path, task.node.name)

    async def gate(self, run: InnerRun, task: Task) -> None:
        """Stand before a task of a sub-graph until it may run."""
        if all(each is not run for each in self._runs):
            self._runs.append(run)
        branch = asyncio.current_task()
        if branch is not None and branch not in self._branches:
            # The last branch that goes on may just end; that leaves those that are parked.
            self._branches.add(branch)
            branch.add_done_callback(lambda _: self.wake())
        if task.node.subgraph is not None and self._session.nested.last((*run.origin, task.number)) is not None:
            return  # it stood here when it was begun
        held = self._session.holding.holder_inside(run, task)
        stands = held is not None or run.path in self.stepping or self.entering or self._session.pausing
        while stands or self._session.performer.asks_inside(run, task):
            uuid, name = run.task_id(task), self.name_of(run, task)
            await self._park(Parked(uuid, name, run.path, held or "", run.origin[0], run, task, task, _future()))
            stands = False

    async def before_tool(self, owner: Waiting, tool: str, arguments: Any, call_id: str | None) -> None:
        """Stand before a tool call until it may run."""
        here = asyncio.current_task()
        # A caller that goes on to its next call has ended the one before, whether it told so or not.
        self._calling = {key: task for key, task in self._calling.items() if task is not here or key[0] != owner.number}
        held = self._session.holding.of_tool(tool, arguments)
        if held is not None:
            self._calls += 1
            uuid = f"{self._session.uuid(owner.number)}-tool{self._calls}"
            run, branch = current_inner.get() or (None, None)
            path = () if run is None else run.path
            name = f"{owner.node.name}: {tool}"
            await self._park(Parked(uuid, name, path, held, owner.number, run, None, branch, _future()))
        self._calling[owner.number, tool, call_id] = here

    def after_tool(self, owner: Waiting, tool: str, call_id: str | None) -> None:
        """A tool call is over."""
        self._calling.pop((owner.number, tool, call_id), None)
        self.wake()

    def after_node(self, owner: Waiting) -> None:
        """A task is over, and its tool calls with it."""
        self._calling = {key: task for key, task in self._calling.items() if key[0] != owner.number}

    def past_calls(self) -> Iterator[Mapping[str, object]]:
        """The tool calls of the steps that may come up again, oldest first."""
        for moment in self._session.line.called:
            yield from moment.tools
        for inner in self._session.line.called_inside:
            yield from (inner.row.notes or {})["tools"]

    async def _park(self, parked: Parked) -> None:
        self.parked.append(parked)
        self.wake()
        clock = stopwatch.get()
        try:
            with nullcontext() if clock is None else clock.hold():
                await parked.go
        finally:
            if parked in self.parked:
                self.parked.remove(parked)

    def step(self, tasks: Iterable[Waiting], parked: Sequence[Parked]) -> None:
        """Have every task beside these wait before it runs; a sub-graph that begins by them runs as one."""
        for waiting in tasks:
            self.run_through((waiting.node.name,))
        for each in parked:
            if each.task is not None:
                self.run_through((*each.path, each.task.node.name))
        self.stepping |= {each.path for each in parked}

    def run_through(self, path: Path) -> None:
        """Tasks of a sub-graph, and of those in it, don't wait any more."""
        self.stepping = {each for each in self.stepping if each[: len(path)] != path}

    def release(self, parked: Iterable[Parked]) -> None:
        """Let these go on."""
        for each in tuple(parked):
            if each in self.parked:
                self.parked.remove(each)
            if not each.go.done():
                each.go.set_result(None)

    def is_still(self, flying: Iterable[Waiting]) -> bool:
        """Whether all of these running tasks wait inside, so that nothing goes on until a command says so."""
        if not self.parked:
            return False
        quiet = self._quiet_runs()
        for waiting in flying:
            if any(number == waiting.number for number, _, _ in self._calling):
                return False  # beside the calls that are parked
            if any(each.owner == waiting.number and each.run is None for each in self.parked):
                continue
            if all(run.origin != (waiting.number,) for run in quiet):
                return False
        return True

    def _quiet_runs(self) -> list[InnerRun]:
        """Runs of sub-graphs in which every branch is parked, or stands at a sub-graph that is quiet."""
        quiet: list[InnerRun] = []
        for run in sorted(self._runs, key=lambda each: -len(each.path)):
            own = len({each.branch for each in self.parked if each.run is run})
            below = sum(each.origin[:-1] == run.origin for each in quiet)
            if run.active and own + below >= run.active:
                quiet.append(run)
        return quiet

    def drop(self, owner: int) -> None:
        """One of the session's tasks was given up, and what is parked in it."""
        self.parked = [each for each in self.parked if each.owner != owner]
        self._runs = [each for each in self._runs if each.origin[0] != owner]
        self._calling = {key: task for key, task in self._calling.items() if key[0] != owner}

    def clear(self) -> None:
        """Nothing runs any more."""
        self.parked.clear()
        self.stepping.clear()
        self._runs.clear()
        self._calling.clear()


def _future() -> asyncio.Future[None]:
    return asyncio.get_running_loop().create_future()
