"""Errors as data: what, where, fix, source lines, the user's frames."""

from __future__ import annotations

import pickle
import threading
from typing import Any, TypedDict

import pytest
from pydantic import BaseModel

from evonb.errors import NodeError, RouterError
from evonb.graph import GraphBuilder, SyncNode
from evonb.graph.events import ErrorInfo
from evonb.graph.failure import describe, ordinal


class State(TypedDict):
    score: int


class Model(BaseModel):
    score: int = 0


def failure(body: Any, schema: Any = State, name: str = "judge", **options: Any) -> NodeError:
    builder = GraphBuilder(schema, name="triage")
    builder.add_node(name, body, **options)
    builder.set_entry_point(name)
    with pytest.raises(NodeError) as caught:
        builder.build().run_sync({"score": 3})
    return caught.value


def info_of(error: NodeError) -> ErrorInfo:
    info: ErrorInfo = error.info  # type: ignore[attr-defined]
    return info


def test_a_misspelt_key_is_explained_with_the_near_one() -> None:
    info = info_of(failure(lambda state: state["socre"]))
    assert (info.kind, info.what, info.fix) == (
        "KeyError",
        "The state has no key 'socre'; it has 'score'",
        "write 'score'",
    )


def test_a_misspelt_field_of_a_model_is_explained_too() -> None:
    info = info_of(failure(lambda state: state.socre, Model))
    assert info.what == "The state has no key 'socre'; it has 'score'"


def test_a_key_error_of_the_users_own_dict_is_left_alone() -> None:
    info = info_of(failure(lambda state: {}["score"]))
    assert info.what == "'score'"


def test_where_names_file_line_graph_node_and_visit() -> None:
    def body(state: Any) -> None:
        raise ValueError("bad")

    info = info_of(failure(body))
    line = body.__code__.co_firstlineno + 1
    assert info.where == f"test_failure.py:{line}, graph 'triage' > node 'judge', 1st visit"
    assert [text.strip() for _, text, here in info.source if here] == ['raise ValueError("bad")']
    assert next(number for number, _, here in info.source if here) == line


def test_the_traceback_holds_the_users_frames_only() -> None:
    def helper() -> None:
        raise ValueError("deep")

    info = info_of(failure(lambda state: helper()))
    assert "in helper" in info.traceback
    assert "evonb/graph" not in info.traceback


def test_the_error_carries_node_graph_visit_inputs_and_cause() -> None:
    def vandal(state: Any) -> None:
        state["score"] = "graffiti"
        raise ValueError("bad")

    error = failure(vandal)
    assert (error.node_name, error.graph_name, error.visit, error.inputs) == ("judge", "triage", 1, {"score": 3})
    assert isinstance(error.__cause__, ValueError)
    assert str(error).startswith("Node 'judge' failed: ValueError: bad\n  where: ")


def test_the_text_shows_the_marked_line_between_place_and_fix() -> None:
    def body(state: Any) -> None:
        raise ValueError("bad")

    lines = str(failure(body)).splitlines()
    line = body.__code__.co_firstlineno + 1
    assert lines[1].startswith(f"  where: test_failure.py:{line}, graph 'triage'")
    assert [each for each in lines if each.startswith("  > ")] == [f'  > {line:>4} |         raise ValueError("bad")']
    assert lines[-1] == "  fix:   see the marked line of the node"


def returns_text(state: Any) -> dict[str, Any]:
    return {"score": "text"}


def too_slow(state: Any) -> None:
    threading.Event().wait(5)


class Unfit(SyncNode):
    def __call__(self, state: Any) -> dict[str, Any]:
        return {"score": "text"}


@pytest.mark.parametrize(
    ("node", "function", "options"),
    [(returns_text, returns_text, {}), (Unfit(), Unfit.__call__, {}), (too_slow, too_slow, {"timeout": 0.01})],
)
def test_without_a_line_of_the_users_that_raised_the_nodes_def_is_marked(
    node: Any, function: Any, options: dict[str, Any]
) -> None:
    error = failure(node, **options)
    line = function.__code__.co_firstlineno
    assert error.where == f"test_failure.py:{line}, graph 'triage' > node 'judge', 1st visit"
    assert [number for number, _, hit in error.source if hit] == [line]


def test_a_routers_undeclared_answer_marks_the_router() -> None:
    def where_to(state: Any) -> str:
        return "nowhere"

    builder = GraphBuilder(State, name="triage")
    builder.add_node("a", lambda state: None)
    builder.add_condition_edge("a", where_to, ["end"])
    builder.set_entry_point("a")
    with pytest.raises(RouterError) as caught:
        builder.build().run_sync({})
    assert f"  > {where_to.__code__.co_firstlineno:>4} |     def where_to" in str(caught.value)


def test_code_without_source_is_named_but_no_marked_line_is_spoken_of() -> None:
    names: dict[str, Any] = {}
    exec("def made(state): return 1 / 0", names)
    error = failure(names["made"])
    assert error.where.startswith("<string>:1, graph 'triage'")
    assert "marked line" not in str(error)


def test_a_node_error_survives_pickling() -> None:
    error = pickle.loads(pickle.dumps(failure(lambda state: 1 / 0)))
    assert (error.node_name, error.info.kind) == ("judge", "ZeroDivisionError")
    assert error.source == error.info.source != ()


def test_an_object_of_another_thread_is_told_to_stay() -> None:
    import sqlite3

    connection = sqlite3.connect(":memory:")
    builder = GraphBuilder(State)
    builder.add_node("a", lambda state: connection.execute("select 1") and None, run_in="thread")
    builder.set_entry_point("a")
    import asyncio

    with pytest.raises(NodeError, match='run_in="loop"'):
        asyncio.run(builder.build().run({}))


def test_an_exception_that_cannot_print_itself_is_described() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("mute")

    info = info_of(failure(raising(Mute())))
    assert info.kind == "Mute"


def raising(error: Exception) -> Any:
    def body(state: Any) -> None:
        raise error

    return body


def test_describe_takes_any_exception() -> None:
    info = describe(ValueError("x"), where="here")
    assert (info.kind, info.what, info.where, info.source) == ("ValueError", "x", "here", ())


@pytest.mark.parametrize(
    ("number", "text"), [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (22, "22nd"), (113, "113th")]
)
def test_ordinals(number: int, text: str) -> None:
    assert ordinal(number) == text
