"""Warnings of runs: each run gives its own, once, at the user's line; changes in place that are lost are told."""

from __future__ import annotations

import asyncio
import warnings
from typing import Annotated, Any, NotRequired, TypedDict

import pytest
from pydantic import BaseModel, ConfigDict

from evonb.graph import END, START, GraphBuilder, GraphEngine, GraphWarning, events, node
from evonb.typing import StateMessage, UserMessage


class Inner(TypedDict):
    x: int
    tags: list[str]


class State(TypedDict):
    n: int
    log: Annotated[list[str], "extend"]
    plan: dict[str, Any]
    inner: Inner
    messages: Annotated[list[StateMessage], "append_messages"]
    late: NotRequired[str]


class Model(BaseModel):
    model_config = ConfigDict(extra="allow")
    n: int = 0
    log: Annotated[list[str], "extend"] = []


class Busy(BaseModel):
    n: int = 0

    def model_post_init(self, context: Any) -> None:
        self.n += 1


INPUTS: dict[str, Any] = {"n": 1, "plan": {"a": {"deep": [1]}}, "messages": [UserMessage(content="hi")]}


def told(body: Any, schema: Any = State, *, runs: int = 1, inputs: Any = INPUTS, **options: Any) -> list[Any]:
    """The warnings under Python's usual filters."""
    with GraphBuilder(schema, name="g") as graph:
        a = node(body, name="a", **options)
        START >> a >> END
    engine = graph.build()
    with warnings.catch_warnings(record=True) as caught:
        warnings.resetwarnings()
        warnings.simplefilter("default")
        for _ in range(runs):
            asyncio.run(engine.run(inputs))
    return [each for each in caught if each.category is GraphWarning]


def misspelling(state: Any) -> dict[str, Any]:
    return {"lgo": ["x"]}


def test_every_run_warns_of_an_unknown_key_at_the_line_of_the_node() -> None:
    found = told(misspelling, runs=3)
    assert [str(each.message) for each in found] == [
        "Node 'a': The state has no key 'lgo'; it has 'log'. The value is ignored"
    ] * 3
    assert {(each.filename, each.lineno) for each in found} == {(__file__, misspelling.__code__.co_firstlineno)}


def test_a_node_in_a_loop_warns_once_per_run() -> None:
    with GraphBuilder(State, name="g") as graph:
        a = node(misspelling, name="a")
        START >> a >> a
        a >> END
    engine = graph.build(max_turn=50)
    with pytest.warns(GraphWarning) as caught:
        engine.run_sync({})
    assert len([each for each in caught if "lgo" in str(each.message)]) == 1


def test_an_unknown_input_warns_at_the_users_line_in_every_run() -> None:
    found = told(lambda state: {}, runs=2, inputs={"nn": 1})
    assert [str(each.message) for each in found] == [
        "The inputs: The state has no key 'nn'; it has 'n'. The value is ignored"
    ] * 2
    assert {each.filename for each in found} == {__file__}


def test_no_warning_is_placed_in_a_line_of_the_package() -> None:
    async def in_background() -> None:
        handle = graph.build().start({"nn": 1})
        await handle

    with GraphBuilder(State, name="g") as graph:
        START >> node(lambda state: {}, name="a") >> END
    with pytest.warns(GraphWarning) as caught:
        asyncio.run(in_background())
    assert "evonb/graph" not in caught[0].filename


# --- changes in place -----------------------------------------------------------------------------------


def sets(state: Any) -> None:
    state["n"] += 1


def appends(state: Any) -> None:
    state["log"].append("x")


def digs(state: Any) -> None:
    state["plan"]["a"]["deep"].append(2)


def adds(state: Any) -> None:
    state["other"] = 1


def drops(state: Any) -> None:
    del state["plan"]


def fills(state: Any) -> None:
    state["inner"]["tags"].append("x")


def says(state: Any) -> None:
    state["messages"].append(UserMessage(content="ho"))


