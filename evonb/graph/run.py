"""One run of a plan: its queue, its joins, its counters, its events. Runs share nothing that changes.

A branch is a coroutine that performs task after task. While there is one branch it runs in the caller's own asyncio
task; where the graph forks, each branch gets an asyncio task, and where branches join, the last to arrive goes on.
What becomes ready is `decide`'s decision; how a node is called when there is more to it is `calling`'s.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evonb.errors import EvonbError, NodeError
from evonb.graph import record as records
from evonb.graph.bus import Bus
from evonb.graph.calling import TookTooLong, call_node
from evonb.graph.decide import Hop, Slot, SlotKey, Task, decide, in_edge_order
from evonb.graph.failure import node_error, visit_of
from evonb.graph.hops import hops_of
from evonb.graph.inplace import warn_of_changes
from evonb.graph.lending import Pool
from evonb.graph.plan import NodePlan, Plan
from evonb.graph.record import Record
from evonb.graph.streaming import Frame, current_frame, enter, leave

if TYPE_CHECKING:
    from types import ModuleType

    from evonb.graph.events import TaskId
    from evonb.graph.schema import Values

__all__ = ["Run"]

_BREATHE = 64  # steps after which a branch that never waits lets the loop look after others
_GRACE_S = 1.0
STOPPED = "stopped with the run"


class Run:
    """One run. Use it once, from one loop.

    Attributes:
        plan, bus: What it runs and where its events go.
        limit: How many user nodes it may start, None for any number.
        path: Names of the sub-graph nodes around it.
        turns: How many user nodes it has started.
        ended: What reached the end: the hop, and the task it came from.
        slots: What joins have got.
        skipped: Tasks that the limit kept from running.
        pool: Copies of state values that may be lent again.
        keeps: Whether the values of every record are kept, for going back to it.
        active: How many branches there are.
    """

    __slots__ = (
        "_branches", "_context", "_error", "_idle", "_locks", "_main", "active", "bus", "ended", "keeps",
        "limit", "numbers", "path", "plan", "pool", "skipped", "slots", "turns", "visits",
    )  # fmt: skip

    def __init__(
        self, plan: Plan, bus: Bus, limit: int | None, path: tuple[str, ...] = (), *, keeps: bool = False
    ) -> None:
        self.plan = plan
        self.bus = bus
        self.limit = limit
        self.path = path
        if not path:
            bus.graph_name = plan.name
        self.keeps = keeps
        self.turns = 0
        self.numbers = 0
        self.visits = [0] * len(plan.nodes)
        self.ended: list[tuple[Task, Hop]] = []
        self.slots: dict[SlotKey, Slot] = {}
        self.skipped: list[Task] = []
        self.pool: Pool = {}
        self.active = 0
        self._branches: dict[asyncio.Task[None], Task | None] = {}
        self._error: BaseException | None = None
        self._idle: asyncio.Future[None] | None = None
        self._locks: dict[int, asyncio.Lock] = {}
        self._main: Task | None = None
        outer = current_frame()
        self._context = {} if outer is None else {
            key: value for key, value in outer.message().items() if key not in ("node_name", "call_id")
        }  # fmt: skip

    async def execute(self, start: Record) -> Record | None:
        """Run from the start until no branch is left.

        Returns:
            The record of everything that reached the end, in edge order; None if nothing did.

        Raises:
            NodeError: A node failed. Parallel nodes were cancelled.
        """
        try:
            await self._follow(await self._begin(start))
        except BaseException as error:
            if not isinstance(error, Exception):  # stopped from outside: the node under way is not at fault
                self._unfinished(self._main, STOPPED)
            raise
        finally:
            await self._cancel_branches()
        if self._error is not None:
            raise self._error
        return self.result()

    async def _begin(self, start: Record) -> list[Task]:
        """The tasks that it begins with."""
        return await self._go_on(Task(self.plan.start, (start,), (), -1, "", None, True), start)

    def result(self) -> Record | None:
        """What has reached the end by now, merged in edge order."""
        if not self.ended:
            return None
        try:
            return records.joined(self.plan.schema, [hop.record for _, hop in in_edge_order(self.ended)])
        except EvonbError as error:
            error.where = error.where or self.place("the end, where the branches are joined")
            raise

    # --- branches ------------------------------------------------------------------------

    async def _follow(self, ready: Sequence[Task]) -> None:
        if len(ready) == 1:
            self.active = 1
            await self._branch(ready[0])
            self.active -= 1
        else:
            self._spawn(ready)
        if self.active and self._error is None:
            self._idle = asyncio.get_running_loop().create_future()
            await self._idle

    async def _branch(self, task: Task) -> None:
        """Perform a task and what follows from it; in the run's own task up to the first fork, else to the end."""
        mine = asyncio.current_task()
        main = mine not in self._branches
        turn_limit = self.limit
        while True:
            if turn_limit is not None and self.turns >= turn_limit:
                self.skipped.append(task)
                if self.bus.on:
                    telling().skipped(self, task, f"the limit of {turn_limit} node calls was met")
                return
            self.turns += 1
            if main:
                self._main = task
            else:
                self._branches[mine] = task  # type: ignore[index]
            if not self.turns % _BREATHE:
                await asyncio.sleep(0)
            try:
                record = await self.perform(task)
            except Exception:
                self._branches.pop(mine, None)  # type: ignore[arg-type]  # told as failed: it isn't skipped as well
                raise
            if main:
                self._main = None
            else:
                self._branches[mine] = None  # type: ignore[index]  # finished: cancelling the branch skips nothing
                if mine.cancelling():  # type: ignore[union-attr]  # the node swallowed it; nothing may follow
                    raise asyncio.CancelledError
            node = task.node
            if node.next is not None and not self.bus.on and not self.keeps:
                task = Task(node.next, (record,), (task,), node.next_edge, "", task.place, False)
                self._number(task)
                continue
            ready = await self._go_on(task, record)
            if not ready:
                return
            if main and len(ready) > 1:
                self._spawn(ready)
                return
            if len(ready) > 1:
                self._spawn(ready[1:])
            task = ready[0]

    def _spawn(self, tasks: Sequence[Task]) -> None:
        loop = asyncio.get_running_loop()
        self.active += len(tasks)
        for task in tasks:
            branch = loop.create_task(self._branch(task))
            self._branches[branch] = task
            branch.add_done_callback(self._branch_done)

    def _branch_done(self, branch: asyncio.Task[None]) -> None:
        task = self._branches.pop(branch, None)
        self.active -= 1
        error = asyncio.CancelledError() if branch.cancelled() else branch.exception()
        if error is not None and not isinstance(error, Exception):
            failed = isinstance(self._error, Exception)
            self._unfinished(task, "stopped, because another node failed" if failed else STOPPED)
        if error is not None and self._error is None:
            self._error = error
        if self._idle is not None and not self._idle.done() and (self._error is not None or not self.active):
            self._idle.set_result(None)

    async def _cancel_branches(self) -> None:
        """Cancel what still runs and wait until it has ended, so that no task outlives its run."""
        left = set(self._branches)
        if not left:
            return
        for branch in left:
            branch.cancel()
        try:
            await asyncio.wait(left, timeout=_GRACE_S)
        finally:
            for branch in left:  # what won't be cancelled
                self._unfinished(self._branches.get(branch), STOPPED)

    def _unfinished(self, task: Task | None, reason: str) -> None:
        """Tell that a task, running or queued, won't finish."""
        if task is not None and self.bus.on:
            telling().skipped(self, task, reason)

    # --- one task --------------------------------------------------------------------------

    async def perform(self, task: Task) -> Record:
        """Execute one node and take in its answer.

        Raises:
            NodeError: The node failed, or its answer doesn't fit the state.
        """
        node, plan, bus = task.node, self.plan, self.bus
        schema = plan.schema
        before = task.inputs[0] if len(task.inputs) == 1 and node.joins is None else self.joined(task)
        values = before.values
        if values is None:
            values = records.values_of(schema, before)
        began = 0.0
        if bus.on:
            began = time.perf_counter()
            telling().started(self, task, values)
        fields = {"node_name": node.name, **self._context} if self._context else {"node_name": node.name}
        token = enter(Frame(fields, bus, self.path, node))
        node.activity.count += 1
        try:
            if node.quick and self.active <= 1 and (node.is_async or not (bus.live or node.run_in == "thread")):
                state = schema.hand_out(values, self.pool, node.reads)
                delta: Any = node.call(state)
                if node.is_async or (delta.__class__ is not dict and hasattr(delta, "__await__")):
                    delta = await delta
                if delta is None:
                    warn_of_changes(schema, node.name, values, state)
                state = None  # so that its parts can be lent again
            else:
                delta = await self._call(task, before)
            cleaned, updates = schema.absorb(values, delta, node.name)
        except asyncio.CancelledError as error:
            if asyncio.current_task().cancelling():  # type: ignore[union-attr]
                raise
            # Nobody cancelled the run: something that the node awaited was cancelled.
            raise self.failed(task, error, before, began) from error
        except (Exception, SystemExit) as error:  # sys.exit() in a node must not end the kernel
            made = self.failed(task, error, before, began)
            if made is error:  # a node of a sub-graph failed, and its error has a cause already
                raise
            raise made from _cause(error)
        except KeyboardInterrupt as error:
            if not self.keeps:
                raise
            # In a session a node runs in a task, and what is no exception would end the loop and the kernel with it.
            raise self.failed(task, error, before, began) from error
        finally:
            node.activity.count -= 1
            try:  # suppress() would cost more than the rest of this block
                leave(token)
            except ValueError:  # closed by the garbage collector, in a context that isn't its own
                del token
        delta = None
        after = records.after(before, cleaned, updates, keep=task.shared or self.keeps)
        if bus.on:
            telling().finished(self, task, cleaned, began)
        return after

    def joined(self, task: Task) -> Record:
        """The record that a task starts from: its input, or its branches joined."""
        node = task.node
        strategy = node.joins[task.group].strategy if node.joins is not None else None
        who = f"Merge strategy of node {node.name!r}" if strategy is not None else f"Join before node {node.name!r}"
        try:
            return records.merged(self.plan.schema, list(task.inputs), strategy, who)
        except Exception as error:
            raise self.failed(task, error, task.inputs[0], subject=who, function=strategy) from error

    def _threaded(self, node: NodePlan) -> bool:
        """Whether a sync node must leave the loop to others."""
        if node.is_async or node.run_in == "loop":
            return False
        return node.run_in == "thread" or node.timeout is not None or self.bus.live or self.active > 1

    async def _call(self, task: Task, before: Record) -> Any:
        node = task.node
        if self.active <= 1 or task.place is not None:
            return await self._call_alone(task, before)
        # The documented lock: one execution of a node at a time within a run, unless a router mapped it.
        async with self._locks.setdefault(node.index, asyncio.Lock()):
            return await self._call_alone(task, before)

    async def _call_alone(self, task: Task, before: Record) -> Any:
        node, schema = task.node, self.plan.schema
        if node.subgraph is not None:
            return await node.subgraph.run_nested(self.nested(task), records.values_of(schema, before))

        state: Any = None
        values = records.values_of(schema, before)

        def make_state() -> Any:
            nonlocal state
            state = schema.hand_out(values, self.pool, node.reads)
            return state

        delta = await call_node(node, make_state, threaded=self._threaded(node))
        if delta is None:
            warn_of_changes(schema, node.name, values, state)
        return delta

    def nested(self, task: Task) -> Run:
        """The run of a task whose node is a sub-graph."""
        engine = task.node.subgraph
        assert engine is not None
        return Run(engine._plan, self.bus, engine.max_turn, (*self.path, task.node.name))

    def root(self, values: Values) -> Record:
        """The record that it begins with, as a sub-graph's run."""
        return records.root(self.plan.schema, values, borrow=True)

    def task_id(self, task: Task) -> TaskId:
        """The id of a task in events."""
        return self.bus.task_id(task.number, self.path)

    def failed(
        self,
        task: Task,
        error: BaseException,
        before: Record,
        began: float = 0.0,
        *,
        subject: str = "",
        function: Any = None,
    ) -> Exception:
        """The error to raise, and told already, for what came out of a node, or of the join or strategy before it."""
        node = task.node
        if isinstance(error, NodeError) and hasattr(error, "info") and node.subgraph is not None:
            made: NodeError = error  # it names the inner node already
        else:
            made = self.error_of(task, error, before, self.place(visit_of(task)), subject=subject, function=function)
        if self.bus.on:
            telling().failed(self, task, made, began)
        return made

    def error_of(
        self, task: Task, error: BaseException, before: Record, where: str, *, subject: str = "", function: Any = None
    ) -> NodeError:
        """The error to raise for what came out of a task, its router or a filter behind it."""
        node, schema = task.node, self.plan.schema
        return node_error(
            error,
            node=node.name,
            graph=self.plan.name,
            visit=task.visit,
            inputs=schema.view(records.values_of(schema, before)),
            where=where,
            path=self.path,
            keys=schema.fields,
            subject=subject,
            function=function or node.function,
            timeout_s=node.timeout if isinstance(error, TookTooLong) else None,
        )

    def place(self, *inside: str) -> str:
        """ "graph 'outer' > node 'inner' > ..."."""
        return " > ".join([f"graph {self.bus.graph_name!r}", *(f"node {name!r}" for name in self.path), *inside])

    # --- what follows ------------------------------------------------------------------------

    async def _go_on(self, task: Task, record: Record) -> list[Task]:
        """Ask routers and filters, decide, and note what became ready."""
        hops = await hops_of(self, task, record)
        outcome = decide(self.slots, task, hops)
        for key, slot in outcome.slots.items():
            if slot is None:
                self.slots.pop(key, None)
            else:
                self.slots[key] = slot
        self.ended.extend((task, hop) for hop in outcome.ended)
        for each in outcome.ready:
            self._number(each)
        if self.bus.on:
            telling().went_on(self, task, hops, outcome)
        return outcome.ready

    def _number(self, task: Task) -> None:
        self.numbers += 1
        task.number = self.numbers
        index = task.node.index
        self.visits[index] += 1
        task.visit = self.visits[index]


def telling() -> ModuleType:
    """The module that makes events, loaded when somebody first listens."""
    from evonb.graph import telling as module

    return module


def _cause(error: BaseException) -> BaseException | None:
    """The user's own exception."""
    if isinstance(error, TookTooLong):
        return None
    return error
