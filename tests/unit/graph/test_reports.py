"""What people ran into with other graph libraries, as they reported it, doesn't happen here."""

from __future__ import annotations

import asyncio
import random
import warnings
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

import pytest
from pydantic import BaseModel, Field

from evonb.errors import StateError
from evonb.graph import (
    GraphBuilder,
    GraphWarning,
    StateUpdater,
    StreamCtx,
    events,
    get_stream_writer,
    set_streaming_handler,
    stream_writer_env,
)
from evonb.typing import AssistantMessage, UserMessage

if TYPE_CHECKING:
    from decimal import Decimal


class State(TypedDict):
    log: Annotated[list, "extend"]
    messages: Annotated[list, "append_messages"]
    x: int


def logs(name: str) -> Any:
    return lambda state: {"log": [name]}


def built(nodes: dict[str, Any], edges: list[tuple[str, str]], schema: Any = State, join: str = "", **more: Any) -> Any:
    builder = GraphBuilder(schema)
    for name, node in nodes.items():
        builder.add_node(name, node, action_mode="all" if name == join else "any")
    for edge in edges:
        builder.add_edge(*edge)
    builder.set_entry_point(next(iter(nodes)))
    return builder.build(**more)


def run(engine: Any, inputs: dict[str, Any] | None = None) -> Any:
    return asyncio.run(engine.run(inputs or {}))


# --- a graph that was changed after build ------------------------------------------------------


