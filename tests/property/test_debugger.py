"""Random graphs under the debugger: stopping anywhere changes nothing, and every way back is exact."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypedDict

from hypothesis import given
from hypothesis import strategies as st

from evonb.graph import GraphBuilder, GraphEngineDebugger
from evonb.typing import AssistantMessage


class State(TypedDict):
    messages: Annotated[list, "append_messages"]
    log: Annotated[list, "extend"]
    total: Annotated[int, "add"]
    last: int


@dataclass(frozen=True)
class Graph:
    """Nodes 0..n-1 that wait for all their predecessors, and a loop around them that goes round `rounds` times."""

    size: int
    edges: tuple[tuple[int, int], ...]
    rounds: int


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    size = draw(st.integers(1, 6))
    edges = [(draw(st.integers(0, target - 1)), target) for target in range(1, size)]
    pairs = [(one, two) for two in range(size) for one in range(two) if (one, two) not in edges]
    edges += draw(st.lists(st.sampled_from(pairs), max_size=4, unique=True)) if pairs else []
    return Graph(size, tuple(edges), draw(st.integers(1, 3)))


def builder_of(graph: Graph) -> GraphBuilder:
    builder = GraphBuilder(State)
    for number in range(graph.size):
        builder.add_node(f"n{number}", worker(number), action_mode="all" if number else "any")
    builder.add_node("last", lambda state: {"last": state["last"] + 1}, action_mode="all")
    for source, target in graph.edges:
        builder.add_edge(f"n{source}", f"n{target}")
    sources = {source for source, _ in graph.edges}
    for number in range(graph.size):
        if number not in sources:
            builder.add_edge(f"n{number}", "last")
    rounds = graph.rounds
    builder.add_condition_edge("last", lambda state: "n0" if state["last"] < rounds else "end", ["n0", "end"])
    builder.set_entry_point("n0")
    return builder


def worker(number: int) -> Callable[[Any], Awaitable[dict[str, Any]]]:
    async def body(state: Any) -> dict[str, Any]:
        name = f"{number}.{state['last']}"
        message = AssistantMessage(content=name, msg_id=name)
        return {"log": [name], "total": number, "messages": [message]}

    return body


def debugging(graph: Graph, path: str = ":memory:") -> GraphEngineDebugger:
    engine = builder_of(graph).build(graph_mode="debug", db_file_path=path)
    assert isinstance(engine, GraphEngineDebugger)
    return engine


async def stopped_at(engine: GraphEngineDebugger, nodes: list[int]) -> None:
    for number in nodes:
        engine.set_breakpoint(f"n{number}")
    await engine.debug({"last": 0})


async def wander(engine: GraphEngineDebugger, data: st.DataObject, steps: int) -> None:
    """Step waves or single tasks."""
    for _ in range(steps):
        ready = [each.uuid for each in engine.waiting() if each.can_run]
        if not ready:
            return
        await engine.step_over(data.draw(st.sampled_from([None, *ready])))


async def to_the_end(engine: GraphEngineDebugger) -> Any:
    engine.clear_all_breakpoint()
    return await engine.resume()


def stops(graph: Graph) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, graph.size - 1), max_size=3, unique=True)


def shown(engine: GraphEngineDebugger) -> Any:
    ready = {each.uuid: engine.state(uuid=each.uuid) for each in engine.waiting() if each.can_run}
    return engine.state(), engine.waiting(), ready


@given(st.data())
def test_resumed_anywhere_equals_never_stopped(data: st.DataObject) -> None:
    graph = data.draw(graphs())

    async def scene() -> None:
        engine = debugging(graph)
        await stopped_at(engine, data.draw(stops(graph)))
        await wander(engine, data, data.draw(st.integers(0, 6)))
        assert await to_the_end(engine) == await builder_of(graph).build().run({"last": 0})

    asyncio.run(scene())


@given(st.data())
def test_step_back_then_over_gives_the_same_checkpoint(data: st.DataObject) -> None:
    graph = data.draw(graphs())

    async def scene() -> None:
        engine = debugging(graph)
        await engine.debug({"last": 0})
        number = data.draw(st.integers(1, len(engine.history())))
        engine.goto(number)
        step, there = engine.goto(number), shown(engine)
        engine.step_back()
        await engine.step_over(step.uuid)
        again = engine.history()[-1]
        assert (again.node, again.visit, again.wrote, again.wave) == (step.node, step.visit, step.wrote, step.wave)
        state, waiting, ready = shown(engine)
        assert state == there[0]
        assert [(each.node_name, each.arrived, each.visit) for each in waiting] == [
            (each.node_name, each.arrived, each.visit) for each in there[1]
        ]
        assert list(ready.values()) == list(there[2].values())
        assert await to_the_end(engine) == await builder_of(graph).build().run({"last": 0})

    asyncio.run(scene())


@given(st.data())
def test_going_back_and_forward_again_is_the_identity(data: st.DataObject) -> None:
    graph = data.draw(graphs())

    async def scene() -> None:
        engine = debugging(graph)
        await stopped_at(engine, data.draw(stops(graph)))
        await wander(engine, data, 2)
        before, line = shown(engine), engine.history()
        count = data.draw(st.integers(0, len(line)))
        engine.step_back(count)
        engine.step_forward(count)
        assert shown(engine) == before
        assert engine.history() == line
        assert len(engine.branches()) == 1

    asyncio.run(scene())


@given(st.data())
def test_undoing_an_edit_and_making_it_again_are_exact(data: st.DataObject) -> None:
    graph = data.draw(graphs())

    async def scene() -> None:
        engine = debugging(graph)
        await stopped_at(engine, [0])
        await wander(engine, data, data.draw(st.integers(0, 4)))
        ready = [each.uuid for each in engine.waiting() if each.can_run]
        if not ready:
            return
        uuid = data.draw(st.sampled_from(ready))
        before = shown(engine)
        key, value = data.draw(st.sampled_from([("last", 7), ("log", ["x"]), ("total", 9), ("messages", [])]))
        engine.edit(key, value, uuid)
        after = shown(engine)
        engine.restore_step()
        assert shown(engine) == before
        engine.edit(key, value, uuid)
        assert shown(engine) == after
        assert not engine.compare("main", "b2")

    asyncio.run(scene())


@given(st.data())
def test_a_branch_does_not_differ_from_itself(data: st.DataObject) -> None:
    graph = data.draw(graphs())

    async def scene() -> None:
        engine = debugging(graph)
        await engine.debug({"last": 0})
        engine.goto(data.draw(st.integers(0, len(engine.history()))))
        await engine.resume()
        for branch in engine.branches():
            assert not engine.compare(branch.id, branch.id)
        assert not engine.compare(0, engine.branches()[-1].id).state

    asyncio.run(scene())


@given(st.data())
def test_a_session_opened_elsewhere_is_the_same_session(data: st.DataObject) -> None:
    graph = data.draw(graphs())

    async def scene(path: str) -> None:
        engine = debugging(graph, path)
        await stopped_at(engine, data.draw(stops(graph)))
        await wander(engine, data, data.draw(st.integers(0, 5)))
        if data.draw(st.booleans()) and engine.history():
            engine.restore_step()
            await wander(engine, data, 1)
        engine.store.close()
        again = GraphEngineDebugger.open(path, str(engine.run_id), graph=builder_of(graph))
        assert again.waiting() == engine.waiting()
        assert again.status == engine.status
        assert shown(again) == shown(engine)
        if data.draw(st.booleans()):
            assert again.history() == engine.history()
            assert again.branches() == engine.branches()
        assert await to_the_end(again) == await builder_of(graph).build().run({"last": 0})
        again.store.close()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(scene(str(Path(folder) / "runs.db")))
