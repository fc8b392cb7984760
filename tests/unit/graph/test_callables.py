"""Whatever can be called can be a node, a router, a filter or a handler; what goes wrong in it names its place."""

from __future__ import annotations

import asyncio
import functools
from typing import Annotated, Any, TypedDict

import nbformat
import pytest
from nbclient import NotebookClient

from evonb.errors import GraphError, NodeError, RouterError
from evonb.graph import GraphBuilder, GraphWarning, RetryPolicy, StateUpdater, set_streaming_handler


class State(TypedDict):
    n: int
    log: Annotated[list, "extend"]


def engine_of(node: Any, **options: Any) -> Any:
    builder = GraphBuilder(State)
    builder.add_node("a", node, **options)
    builder.set_entry_point("a")
    return builder.build()


def run(engine: Any, inputs: dict[str, Any] | None = None) -> Any:
    return asyncio.run(engine.run(inputs or {"n": 1}))


class Methods:
    step = 10

    def method(self, state: Any) -> Any:
        return {"n": state["n"] + self.step}

    async def async_method(self, state: Any) -> Any:
        return {"n": state["n"] + self.step}

    @classmethod
    def of_class(cls, state: Any) -> Any:
        return {"n": state["n"] + cls.step}

    @staticmethod
    def static(state: Any) -> Any:
        return {"n": state["n"] + 10}


class Called:
    def __call__(self, state: Any) -> Any:
        return {"n": state["n"] + 10}


class CalledAsync:
    async def __call__(self, state: Any, *, stream_writer: Any) -> Any:
        stream_writer.put("chunk")
        return {"n": state["n"] + 10}


def added(state: Any, step: int) -> Any:
    return {"n": state["n"] + step}


async def added_async(state: Any, step: int) -> Any:
    return {"n": state["n"] + step}


def keyword_only(state: Any, *, stream_writer: Any) -> Any:
    stream_writer.put("chunk")
    return {"n": state["n"] + 10}