def test_an_engine_says_once_that_its_builder_was_changed() -> None:
    builder = GraphBuilder(State)
    builder.add_node("a", logs("a"))
    builder.set_entry_point("a")
    engine = builder.build()
    run(engine)
    builder.add_node("b", logs("b"))
    builder.add_edge("a", "b")
    with pytest.warns(GraphWarning, match=r"runs as it was built; since then node 'b' was added.*builder\.build\(\)"):
        assert run(engine)["log"] == ["a"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(engine)
        assert run(builder.build())["log"] == ["a", "b"]


def test_an_edge_that_was_added_after_build_is_told_too() -> None:
    builder = GraphBuilder(State)
    for name in "ab":
        builder.add_node(name, logs(name))
    builder.set_entry_point("a")
    builder.add_edge("a", "b")
    engine = builder.build()
    builder.add_edge("a", "end")
    with pytest.warns(GraphWarning, match="edges were added"):
        run(engine)


# --- branches of different length ----------------------------------------------------------------

MEETING = [("a", "b"), ("a", "c"), ("b", "b2"), ("b2", "d"), ("c", "d")]


def test_a_meeting_node_runs_per_arrival_and_the_picture_says_so() -> None:
    engine = built({name: logs(name) for name in ("a", "b", "c", "b2", "d")}, MEETING)
    seen: list[events.Event] = []
    engine.attach(seen.append)
    run(engine)
    assert [event.node for event in seen if isinstance(event, events.NodeStarted)].count("d") == 2
    assert [(finding.code, finding.nodes) for finding in engine.topology().findings] == [("repeated_any", ("d",))]


def test_a_meeting_node_that_waits_for_all_runs_once() -> None:
    engine = built({name: logs(name) for name in ("a", "b", "c", "b2", "d")}, MEETING, join="d")
    assert run(engine)["log"] == ["a", "b", "b2", "c", "d"]
    assert engine.topology().findings == ()


# --- two branches that write -------------------------------------------------------------------------


def test_a_key_that_a_branch_hands_back_unchanged_does_not_undo_the_other_branch() -> None:
    nodes = {
        "a": lambda state: None,
        "whole": lambda state: dict(state),
        "one": lambda state: {"x": 5},
        "join": lambda state: None,
    }
    edges = [("a", "one"), ("a", "whole"), ("one", "join"), ("whole", "join")]
    assert run(built(nodes, edges, join="join"), {"x": 1})["x"] == 5


def test_two_branches_that_really_write_one_key_are_told_beforehand() -> None:
    def one(state: Any) -> Any:
        return {"x": 5}

    def two(state: Any) -> Any:
        return {"x": 6}

    nodes = {"a": lambda state: None, "one": one, "two": two, "join": lambda state: None}
    engine = built(nodes, [("a", "one"), ("a", "two"), ("one", "join"), ("two", "join")], join="join")
    (finding,) = [each for each in engine.check() if "'x'" in each.what]
    assert "'one'" in finding.what
    assert "'two'" in finding.what
    assert run(engine)["x"] == 6  # the last edge wins, always


def test_the_order_is_that_of_the_edges_whatever_finishes_first() -> None:
    async def body(state: Any, name: str) -> dict[str, Any]:
        for _ in range(random.randrange(5)):
            await asyncio.sleep(0)
        return {"log": [name]}

    def slow(name: str) -> Any:
        async def node(state: Any) -> dict[str, Any]:
            return await body(state, name)

        return node

    names = ["b", "c", "d", "e"]
    nodes = {"a": logs("a"), **{name: slow(name) for name in names}, "z": logs("z")}
    engine = built(nodes, [("a", name) for name in names] + [(name, "z") for name in names], join="z")
    assert {tuple(run(engine)["log"]) for _ in range(50)} == {("a", "b", "c", "d", "e", "z")}


# --- the loop limit ---------------------------------------------------------------------------------------


def test_at_the_limit_the_run_ends_with_its_reason_and_what_reached_the_end() -> None:
    nodes = {"a": logs("a"), "b": logs("b"), "c": logs("c"), "done": logs("done")}
    engine = built(nodes, [("a", "done"), ("a", "b"), ("b", "c"), ("c", "b")], max_turn=10)
    seen: list[events.Event] = []
    engine.attach(seen.append)
    assert run(engine)["log"] == ["a", "done"]
    ended = seen[-1]
    assert isinstance(ended, events.RunFinished)
    assert ended.reason == "max_turn"
    assert ended.message == "the limit of 10 node calls was met, in the cycle b > c > b"


# --- defaults and names --------------------------------------------------------------------------------------


def test_defaults_hold_where_there_is_a_strategy_and_factories_are_fresh() -> None:
    class Defaults(BaseModel):
        items: Annotated[list[str], "extend"] = ["x"]
        total: Annotated[int, "add"] = 5
        made: Annotated[list[str], "extend"] = Field(default_factory=lambda: ["made"])

    engine = built({"a": lambda state: {"items": ["y"], "total": 1, "made": ["more"]}}, [], Defaults)
    for _ in range(2):
        result = run(engine)
        assert (result.items, result.total, result.made) == (["x", "y"], 6, ["made", "more"])


def test_annotations_of_nodes_and_routers_that_cannot_be_resolved_do_no_harm() -> None:
    def node(state: Nowhere) -> Elsewhere:  # type: ignore[name-defined] # noqa: F821
        return {"log": ["node"]}

    def route(state: State) -> Decimal:
        return "end"  # type: ignore[return-value]

    builder = GraphBuilder(State)
    builder.add_node("node", node)
    builder.add_condition_edge("node", route, ["node", "end"])
    builder.set_entry_point("node")
    engine = builder.build()
    assert engine.check() == []
    assert run(engine)["log"] == ["node"]


def test_a_schema_annotation_that_cannot_be_resolved_is_named() -> None:
    class Guarded(TypedDict):
        price: Decimal

    with pytest.raises(StateError, match="'price' names 'Decimal'"):
        built({"a": lambda state: None}, [], Guarded)


# --- messages --------------------------------------------------------------------------------------------------


def test_each_message_comes_once_and_in_order() -> None:
    shared = AssistantMessage(content="shared", msg_id="s")
    nodes = {
        "a": lambda state: {"messages": [AssistantMessage(content="first")]},
        "whole": lambda state: {"messages": [*state["messages"], AssistantMessage(content="second")]},
        "b": lambda state: {"messages": [shared]},
        "c": lambda state: {"messages": [shared]},
        "join": lambda state: {"messages": state["messages"]},
    }
    edges = [("a", "whole"), ("whole", "b"), ("whole", "c"), ("b", "join"), ("c", "join")]
    result = run(built(nodes, edges, join="join"), {"messages": [UserMessage(content="hi")]})
    assert [message.content for message in result["messages"]] == ["hi", "first", "second", "shared"]
    assert all(message.msg_id for message in result["messages"])


def test_a_plain_concatenation_is_the_users_own_rule() -> None:
    if not StateUpdater.registered("plain_concat"):
        StateUpdater.register("plain_concat")(lambda old, new: old + new)

    class Concat(TypedDict):
        items: Annotated[list, "plain_concat"]

    engine = built({"a": lambda state: {"items": [2]}}, [], Concat)
    assert run(engine, {"items": [1]})["items"] == [1, 2]


# --- the writer in async code ----------------------------------------------------------------------------------------


def test_chunks_from_async_nodes_and_gathered_tools_name_both() -> None:
    got: list[dict[str, Any]] = []
    set_streaming_handler(got.append)

    async def tool(name: str) -> None:
        with stream_writer_env(StreamCtx(tool_name=name)):
            await asyncio.sleep(0)
            get_stream_writer().put(name)

    async def node(state: Any, stream_writer: Any) -> None:
        for at in range(3):
            stream_writer.put(at)
        await asyncio.gather(*(tool(f"t{at}") for at in range(3)))

    run(built({"talk": node}, []))
    assert [(each["payload"], each["node_name"], each.get("tool_name")) for each in got] == [
        (0, "talk", None), (1, "talk", None), (2, "talk", None),
        ("t0", "talk", "t0"), ("t1", "talk", "t1"), ("t2", "talk", "t2"),
    ]  # fmt: skip