@pytest.mark.parametrize(
    ("body", "key"),
    [
        (sets, "n"), (appends, "log"), (digs, "plan"), (adds, "other"), (drops, "plan"), (fills, "inner"),
        (says, "messages"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("options", [{}, {"timeout": 5}, {"run_in": "thread"}])
def test_a_change_in_place_that_is_lost_is_told_in_every_run(body: Any, key: str, options: Any) -> None:
    found = told(body, runs=2, **options)
    assert len(found) == 2
    assert f"Node 'a' changed '{key}' in the state that it was handed and returned nothing" in str(found[0].message)
    assert (found[0].filename, found[0].lineno) == (__file__, body.__code__.co_firstlineno)


async def appends_later(state: Any) -> None:
    await asyncio.sleep(0)
    state["log"].append("x")


def test_async_nodes_are_told_too() -> None:
    assert len(told(appends_later)) == 1


def test_fields_of_a_model_are_told_too() -> None:
    def sets_field(state: Model) -> None:
        state.n = 7

    (found,) = told(sets_field, Model, inputs={"n": 1, "extra": [1]})
    assert "changed 'n'" in str(found.message)


def reads(state: Any) -> None:
    for key in state:
        repr(state[key])
    [message.content for message in state["messages"]]
    list(state["plan"]["a"]["deep"])
    sorted(state["log"])


def returns(state: Any) -> dict[str, Any]:
    state["log"].append("x")
    return {"log": state["log"]}


@pytest.mark.parametrize("body", [reads, returns, lambda state: None])
def test_a_node_that_only_reads_or_returns_is_told_nothing(body: Any) -> None:
    assert told(body) == []
    assert told(body, timeout=5) == []
    assert told(body, inputs={**INPUTS, "log": ["a"] * 500}) == []


def test_what_a_model_does_with_itself_is_not_the_nodes_doing() -> None:
    assert told(lambda state: None, Busy, inputs={"n": 1}) == []
    assert told(lambda state: None, Model, inputs={"extra": [1]}) == []


# --- as events ------------------------------------------------------------------------------------------


def noted(engine: GraphEngine, inputs: Any = INPUTS) -> tuple[list[tuple[Any, ...]], list[str]]:
    """Path, node and text of each note, and the kinds of all events."""
    seen: list[events.Event] = []
    detach = engine.attach(seen.append)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        engine.run_sync(inputs)
    detach()
    notes = [(each.path, each.node, each.text) for each in seen if isinstance(each, events.NodeNoted)]
    return notes, [type(each).__name__ for each in seen]


def one_node(body: Any) -> GraphEngine:
    with GraphBuilder(State, name="g") as graph:
        START >> node(body, name="a") >> END
    return graph.build()


def test_an_unknown_key_is_noted_on_its_node_before_the_node_ends() -> None:
    notes, kinds = noted(one_node(misspelling))
    assert notes == [((), "a", "Node 'a': The state has no key 'lgo'; it has 'log'. The value is ignored")]
    assert kinds[kinds.index("NodeNoted") - 1 :][:3] == ["NodeStarted", "NodeNoted", "NodeFinished"]


@pytest.mark.parametrize("options", [{}, {"timeout": 5}])
def test_a_change_in_place_is_noted_on_its_node(options: Any) -> None:
    with GraphBuilder(State, name="g") as graph:
        START >> node(appends, name="a", **options) >> END
    ((path, name, text),) = noted(graph.build())[0]
    assert (path, name) == ((), "a")
    assert text.startswith("Node 'a' changed 'log'")


def test_every_visit_is_noted_though_the_run_warns_once() -> None:
    with GraphBuilder(State, name="g") as graph:
        a = node(misspelling, name="a")
        START >> a >> a
        a >> END
    notes, kinds = noted(graph.build(max_turn=3), {})
    assert len(notes) == kinds.count("NodeStarted") == 3


def test_a_note_in_a_sub_graph_says_where() -> None:
    engine = one_node(one_node(misspelling))
    assert [(path, name) for path, name, _ in noted(engine)[0]] == [(("a",), "a")]


def test_a_sub_graph_without_an_end_is_noted_on_its_node() -> None:
    with GraphBuilder(State, name="inner") as inner:
        START >> node(lambda state: None, name="x") >> node(lambda state: None, name="y") >> END
    notes, _ = noted(one_node(inner.build(max_turn=1)))
    assert [(path, name) for path, name, _ in notes] == [((), "a")]
    assert "nothing reached its end" in notes[0][2]


def test_a_debugged_node_is_noted_again_after_going_back() -> None:
    with GraphBuilder(State, name="g") as graph:
        START >> node(misspelling, name="a") >> END
    debugger = graph.build(graph_mode="debug")
    seen: list[events.Event] = []
    debugger.attach(seen.append)

    async def session() -> None:
        await debugger.debug({})
        debugger.goto(0)
        await debugger.resume()

    with pytest.warns(GraphWarning, match="lgo"):
        asyncio.run(session())
    assert [each.node for each in seen if isinstance(each, events.NodeNoted)] == ["a", "a"]


def test_what_is_wrong_with_the_inputs_is_noted_on_no_node() -> None:
    assert noted(one_node(lambda state: None), {"nn": 1})[0] == []


def test_a_node_that_is_warned_of_nothing_is_noted_nothing() -> None:
    assert noted(one_node(lambda state: {"n": 2}))[0] == []
