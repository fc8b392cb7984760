"""Stopping inside of a running node: before a task of a sub-graph, or before a tool call.

The node's own asyncio task stays where it is, parked, until a command lets it go on. Steps inside aren't part of the
history: a sub-graph node is one step of the session, and going back means to before it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from evonb.graph.debugging.line import Usage
from evonb.graph.debugging.points import Waiting
from evonb.graph.decide import Task
from evonb.graph.stopwatch import stopwatch
from evonb.graph.topology import node_id

if TYPE_CHECKING:
    from evonb.graph.debugging.session import Session
    from evonb.graph.run import Run

__all__ = ["Inside", "Parked", "Told", "Watch"]

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Parked:
    """Something that waits inside of a running node.

    Attributes:
        uuid: Its id.
        name: The node's id in the picture, or "node: tool".
        path: The sub-graph nodes around it; for a tool call the path of its node.
        held: The breakpoint that holds it, "" if it was stepped to.
        owner: Number of the session's task that it is inside of, 0 where that isn't known.
        run: The sub-graph's run, None for a tool call.
        task: The task, None for a tool call.
        go: Ends the wait.
    """

    uuid: str
    name: str
    path: Path
    held: str
    owner: int
    run: Run | None
    task: Task | None
    go: asyncio.Future[None]


class Inside:
    """What is parked in a session, and which sub-graphs are stepped through."""

    def __init__(self, session: Session) -> None:
        self.parked: list[Parked] = []
        self.stepping: set[Path] = set()
        self.wake: Callable[[], None] = lambda: None
        self._session = session
        self._calls = 0
        self._calling: dict[tuple[int, str, str | None], asyncio.Task[Any] | None] = {}
        self._runs: list[Run] = []
        self._branches: WeakSet[asyncio.Task[Any]] = WeakSet()

    def find(self, uuid: str) -> Parked | None:
        """What is parked under this id."""
        return next((each for each in self.parked if each.uuid == uuid), None)

    async def gate(self, run: Run, task: Task) -> None:
        """Stand before a task of a sub-graph until it may run."""
        if all(each is not run for each in self._runs):
            self._runs.append(run)
        branch = asyncio.current_task()
        if branch is not None and branch not in self._branches:
            # The last branch that goes on may just end; that leaves those that are parked.
            self._branches.add(branch)
            branch.add_done_callback(lambda _: self.wake())
        held = self._session.holding.in_subgraph(run, task)
        if held is None and run.path not in self.stepping and not self._session.pausing:
            return
        uuid = run.bus.task_id(task.number, run.path)
        name = node_id(run.path, task.node.name)
        await self._park(Parked(uuid, name, run.path, held or "", 0, run, task, _future()))

    async def before_tool(self, owner: Waiting, tool: str, arguments: Any, call_id: str | None) -> None:
        """Stand before a tool call until it may run."""
        here = asyncio.current_task()
        # A caller that goes on to its next call has ended the one before, whether it told so or not.
        self._calling = {key: task for key, task in self._calling.items() if task is not here or key[0] != owner.number}
        held = self._session.holding.of_tool(tool, arguments)
        if held is not None:
            self._calls += 1
            uuid = f"{self._session.uuid(owner.number)}-tool{self._calls}"
            await self._park(Parked(uuid, f"{owner.node.name}: {tool}", (), held, owner.number, None, None, _future()))
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
            if any(each.owner == waiting.number for each in self.parked):
                continue
            here = (waiting.node.name,)
            running = sum(each.node is waiting.node for each in self._session.flying.values())
            if sum(run.path == here for run in quiet) < running:
                return False
        return True

    def _quiet_runs(self) -> list[Run]:
        """Runs of sub-graphs in which every branch is parked, or stands at a sub-graph that is quiet."""
        quiet: list[Run] = []
        for run in sorted(self._runs, key=lambda each: -len(each.path)):
            own = sum(each.run is run for each in self.parked)
            below = sum(each.path[:-1] == run.path for each in quiet)
            if run.active and own + below >= run.active:
                quiet.append(run)
        return quiet

    def clear(self) -> None:
        """Nothing runs any more."""
        self.parked.clear()
        self.stepping.clear()
        self._runs.clear()
        self._calling.clear()


def _future() -> asyncio.Future[None]:
    return asyncio.get_running_loop().create_future()


@dataclass(slots=True)
class Told:
    """What the tools and models of a task told, also before it failed or was cancelled and started again."""

    calls: list[dict[str, object]] = field(default_factory=list)
    usages: list[Usage] = field(default_factory=list)

    @property
    def usage(self) -> Usage | None:
        """All of it together; None if no model told."""
        each = self.usages
        if not each:
            return None
        return Usage(
            sum(one.tokens_in for one in each), sum(one.tokens_out for one in each), sum(one.seconds for one in each)
        )


class Watch:
    """The `ToolWatch` of one task."""

    def __init__(self, inside: Inside, owner: Waiting, told: Told, *, rerun: bool = False) -> None:
        self.told = told
        self.rerun = rerun
        self._inside = inside
        self._owner = owner

    async def before(self, tool: str, arguments: Any, *, call_id: str | None = None) -> None:
        """As `ToolWatch.before`."""
        await self._inside.before_tool(self._owner, tool, arguments, call_id)

    def done(
        self,
        tool: str,
        *,
        call_id: str | None = None,
        effect: bool = False,
        replayed: bool = False,
        failed: bool = False,
        duration_s: float | None = None,
    ) -> None:
        """As `ToolWatch.done`."""
        call: dict[str, object] = {"tool": tool, "call_id": call_id, "effect": effect, "replayed": replayed}
        self.told.calls.append({**call, "failed": failed, "duration_s": duration_s})
        self._inside.after_tool(self._owner, tool, call_id)

    def used(self, tokens_in: int, tokens_out: int, seconds: float) -> None:
        """As `ToolWatch.used`."""
        self.told.usages.append(Usage(tokens_in, tokens_out, seconds))

    def keep(self, call_id: str, record: Mapping[str, Any]) -> None:
        """As `ToolWatch.keep`."""
        call = next((each for each in reversed(self.told.calls) if each["call_id"] == call_id), None)
        if call is not None:
            call["record"] = dict(record)

    def records(self, call_id: str) -> Iterator[Mapping[str, Any]]:
        """As `ToolWatch.records`."""
        calls = [*self._inside.past_calls(), *self.told.calls]
        for each in reversed(calls):
            if each.get("call_id") == call_id and isinstance(record := each.get("record"), Mapping):
                yield record
