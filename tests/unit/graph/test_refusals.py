"""What can't be a graph, a node or an input is refused where it is said, with one error for one fault."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypedDict

import pytest

from evonb.errors import EvonbError, GraphError, StateError
from evonb.graph import END, START, GraphBuilder, GraphEngine, node
from evonb.graph.failure import describe


class State(TypedDict):
    n: int


def one(state: State) -> None: ...


def block(**options: Any) -> GraphBuilder:
    with GraphBuilder(State, name="g") as graph:
        a = node(one, **options)
        START >> a >> END
    return graph


def engine() -> GraphEngine:
    return block().build()


@pytest.mark.parametrize("name", ["start", "end"])
def test_a_reserved_name_is_called_reserved(name: str) -> None:
    with pytest.raises(GraphError) as caught:
        block(name=name)
    assert caught.value.what == f"The node name {name!r} is reserved"
    assert caught.value.fix == "Choose another: @node(name=...)"


def test_a_wrong_option_is_the_only_fault_and_a_near_one_is_offered() -> None:
    with pytest.raises(GraphError) as caught:
        block(action_mode="al")
    assert caught.value.what == "action_mode is 'al', expected one of 'any', 'all'"
    assert caught.value.fix == "action_mode='all'"


def test_a_plain_class_is_no_schema_and_told_what_to_inherit() -> None:
    class Plain:
        n: int

    with pytest.raises(StateError, match="Class 'Plain' is a plain class") as caught:
        GraphBuilder(Plain)
    assert caught.value.fix == "write class Plain(TypedDict): ..."


@pytest.mark.parametrize("name", ["", 5, None])
def test_a_name_that_is_no_text_is_refused_with_place_and_fix(name: Any) -> None:
    with pytest.raises(GraphError, match="A node name must be a text") as caught:
        GraphBuilder(State, name="g").add_node(name, one)
    assert (caught.value.where, caught.value.fix) == ("graph 'g'", 'add_node("name", function)')


# --- functions that can't take a state ------------------------------------------------------------------


def none() -> None: ...


def two(state: State, other: Any) -> None: ...


async def streams(state: State, *, stream_writer: Any) -> None: ...


def anything(*args: Any, **kwargs: Any) -> None: ...


def add_as_node(function: Any) -> None:
    GraphBuilder(State).add_node("a", function)


def add_as_router(function: Any) -> None:
    builder = GraphBuilder(State)
    builder.add_node("a", one)
    builder.add_condition_edge("a", function, ["end"])


def add_as_filter(function: Any) -> None:
    builder = GraphBuilder(State)
    builder.add_node("a", one)
    builder.add_edge("a", "end", state_filter=function)


@pytest.mark.parametrize("function", [none, two, lambda: None])
@pytest.mark.parametrize("add", [add_as_node, add_as_router, add_as_filter])
def test_a_function_that_does_not_take_the_state_alone_is_refused(add: Callable[[Any], None], function: Any) -> None:
    with pytest.raises(GraphError, match="is called with the state alone"):
        add(function)


@pytest.mark.parametrize("function", [one, streams, anything, print, dict])
def test_functions_that_take_the_state_are_nodes(function: Any) -> None:
    add_as_node(function)


def test_a_block_refuses_a_node_without_a_parameter() -> None:
    with pytest.raises(GraphError, match=r"none\(\) -> '?None'? can't be") as caught, GraphBuilder(State):
        START >> node(none) >> END
    assert caught.value.fix == "write def none(state): ..."


# --- inputs ---------------------------------------------------------------------------------------------


async def begin(inputs: Any) -> Any:
    return await engine().start(*inputs)


async def listened(inputs: Any) -> Any:
    made = engine()
    made.attach(lambda event: None)
    return await made.run(*inputs)


async def streamed(inputs: Any) -> Any:
    return [event async for event in engine().stream(*inputs)]


@pytest.mark.parametrize("inputs", [(5,), ([1],), ("n",)])
@pytest.mark.parametrize(
    ("run", "call"),
    [
        (lambda inputs: engine().run_sync(*inputs), "run"),
        (lambda inputs: asyncio.run(engine().run(*inputs)), "run"),
        (lambda inputs: asyncio.run(begin(inputs)), "start"),
        (lambda inputs: asyncio.run(listened(inputs)), "run"),
        (lambda inputs: asyncio.run(streamed(inputs)), "stream"),
    ],
)
def test_inputs_that_are_no_dict_are_refused_in_words(run: Callable[[Any], Any], call: str, inputs: Any) -> None:
    with pytest.raises(StateError, match="The inputs of a run are a dict of state keys, found") as caught:
        run(inputs)
    assert (caught.value.where, caught.value.fix) == (
        "graph 'g'",
        f"{call}({{'n': ...}}), or {call}({{}}) to begin with nothing",
    )


@pytest.mark.parametrize("run", [lambda: engine().run_sync(), lambda: asyncio.run(begin(()))])
def test_a_run_without_inputs_says_how_to_give_them(run: Callable[[], Any]) -> None:
    with pytest.raises(EvonbError, match="none were given"):
        run()


def test_two_lists_in_a_chain_are_told_what_python_can_do() -> None:
    lists: Any = [one], [one]
    with pytest.raises(TypeError) as caught:
        lists[0] >> lists[1]
    assert "write [a, b] >> c and [a, b] >> d" in describe(caught.value).fix
