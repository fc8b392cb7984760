"""Runs that are stopped from outside: every task ends once, and the end comes soon."""

from __future__ import annotations

import asyncio
import random
import sys
import threading
from typing import Annotated, Any, TypedDict

import pytest

from evonb.errors import NodeError
from evonb.graph import END, START, GraphBuilder, GraphEngine, events, node, router
from evonb.graph.debugger import GraphEngineDebugger
from evonb.graph.decide import Task, in_edge_order


class State(TypedDict):
    n: int
    log: Annotated[list[str], "extend"]


class Gates:
    """Nodes that say that they run, and then wait for ever."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.all_run = asyncio.Event()
        self.running = 0

    async def stay(self, state: Any) -> None:
        self.running += 1
        if self.running == self.count:
            self.all_run.set()
        await asyncio.Event().wait()


def unfinished(seen: list[events.Event]) -> list[str]:
    """Tasks that began or were queued and never ended, or ended twice."""
    begun = {e.task_id for e in seen if isinstance(e, events.NodeQueued | events.NodeStarted)}
    ended = [e.task_id for e in seen if isinstance(e, events.NodeFinished | events.NodeFailed | events.NodeSkipped)]
    return [task for task in begun if ended.count(task) != 1]


def skipped(seen: list[events.Event]) -> list[tuple[tuple[str, ...], str, str]]:
    return [(each.path, each.node, each.reason) for each in seen if isinstance(each, events.NodeSkipped)]


async def stop_when_all_run(engine: GraphEngine, gates: Gates) -> list[events.Event]:
    seen: list[events.Event] = []
    engine.attach(seen.append)
    handle = engine.start({"n": 0})
    await asyncio.wait_for(gates.all_run.wait(), 10)
    handle.stop()
    assert await handle is None
    return seen


@pytest.mark.asyncio
async def test_stopping_tells_the_only_running_node_as_skipped() -> None:
    gates = Gates(1)
    with GraphBuilder(State) as graph:
        START >> node(gates.stay, name="stay") >> END
    seen = await stop_when_all_run(graph.build(), gates)
    assert skipped(seen) == [((), "stay", "stopped with the run")]
    assert unfinished(seen) == []
    assert isinstance(seen[-1], events.RunFinished)


@pytest.mark.asyncio
async def test_stopping_tells_every_branch_as_skipped_before_the_end() -> None:
    gates = Gates(3)
    with GraphBuilder(State) as graph:
        START >> [node(gates.stay, name=name) for name in "abc"] >> END
    seen = await stop_when_all_run(graph.build(), gates)
    assert sorted(each[1] for each in skipped(seen)) == ["a", "b", "c"]
    assert {each[2] for each in skipped(seen)} == {"stopped with the run"}
    assert unfinished(seen) == []
    assert isinstance(seen[-1], events.RunFinished)


@pytest.mark.asyncio
async def test_stopping_tells_the_nodes_inside_of_sub_graphs_too() -> None:
    gates = Gates(2)
    with GraphBuilder(State, name="inner") as inner:
        START >> [node(gates.stay, name=name) for name in "ab"] >> END
    with GraphBuilder(State) as outer:
        START >> node(inner.build(), name="sub") >> END
    seen = await stop_when_all_run(outer.build(), gates)
    assert sorted(each[:2] for each in skipped(seen)) == [((), "sub"), (("sub",), "a"), (("sub",), "b")]
    assert unfinished(seen) == []


@pytest.mark.asyncio
async def test_a_queued_task_of_a_stopped_run_is_skipped_too() -> None:
    seen: list[events.Event] = []
    with GraphBuilder(State) as graph:

        @node
        async def quick(state: State) -> dict[str, Any]:
            if state["n"] == 500:
                run.cancel()  # takes effect where the loop next breathes, with the next task queued
            return {"n": state["n"] + 1}

        START >> quick >> quick
        quick >> END
    engine = graph.build(max_turn=2000)
    engine.attach(seen.append)
    run = asyncio.ensure_future(engine.run({"n": 0}))
    await asyncio.wait((run,))
    assert run.cancelled()
    assert unfinished(seen) == []


@pytest.mark.asyncio
async def test_a_node_that_swallows_its_cancellation_leaves_nothing_behind() -> None:
    ran: list[str] = []
    gates = Gates(1)
    with GraphBuilder(State) as graph:

        @node
        async def stubborn(state: State) -> None:
            try:
                await gates.stay(state)
            except asyncio.CancelledError:
                ran.append("stubborn")

        async def after(state: State) -> None:
            await asyncio.Event().wait()

        async def bad(state: State) -> None:
            await gates.all_run.wait()
            raise ValueError("no")

        START >> [stubborn, node(bad, name="bad")]
        stubborn >> [node(after, name="b"), node(after, name="c")] >> END
    before = asyncio.all_tasks()
    with pytest.raises(NodeError):
        await graph.build().run({"n": 0})
    assert ran == ["stubborn"]
    assert asyncio.all_tasks() == before


@pytest.mark.asyncio
async def test_siblings_of_a_failing_node_say_why_they_stopped() -> None:
    gates = Gates(1)
    seen: list[events.Event] = []
    with GraphBuilder(State) as graph:

        @node
        async def bad(state: State) -> None:
            await gates.all_run.wait()
            raise ValueError("no")

        START >> [bad, node(gates.stay, name="slow")] >> END
    engine = graph.build()
    engine.attach(seen.append)
    with pytest.raises(NodeError):
        await engine.run({"n": 0})
    assert skipped(seen) == [((), "slow", "stopped, because another node failed")]
    assert unfinished(seen) == []


@pytest.mark.asyncio
async def test_stopping_a_debug_session_tells_what_ran_and_what_waited() -> None:
    gates = Gates(1)
    seen: list[events.Event] = []
    with GraphBuilder(State) as graph:

        @node
        def held(state: State) -> None: ...

        START >> [node(gates.stay, name="stay"), held] >> END
    debugger = graph.build(graph_mode="debug")
    assert isinstance(debugger, GraphEngineDebugger)
    debugger.set_breakpoint("held")
    debugger.attach(seen.append)
    session = asyncio.ensure_future(debugger.debug({"n": 0}))
    await asyncio.wait_for(gates.all_run.wait(), 10)
    debugger.stop()
    await asyncio.wait_for(session, 10)
    assert sorted(each[1] for each in skipped(seen)) == ["held", "stay"]
    assert unfinished(seen) == []


# --- many ends ------------------------------------------------------------------------------------


def rounds(max_turn: int) -> GraphEngine:
    """A loop that reaches the end in every round."""
    with GraphBuilder(State) as graph:

        @node
        async def a(state: State) -> dict[str, Any]:
            return {"n": state["n"] + 1}

        @router({"go": "a", "stop": END})
        def again(state: State) -> list[str]:
            return ["go", "stop"]

        START >> a >> again
    return graph.build(max_turn=max_turn)


def lines_run(engine: GraphEngine) -> int:
    count = 0

    def trace(frame: Any, event: str, arg: Any) -> Any:
        nonlocal count
        count += 1
        return trace

    def work() -> None:
        sys.settrace(trace)
        asyncio.run(engine.run({"n": 0}))

    worker = threading.Thread(target=work)
    worker.start()
    worker.join()
    return count


def test_a_loop_that_ends_each_round_costs_the_same_per_round() -> None:
    few, many = lines_run(rounds(100)), lines_run(rounds(400))
    assert many < 5 * few


@pytest.mark.asyncio
async def test_a_loop_that_ends_each_round_can_be_cancelled() -> None:
    ran = asyncio.ensure_future(rounds(1_000_000).run({"n": 0}))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(ran, 0.2)
    assert ran.cancelled()


def order_of(task: Task) -> tuple[tuple[int, int], ...]:
    """The key that the order of ends is defined by: every step from the start."""
    steps = [(task.edge, -1 if task.place is None else task.place[1])]
    while task.parents:
        task = task.parents[0]
        steps.append((task.edge, -1 if task.place is None else task.place[1]))
    return tuple(reversed(steps))


def test_ends_are_ordered_by_the_edges_that_led_there() -> None:
    class Edge:
        def __init__(self, index: int) -> None:
            self.index = index

    class Hop:
        def __init__(self, index: int) -> None:
            self.edge = Edge(index)

    rng = random.Random(3)
    for _ in range(60):
        tasks = [Task(None, (), (), -1, "", None, True)]  # type: ignore[arg-type]
        for _ in range(rng.randrange(1, 60)):
            place = None if rng.random() < 0.7 else (None, rng.randrange(3))
            tasks.append(Task(None, (), (rng.choice(tasks),), rng.randrange(4), "", place, True))  # type: ignore[arg-type]
        ended: Any = [(task, Hop(rng.randrange(3))) for task in rng.sample(tasks, rng.randrange(len(tasks)) + 1)]
        wanted = sorted(ended, key=lambda each: (each[1].edge.index, order_of(each[0])))
        assert in_edge_order(ended) == wanted
