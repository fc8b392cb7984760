"""Random graphs: the same input gives the same state and the same ways, whatever finishes first."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

from hypothesis import given, settings
from hypothesis import strategies as st

from evonb.graph import GraphBuilder, GraphEngine, events
from evonb.typing import AssistantMessage


class State(TypedDict):
    messages: Annotated[list, "append_messages"]
    log: Annotated[list, "extend"]
    total: Annotated[int, "add"]
    top: Annotated[int, "max"]
    last: int


@dataclass(frozen=True)
class Dag:
    """Nodes 0..n-1; every node but 0 has a predecessor, and waits for all of them."""

    size: int
    edges: tuple[tuple[int, int], ...]


@st.composite
def dags(draw: st.DrawFn) -> Dag:
    size = draw(st.integers(1, 8))
    edges = [(draw(st.integers(0, target - 1)), target) for target in range(1, size)]
    pairs = [(one, two) for two in range(size) for one in range(two) if (one, two) not in edges]
    edges += draw(st.lists(st.sampled_from(pairs), max_size=6, unique=True)) if pairs else []
    return Dag(size, tuple(draw(st.permutations(edges))))


def build(dag: Dag, naps: list[int], **options: Any) -> GraphEngine:
    """Node i gives up the loop `naps[i]` times before it answers."""
    builder = GraphBuilder(State)
    for number in range(dag.size):
        builder.add_node(f"n{number}", worker(number, naps[number]), action_mode="all")
    for source, target in dag.edges:
        builder.add_edge(f"n{source}", f"n{target}")
    builder.set_entry_point("n0")
    return builder.build(**options)


def worker(number: int, naps: int) -> Callable[[Any], Any]:
    async def body(state: Any) -> dict[str, Any]:
        for _ in range(naps):
            await asyncio.sleep(0)
        message = AssistantMessage(content=str(number), msg_id=str(number))
        return {"log": [number], "total": 1, "top": number, "last": number, "messages": [message]}

    return body


def naps_for(dag: Dag) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, 6), min_size=dag.size, max_size=dag.size)


def run(engine: GraphEngine, inputs: dict[str, Any] | None = None) -> Any:
    return asyncio.run(engine.run(inputs or {}))


@settings(deadline=None)
@given(st.data())
def test_the_state_does_not_depend_on_what_finishes_first(data: st.DataObject) -> None:
    dag = data.draw(dags())
    first, second = (run(build(dag, data.draw(naps_for(dag)))) for _ in range(2))
    assert first == second
    assert sorted(first["log"]) == list(range(dag.size))
    assert first["total"] == dag.size
    assert [int(message.content) for message in first["messages"]] == first["log"]
    assert first["last"] == first["log"][-1]


@settings(deadline=None)
@given(st.data())
def test_the_ways_taken_do_not_depend_on_what_finishes_first(data: st.DataObject) -> None:
    dag = data.draw(dags())

    def ways() -> list[tuple[str, Any]]:
        seen: list[events.Event] = []
        engine = build(dag, data.draw(naps_for(dag)))
        engine.attach(seen.append)
        run(engine)
        assert [event.seq for event in seen] == list(range(len(seen)))
        edges = [("edge", event.edge_id) for event in seen if isinstance(event, events.EdgeTaken)]
        return sorted(edges + [("node", event.node) for event in seen if isinstance(event, events.NodeFinished)])

    assert ways() == ways()


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 9), max_size=3), min_size=2, max_size=5), st.data())
def test_a_join_is_the_sequential_replay_of_its_branches(branches: list[list[int]], data: st.DataObject) -> None:
    """Branches of any length join as if they had run one after the other, in the order of their edges."""
    builder = GraphBuilder(State)
    builder.add_node("fork", lambda state: {"log": ["fork"]})
    builder.add_node("join", lambda state: {"log": ["join"]}, action_mode="all")
    for at, steps in enumerate(branches):
        line = ["fork"]
        for number, value in enumerate([*steps, -1]):
            name = f"b{at}_{number}"
            builder.add_node(name, slow({"log": [value]}, data.draw(st.integers(0, 4))))
            builder.add_edge(line[-1], name)
            line.append(name)
        builder.add_edge(line[-1], "join")
    builder.set_entry_point("fork")
    expected = ["fork", *(value for steps in branches for value in [*steps, -1]), "join"]
    assert run(builder.build())["log"] == expected


def slow(delta: dict[str, Any], naps: int) -> Callable[[Any], Any]:
    async def body(state: Any) -> dict[str, Any]:
        for _ in range(naps):
            await asyncio.sleep(0)
        return delta

    return body


@settings(deadline=None)
@given(st.data())
def test_events_fold_to_the_state_that_the_run_returned(data: st.DataObject) -> None:
    dag = data.draw(dags())
    engine = build(dag, data.draw(naps_for(dag)))
    seen: list[events.Event] = []
    engine.attach(seen.append)
    result = run(engine, {"total": 3})
    (started,) = [event for event in seen if isinstance(event, events.RunStarted)]
    (ended,) = [event for event in seen if isinstance(event, events.RunFinished)]
    deltas = [event.delta for event in seen if isinstance(event, events.NodeFinished)]
    assert ended.state == result
    assert result["total"] == started.inputs["total"] + sum(delta["total"] for delta in deltas)
    assert result["top"] == max(delta["top"] for delta in deltas)
    assert sorted(result["log"]) == sorted(item for delta in deltas for item in delta["log"])


@settings(deadline=None)
@given(st.data())
def test_runs_of_one_engine_leak_nothing(data: st.DataObject) -> None:
    dag = data.draw(dags())
    engine = build(dag, data.draw(naps_for(dag)))

    async def several() -> list[Any]:
        return await asyncio.gather(*(engine.run({"total": start}) for start in (0, 100, 200)))

    one, two, three = asyncio.run(several())
    assert (two["total"] - one["total"], three["total"] - two["total"]) == (100, 100)
    assert one["log"] == two["log"] == three["log"] == run(engine)["log"]


@settings(deadline=None)
@given(st.data())
def test_a_cancelled_run_leaves_no_task(data: st.DataObject) -> None:
    dag = data.draw(dags())
    engine = build(dag, data.draw(naps_for(dag)))
    after = data.draw(st.integers(0, 12))

    async def main() -> None:
        work = asyncio.create_task(engine.run({}))
        for _ in range(after):
            await asyncio.sleep(0)
        work.cancel()
        await asyncio.wait((work,))
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_a_saved_graph_comes_back_the_same(data: st.DataObject) -> None:
    dag = data.draw(dags())
    naps = data.draw(naps_for(dag))
    builder = GraphBuilder(State, name="saved")
    for number in range(dag.size):
        builder.add_node(f"n{number}", worker(number, naps[number]), action_mode="all")
    for source, target in dag.edges:
        builder.add_edge(f"n{source}", f"n{target}")
    builder.set_entry_point("n0")
    loaded = GraphBuilder.loads(json.loads(json.dumps(builder.dumps())))
    mine, theirs = builder.build(), loaded.build()
    assert [edge.id for edge in mine.topology().edges] == [edge.id for edge in theirs.topology().edges]
    assert [(node.id, node.join) for node in mine.topology().nodes] == [
        (node.id, node.join) for node in theirs.topology().nodes
    ]
    assert run(mine) == run(theirs)


@settings(deadline=None, max_examples=30)
@given(st.data())
def test_debugging_gives_what_running_gives(data: st.DataObject) -> None:
    dag = data.draw(dags())
    naps = data.draw(naps_for(dag))
    stop = data.draw(st.integers(0, dag.size - 1))
    plain = run(build(dag, naps))
    engine: Any = build(dag, naps, graph_mode="debug")

    async def session() -> Any:
        engine.set_breakpoint(f"n{stop}")
        result = await engine.debug({})
        while result is None:
            result = await engine.step_over()
        return result

    assert asyncio.run(session()) == plain
    gc.collect()