def decorated(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


@pytest.mark.parametrize(
    "node",
    [
        Methods().method,
        Methods().async_method,
        Methods.of_class,
        Methods.static,
        Called(),
        CalledAsync(),
        functools.partial(added, step=10),
        functools.partial(added_async, step=10),
        functools.partial(keyword_only),
        keyword_only,
        decorated(Methods().method),
        decorated(functools.partial(added_async, step=10)),
        decorated(keyword_only),
    ],
)
def test_anything_callable_is_a_node(node: Any) -> None:
    assert run(engine_of(node))["n"] == 11


@pytest.mark.parametrize("wrong", [None, 3, "name", {"n": 1}, object()])
def test_what_cannot_be_called_is_refused(wrong: Any) -> None:
    with pytest.raises(GraphError, match="must be callable"):
        engine_of(wrong)


@pytest.mark.parametrize("retry", [0, -1, True, "3", RetryPolicy(attempts=0)])
def test_a_retry_that_allows_no_execution_is_refused(retry: Any) -> None:
    with pytest.raises(GraphError, match="retry is"):
        engine_of(lambda state: None, retry=retry)


@pytest.mark.parametrize("timeout", [0, -1, "1", True])
def test_a_node_timeout_must_be_a_number_above_zero(timeout: Any) -> None:
    with pytest.raises(GraphError, match="timeout is"):
        engine_of(lambda state: None, timeout=timeout)


# --- routers and filters --------------------------------------------------------------------------


def routed(router: Any, targets: Any = ("b", "end"), **options: Any) -> Any:
    builder = GraphBuilder(State, name="routed")
    builder.add_node("a", lambda state: {"n": state["n"] + 1})
    builder.add_node("b", lambda state: {"log": ["b"]})
    builder.add_condition_edge("a", router, list(targets), **options)
    builder.set_entry_point("a")
    return builder.build()


class Router:
    async def __call__(self, state: Any) -> str:
        await asyncio.sleep(0)
        return "b"


async def async_router(state: Any) -> list[str]:
    await asyncio.sleep(0)
    return ["b"]


@pytest.mark.parametrize("router", [async_router, Router(), functools.partial(async_router), lambda state: "b"])
def test_routers_may_be_async_and_anything_callable(router: Any) -> None:
    assert run(routed(router))["log"] == ["b"]


def test_a_router_that_raises_fails_at_its_node_with_the_input_kept() -> None:
    def router(state: Any) -> str:
        raise LookupError("no way")

    with pytest.raises(NodeError) as caught:
        run(routed(router))
    error = caught.value
    assert isinstance(error.__cause__, LookupError)
    assert error.node_name == "a"
    assert "Router" in str(error)
    assert "no way" in str(error)
    assert error.inputs["n"] == 2  # type: ignore[index]


@pytest.mark.parametrize("answer", [None, 3, ["b", "nowhere"], ("b", "c"), object()])
def test_a_router_that_answers_something_else_names_what_it_may_answer(answer: Any) -> None:
    with pytest.raises(RouterError, match="isn't one of its targets: 'b', 'end'"):
        run(routed(lambda state: answer))


def test_a_filter_that_raises_fails_at_its_node() -> None:
    def state_filter(state: Any) -> Any:
        raise ValueError("no state")

    with pytest.raises(NodeError, match="no state") as caught:
        run(routed(lambda state: ("b", state_filter)))
    assert isinstance(caught.value.__cause__, ValueError)


# --- strategies --------------------------------------------------------------------------------------


def test_a_strategy_that_is_registered_after_build_changes_nothing_that_was_built() -> None:
    class Late(TypedDict):
        value: Annotated[int, "add"]

    builder = GraphBuilder(Late)
    builder.add_node("a", lambda state: {"value": 1})
    builder.set_entry_point("a")
    engine = builder.build()
    if not StateUpdater.registered("something_later"):
        StateUpdater.register("something_later")(lambda old, new: -1)
    Late.__annotations__["value"] = Annotated[int, "something_later"]
    assert run(engine, {"value": 1})["value"] == 2


# --- handlers ------------------------------------------------------------------------------------------


def test_a_run_ends_after_its_async_handler_has() -> None:
    got: list[Any] = []

    async def handler(message: dict[str, Any]) -> None:
        for _ in range(5):
            await asyncio.sleep(0)
        got.append(message["payload"])

    def node(state: Any, stream_writer: Any) -> None:
        for at in range(4):
            stream_writer.put(at)

    set_streaming_handler(handler)
    run(engine_of(node))
    assert got == [0, 1, 2, 3]
    set_streaming_handler(lambda message: None)


# --- sub-graphs --------------------------------------------------------------------------------------------


def test_a_sub_graph_that_runs_itself_ends_at_the_limit_of_python_with_its_place() -> None:
    builder = GraphBuilder(State, name="russian")
    holder: list[Any] = []

    async def again(state: Any) -> Any:
        return await holder[0].run({"n": state["n"] + 1})

    builder.add_node("again", again)
    builder.set_entry_point("again")
    holder.append(builder.build())
    with pytest.raises(NodeError, match="RecursionError") as caught:
        run(holder[0])
    assert caught.value.node_name == "again"


def test_a_graph_may_hold_itself_as_it_was_before() -> None:
    builder = GraphBuilder(State)
    builder.add_node("a", lambda state: {"log": ["a"]})
    builder.set_entry_point("a")
    inner = builder.build()
    builder.add_node("inner", inner)
    builder.add_edge("a", "inner")
    assert run(builder.build())["log"] == ["a", "a"]


def test_nested_sub_graphs_keep_their_own_limit() -> None:
    loop = GraphBuilder(State, name="loop")
    loop.add_node("turn", lambda state: {"n": state["n"] + 1})
    loop.add_condition_edge("turn", lambda state: "turn" if state["n"] < 100 else "end", ["turn", "end"])
    loop.set_entry_point("turn")
    outer = GraphBuilder(State, name="outer")
    outer.add_node("inner", loop.build(max_turn=3))
    outer.set_entry_point("inner")
    with pytest.warns(GraphWarning, match="nothing reached its end"):
        assert run(outer.build())["n"] == 1


# --- many runs -------------------------------------------------------------------------------------------------


def test_run_many_shows_its_progress_in_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    engine = engine_of(lambda state: {"n": 1 // state["n"]})
    results = asyncio.run(engine.run_many([{"n": 1}, {"n": 0}, {"n": 1}], progress=True))
    assert isinstance(results[1], NodeError)
    assert "3/3" in capsys.readouterr().err


CELL = """
from evonb.graph import GraphBuilder
builder = GraphBuilder(dict)
builder.add_node("a", lambda state: {"n": 1})
builder.set_entry_point("a")
results = await builder.build().run_many([{}, {}, {}], progress=True)
"""


def test_run_many_shows_its_progress_in_a_notebook() -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    widgets = notebook.metadata["widgets"]["application/vnd.jupyter.widget-state+json"]["state"].values()
    assert "3/3" in " ".join(str(widget["state"].get("value", "")) for widget in widgets)
