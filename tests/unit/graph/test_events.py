"""The stream of events: order, joins, failures, limits, sub-graphs, listeners."""

from __future__ import annotations

import asyncio
import threading
import warnings
from contextlib import suppress
from itertools import pairwise
from typing import Annotated, Any, TypedDict

import pytest

from evonb.errors import NodeError, RouterError
from evonb.graph import GraphBuilder, GraphEngine, GraphWarning, events, get_stream_writer


class State(TypedDict):
    log: Annotated[list, "extend"]
    n: int


def say(name: str) -> Any:
    return lambda state: {"log": [name]}


def build(
    nodes: dict[str, Any], edges: list[tuple[str, str]], joins: tuple[str, ...] = (), **options: Any
) -> GraphEngine:
    builder = GraphBuilder(State, name="g")
    for name, node in nodes.items():
        builder.add_node(name, node, action_mode="all" if name in joins else "any")
    for edge in edges:
        builder.add_edge(*edge)
    builder.set_entry_point(next(iter(nodes)))
    return builder.build(**options)


def record(engine: GraphEngine, inputs: dict[str, Any] | None = None) -> list[events.Event]:
    seen: list[events.Event] = []
    detach = engine.attach(seen.append)
    with suppress(NodeError, RouterError):
        asyncio.run(engine.run(inputs or {}))
    detach()
    return seen


def kinds(seen: list[events.Event]) -> list[str]:
    return [type(event).__name__ for event in seen]


def test_a_chain_tells_each_step_in_order() -> None:
    seen = record(build({"a": say("a"), "b": say("b")}, [("a", "b")]))
    assert kinds(seen) == [
        "RunStarted", "EdgeTaken", "NodeQueued", "NodeStarted", "NodeFinished",
        "EdgeTaken", "NodeQueued", "NodeStarted", "NodeFinished", "EdgeTaken", "RunFinished",
    ]  # fmt: skip
    assert [event.seq for event in seen] == list(range(11))
    assert len({event.run_id for event in seen}) == 1
    assert all(one.at_s <= two.at_s for one, two in pairwise(seen))
    edges = [event.edge_id for event in seen if isinstance(event, events.EdgeTaken)]
    assert edges == ["start>a", "a>b", "b>end"]


def test_a_node_is_queued_started_and_finished_as_one_task() -> None:
    seen = record(build({"a": say("a")}, []))
    of_node = [
        event for event in seen if isinstance(event, events.NodeQueued | events.NodeStarted | events.NodeFinished)
    ]
    assert len({event.task_id for event in of_node}) == 1
    assert [event.visit for event in of_node] == [1, 1, 1]


def test_edge_ids_are_those_of_the_topology() -> None:
    engine = build({"a": say("a"), "sub": build({"x": say("x"), "y": say("y")}, [("x", "y")])}, [("a", "sub")])
    known = {edge.id for edge in engine.topology().edges}
    taken = {event.edge_id for event in record(engine) if isinstance(event, events.EdgeTaken)}
    assert {edge for edge in taken if "start" not in edge and "end" not in edge} <= known
    assert "sub › x>y" in taken


