"""Random graphs with sub-graphs in them under the debugger: a step inside is a step as any other."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypedDict

from hypothesis import given
from hypothesis import strategies as st

from evonb.errors import NodeError
from evonb.graph import GraphBuilder, GraphEngineDebugger
from evonb.graph.debugging.steps import Step


class State(TypedDict):
    log: Annotated[list, "extend"]
    total: Annotated[int, "add"]
    turn0: int
    turn1: int
    turn2: int


INPUTS = {"turn0": 0, "turn1": 0, "turn2": 0}


@dataclass(frozen=True)
class Graph:
    """Nodes that wait for all their predecessors; some are graphs; perhaps everything goes round twice.

    Attributes:
        size: How many nodes there are.
        edges: Between them, each to a later one.
        loops: Whether it goes round twice.
        inside: The nodes that are graphs.
        depth: How many graphs there may be in each other, which tells the state key that counts its rounds.
    """

    size: int
    edges: tuple[tuple[int, int], ...]
    loops: bool
    inside: tuple[tuple[int, Graph], ...]
    depth: int


@dataclass
class Calls:
    """What was called; `fails` are the calls, by count, that raise."""

    made: list[str] = field(default_factory=list)
    fails: frozenset[int] = frozenset()

    def worker(self, name: str, number: int) -> Callable[[Any], Awaitable[dict[str, Any]]]:
        async def body(state: Any) -> dict[str, Any]:
            self.made.append(name)
            if len(self.made) in self.fails:
                raise ValueError(name)
            await asyncio.sleep(0)
            return {"log": [name], "total": number}

        return body


@st.composite
def graphs(draw: st.DrawFn, depth: int = 2) -> Graph:
    size = draw(st.integers(1, 4))
    edges = [(draw(st.integers(0, target - 1)), target) for target in range(1, size)]
    pairs = [(one, two) for two in range(size) for one in range(two) if (one, two) not in edges]
    edges += draw(st.lists(st.sampled_from(pairs), max_size=3, unique=True)) if pairs else []
    inside: tuple[tuple[int, Graph], ...] = ()
    if depth:
        nodes = draw(st.lists(st.integers(0, size - 1), min_size=1 if depth == 2 else 0, max_size=2, unique=True))
        inside = tuple((node, draw(graphs(depth - 1))) for node in nodes)
    return Graph(size, tuple(edges), draw(st.booleans()), inside, depth)


def builder_of(graph: Graph, calls: Calls, name: str = "") -> GraphBuilder:
    builder = GraphBuilder(State)
    subgraphs = dict(graph.inside)
    for number in range(graph.size):
        called = f"{name}{number}"
        inner = subgraphs.get(number)
        node: Any = calls.worker(called, number) if inner is None else builder_of(inner, calls, called).build()
        builder.add_node(f"n{number}", node, action_mode="all" if number else "any")
    builder.add_node("last", calls.worker(f"{name}last", 0), action_mode="all")
    # It is even at the end, so a graph that comes again begins as the first time.
    key, step = f"turn{graph.depth}", 1 if graph.loops else 2
    builder.add_node("turn", lambda state: {key: state[key] + step})
    for source, target in graph.edges:
        builder.add_edge(f"n{source}", f"n{target}")
    for number in range(graph.size):
        if all(source != number for source, _ in graph.edges):
            builder.add_edge(f"n{number}", "last")
    builder.add_edge("last", "turn")
    builder.add_condition_edge("turn", lambda state: "n0" if state[key] % 2 else "end", ["n0", "end"])
    builder.set_entry_point("n0")
    return builder


def debugging(graph: Graph, calls: Calls, path: str = ":memory:") -> GraphEngineDebugger:
    engine = builder_of(graph, calls).build(graph_mode="debug", db_file_path=path)
    assert isinstance(engine, GraphEngineDebugger)
    return engine


def undisturbed(graph: Graph) -> tuple[Any, int]:
    """The end of a run that nobody stops, and how many calls it took."""
    calls = Calls()
    return builder_of(graph, calls).build().run_sync(INPUTS), len(calls.made)


async def wander(engine: GraphEngineDebugger, data: st.DataObject, most: int = 8) -> None:
    """Step waves, single tasks, into sub-graphs and out of them."""
    for _ in range(data.draw(st.integers(0, most))):
        ready = [each.uuid for each in engine.waiting() if each.can_run]
        if not ready:
            return
        move = data.draw(st.sampled_from(["into", "into", "over", "wave", "out"]))
        if move == "into" and not engine.allowed()["step_into"]:
            await engine.step_into(data.draw(st.sampled_from(ready)))
        elif move == "out" and not engine.allowed()["step_out"]:
            await engine.step_out()
        else:
            await engine.step_over(None if move == "wave" else data.draw(st.sampled_from(ready)))


def shown(engine: GraphEngineDebugger) -> Any:
    """What there is to see here, but for ids."""
    waiting = [
        (each.node_name, each.can_run, each.arrived, each.missing, each.visit, engine.state(uuid=each.uuid))
        if each.can_run
        else (each.node_name, each.can_run, each.arrived, each.missing)
        for each in engine.waiting()
    ]
    return engine.state(), sorted(waiting, key=repr)


def tasks(steps: list[Step]) -> list[Step]:
    """The steps in which one of the nodes that count their calls was called."""
    nodes = [(step, step.node.rpartition(" › ")[2]) for step in steps if step.status == "done"]
    owners = {step.node for step in steps if step.status == "entered"}
    return [step for step, name in nodes if name not in ("turn", "end") and step.node not in owners]


async def paused(graph: Graph, calls: Calls, data: st.DataObject, path: str = ":memory:") -> GraphEngineDebugger:
    """A session that was stepped to somewhere."""
    engine = debugging(graph, calls, path)
    engine.set_breakpoint("n0")
    await engine.debug(INPUTS)
    engine.clear_all_breakpoint()
    await wander(engine, data)
    return engine


@given(st.data())
def test_resumed_anywhere_equals_never_stopped(data: st.DataObject) -> None:
    graph = data.draw(graphs())
    end, count = undisturbed(graph)

    async def scene() -> None:
        calls = Calls()
        engine = await paused(graph, calls, data)
        assert await engine.resume() == end
        assert len(calls.made) == count
        assert len(tasks(engine.history(inside=True))) == count

    asyncio.run(scene())


@given(st.data())
def test_gone_on_from_any_step_only_what_follows_is_called(data: st.DataObject) -> None:
    graph = data.draw(graphs())
    end, count = undisturbed(graph)

    async def scene() -> None:
        calls = Calls()
        engine = await paused(graph, calls, data)
        await engine.resume()
        line = engine.history(inside=True)
        calls.made.clear()
        at = data.draw(st.integers(0, len(line) - 1))
        engine.goto(line[at])
        before = shown(engine)
        assert calls.made == []
        await wander(engine, data, 3)
        assert await engine.resume() == end
        assert len(calls.made) == count - len(tasks(line[: at + 1]))
        assert len(tasks(engine.history(inside=True))) == count
        made = len(calls.made)
        engine.goto(line[at])
        assert shown(engine) == before
        assert len(calls.made) == made

    asyncio.run(scene())


@given(st.data())
def test_step_back_then_over_gives_the_same_checkpoint(data: st.DataObject) -> None:
    graph = data.draw(graphs())
    end, _ = undisturbed(graph)

    async def scene() -> None:
        calls = Calls()
        engine = await paused(graph, calls, data)
        if data.draw(st.booleans()):
            await engine.resume()
        done = [step for step in engine.history(inside=True) if step.status == "done" and step.inner]
        if not done:
            return
        step = data.draw(st.sampled_from(done))
        engine.goto(step)
        there, made = shown(engine), len(calls.made)
        engine.step_back()
        assert len(calls.made) == made
        if any(each.uuid == step.uuid for each in engine.waiting()):  # else it is of a sub-graph whose end this is
            await engine.step_over(step.uuid)
            line = engine.history(inside=True)
            again = next(each for each in reversed(line) if each.uuid == step.uuid and each.status == "done")
            assert (again.node, again.visit, again.wrote, again.wave) == (step.node, step.visit, step.wrote, step.wave)
            if again is line[-1]:  # else it was the last one inside, and the sub-graph has finished by it
                assert shown(engine) == there
        assert await engine.resume() == end

    asyncio.run(scene())


@given(st.data())
def test_going_back_and_forward_again_is_the_identity(data: st.DataObject) -> None:
    graph = data.draw(graphs())

    async def scene() -> None:
        calls = Calls()
        engine = await paused(graph, calls, data)
        before, line, made = shown(engine), engine.history(inside=True), len(calls.made)
        count = 0
        limit = data.draw(st.integers(0, len(line)))
        while count < limit and not engine.allowed()["step_back"]:
            engine.step_back()
            count += 1
        for _ in range(count):
            engine.step_forward()
        assert shown(engine) == before
        assert engine.history(inside=True) == line
        assert engine.looking_at is None
        assert len(calls.made) == made

    asyncio.run(scene())


@given(st.data())
def test_undoing_an_edit_inside_and_making_it_again_are_exact(data: st.DataObject) -> None:
    graph = data.draw(graphs())

    async def scene() -> None:
        calls = Calls()
        engine = await paused(graph, calls, data)
        inside = [each.uuid for each in engine.waiting() if each.can_run and "›" in each.node_name]
        if not inside:
            return
        uuid = data.draw(st.sampled_from(inside))
        before, made = shown(engine), len(calls.made)
        key, value = data.draw(st.sampled_from([("log", ["x"]), ("total", 9)]))
        engine.edit(key, value, uuid)
        after = shown(engine)
        assert engine.state(uuid=uuid)[key] == value
        engine.restore_step()
        assert shown(engine) == before
        engine.edit(key, value, uuid)
        assert shown(engine) == after
        assert len(calls.made) == made

    asyncio.run(scene())


@given(st.data())
def test_a_session_opened_elsewhere_is_the_same_session(data: st.DataObject) -> None:
    graph = data.draw(graphs())
    end, count = undisturbed(graph)

    async def scene(path: str) -> None:
        calls = Calls()
        engine = await paused(graph, calls, data, path)
        if data.draw(st.booleans()) and engine.history(inside=True):
            engine.restore_step()
            await wander(engine, data, 2)
        run_id, line = str(engine.run_id), engine.history(inside=True)
        there = engine.waiting(), engine.status, engine.branches(), shown(engine)
        engine.reset()
        engine.store.close()
        again = GraphEngineDebugger.open(path, run_id, graph=builder_of(graph, calls))
        assert sorted(again.waiting(), key=repr) == sorted(there[0], key=repr)
        assert again.status == there[1]
        if data.draw(st.booleans()):
            assert again.history(inside=True) == line
            assert again.branches() == there[2]
        assert shown(again) == there[3]
        made = len(calls.made)
        assert await again.resume() == end
        assert len(calls.made) == made + count - len(tasks(line))
        assert len(tasks(again.history(inside=True))) == count
        again.store.close()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(scene(str(Path(folder) / "runs.db")))


@given(st.data())
def test_failures_inside_cost_only_the_nodes_that_failed_or_ran(data: st.DataObject) -> None:
    graph = data.draw(graphs())
    end, count = undisturbed(graph)
    fails = data.draw(st.frozensets(st.integers(1, count), max_size=3))

    async def scene() -> None:
        calls = Calls(fails=fails)
        engine = debugging(graph, calls)
        result, tries = None, 0
        while result is None:
            try:
                result = await (engine.resume() if tries else engine.debug(INPUTS))
            except NodeError:
                tries += 1
        assert result == end
        assert len(tasks(engine.history(inside=True))) == count
        assert tries <= len(fails)

    asyncio.run(scene())