def test_a_join_tells_who_is_missing_then_that_it_is_satisfied() -> None:
    engine = build({n: say(n) for n in "abcd"}, [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")], joins=("d",))
    seen = record(engine)
    (waiting,) = [event for event in seen if isinstance(event, events.NodeWaiting)]
    (satisfied,) = [event for event in seen if isinstance(event, events.JoinSatisfied)]
    assert set(waiting.arrived) | set(waiting.missing) == {"b", "c"}
    assert len(waiting.arrived) == 1
    assert satisfied.arrived == ("b", "c")


def test_a_starved_join_is_explained() -> None:
    builder = GraphBuilder(State, name="g")
    for name in "abc":
        builder.add_node(name, say(name))
    builder.add_node("d", say("d"), action_mode="all")
    builder.add_condition_edge("a", lambda state: "b", ["b", "c"])
    builder.add_edge("b", "d")
    builder.add_edge("c", "d")
    builder.set_entry_point("a")
    with pytest.warns(GraphWarning, match="router chooses only one"):
        engine = builder.build()
    with pytest.warns(GraphWarning, match="'d' got 'b' and waits for 'c': 'c' was never started"):
        seen = record(engine)
    (impossible,) = [event for event in seen if isinstance(event, events.JoinImpossible)]
    assert (impossible.node, impossible.arrived, impossible.missing) == ("d", ("b",), ("c",))
    ended = seen[-1]
    assert isinstance(ended, events.RunFinished)
    assert (ended.reason, ended.state) == ("starved", None)


def test_a_failure_skips_the_siblings_and_ends_the_stream() -> None:
    async def forever(state: Any) -> None:
        await asyncio.Event().wait()

    def bad(state: Any) -> None:
        raise KeyError("x")

    seen = record(build({"a": say("a"), "slow": forever, "bad": bad}, [("a", "slow"), ("a", "bad")]))
    assert kinds(seen)[-3:] == ["NodeFailed", "NodeSkipped", "RunFailed"]
    failed, skipped, ended = seen[-3:]
    assert isinstance(failed, events.NodeFailed)
    assert isinstance(skipped, events.NodeSkipped)
    assert isinstance(ended, events.RunFailed)
    assert (failed.node, skipped.node, ended.node) == ("bad", "slow", "bad")
    assert ended.error.kind == "KeyError"


def test_each_task_of_a_failing_run_ends_once() -> None:
    async def fail(state: State) -> None:
        finished.wait(5)  # holds the loop: the sibling's thread is done before its branch hears of it
        raise ValueError("no")

    def quick(state: State) -> dict[str, Any]:
        finished.set()
        return {"log": ["b"]}

    finished = threading.Event()
    engine = build(
        {"a": say("a"), "b": quick, "c": fail, "d": say("d")},
        [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")],
        joins=("d",),
    )
    seen: list[events.Event] = []
    engine.attach(seen.append)
    with pytest.raises(NodeError):
        engine.run_sync({})
    ended = [each.task_id for each in seen if isinstance(each, (events.NodeFinished, events.NodeFailed))]
    skipped = [each.task_id for each in seen if isinstance(each, events.NodeSkipped)]
    assert sorted([*ended, *skipped]) == sorted({each.task_id for each in seen if isinstance(each, events.NodeQueued)})


def test_the_turn_limit_ends_with_its_reason_and_the_cycle() -> None:
    engine = build({"a": say("a"), "b": say("b")}, [("a", "b"), ("b", "a"), ("a", "end")], max_turn=5)
    seen = record(engine)
    ended = seen[-1]
    assert isinstance(ended, events.RunFinished)
    assert ended.reason == "max_turn"
    assert "limit of 5 node calls" in ended.message
    assert "in the cycle" in ended.message
    assert ended.state["log"] == ["a", "b", "a", "b", "a"]
    assert "NodeSkipped" in kinds(seen)


def test_a_router_tells_what_it_chose() -> None:
    builder = GraphBuilder(State)
    builder.add_node("a", say("a"))
    builder.add_node("b", say("b"))
    builder.add_condition_edge("a", lambda state: ["b", "end"], ["b", "end"])
    builder.set_entry_point("a")
    (decided,) = [event for event in record(builder.build()) if isinstance(event, events.RouteDecided)]
    assert (decided.source, decided.chosen, decided.declared) == ("a", ("b", "end"), ("b", "end"))


def test_a_router_that_answers_an_undeclared_target_offers_a_near_name() -> None:
    builder = GraphBuilder(State)
    builder.add_node("a", say("a"))
    builder.add_node("billing", say("b"))
    builder.add_condition_edge("a", lambda state: "biling", ["billing"])
    builder.set_entry_point("a")
    engine = builder.build()
    with pytest.raises(RouterError, match="answer 'billing'"):
        engine.run_sync({})


def test_chunks_carry_the_node_and_the_call() -> None:
    def talk(state: Any, stream_writer: Any) -> None:
        stream_writer.put("x")

    (chunk,) = [event for event in record(build({"a": talk}, [])) if isinstance(event, events.Chunk)]
    assert (chunk.node, chunk.payload) == ("a", "x")
    assert chunk.call_id


def test_chunks_from_tasks_of_an_async_node_name_the_node() -> None:
    async def tool(number: int) -> None:
        await asyncio.sleep(0)
        get_stream_writer().put(number)

    async def body(state: Any) -> None:
        await asyncio.gather(*(tool(number) for number in range(3)))

    chunks = [event for event in record(build({"a": body}, [])) if isinstance(event, events.Chunk)]
    assert sorted(chunk.payload for chunk in chunks) == [0, 1, 2]
    assert {chunk.node for chunk in chunks} == {"a"}


def test_sub_graph_events_carry_their_path_in_the_stream_of_the_caller() -> None:
    inner = build({"x": say("x")}, [])
    seen = record(build({"sub": inner, "b": say("b")}, [("sub", "b")]))
    inside = [event for event in seen if event.path]
    assert {event.path for event in inside} == {("sub",)}
    assert "NodeFinished" in kinds(inside)
    assert kinds(seen).count("RunStarted") == 1


def test_a_failing_sub_graph_names_the_inner_node_and_fails_the_outer_one() -> None:
    engine = build({"sub": build({"x": lambda state: 1 / 0}, [])}, [])
    seen = record(engine)
    assert [event.node for event in seen if isinstance(event, events.NodeFailed)] == ["x", "sub"]
    ended = seen[-1]
    assert isinstance(ended, events.RunFailed)
    assert ended.node == "sub › x"
    with pytest.raises(NodeError, match="node 'x'"):
        engine.run_sync({})


# --- listeners --------------------------------------------------------------------------


def test_a_listener_that_raises_is_dropped_and_the_run_goes_on() -> None:
    engine = build({"a": say("a"), "b": say("b")}, [("a", "b")])
    calls: list[events.Event] = []

    def bad(event: events.Event) -> None:
        calls.append(event)
        raise RuntimeError("listener")

    engine.attach(bad)
    assert len(record(engine)) == 11
    assert len(calls) == 1


def test_detaching_ends_the_calls_and_may_be_repeated() -> None:
    engine = build({"a": say("a")}, [])
    seen: list[events.Event] = []
    detach = engine.attach(seen.append)
    detach()
    detach()
    engine.run_sync({})
    assert seen == []


def test_two_engines_and_two_runs_at_once_never_mix() -> None:
    engine = build({"a": say("a"), "b": say("b")}, [("a", "b")])
    other = build({"a": say("a")}, [])
    seen: list[events.Event] = []
    engine.attach(seen.append)

    async def main() -> None:
        await asyncio.gather(engine.run({}), engine.run({}), other.run({}))

    asyncio.run(main())
    runs = {event.run_id for event in seen}
    assert len(runs) == 2
    for run_id in runs:
        assert [event.seq for event in seen if event.run_id == run_id] == list(range(11))


def test_live_listeners_keep_the_loop_free_of_sync_nodes() -> None:
    where: list[int] = []
    engine = build({"a": lambda state: where.append(threading.get_ident())}, [])
    engine.run_sync({})
    detach = engine.attach(lambda event: None, live=True)
    asyncio.run(engine.run({}))
    detach()
    asyncio.run(engine.run({}))
    here = threading.get_ident()
    assert where[1] != here
    assert where[2] == here


def test_events_keep_their_values_when_a_node_changes_its_state() -> None:
    def vandal(state: Any) -> dict[str, Any]:
        state["log"].append("graffiti")
        return {"log": ["a"]}

    seen = record(build({"a": vandal}, []), {"log": ["first"]})
    (started,) = [event for event in seen if isinstance(event, events.NodeStarted)]
    assert started.inputs["log"] == ["first"]


def test_a_result_that_is_changed_leaves_the_events_alone() -> None:
    engine = build({"a": say("a")}, [])
    seen: list[events.Event] = []
    engine.attach(seen.append)
    engine.run_sync({})["log"].append("graffiti")
    assert isinstance(seen[-1], events.RunFinished)
    assert seen[-1].state["log"] == ["a"]


def test_nothing_is_said_when_nobody_listens(recwarn: pytest.WarningsRecorder) -> None:
    with warnings.catch_warnings():
        assert build({"a": say("a")}, []).run_sync({})["log"] == ["a"]
    assert not recwarn.list
