"""Errors as data: what, where, fix, source lines, the user's frames."""

from __future__ import annotations

import pickle
from typing import Any, TypedDict

import pytest
from pydantic import BaseModel

from evonb.errors import NodeError
from evonb.graph import GraphBuilder
from evonb.graph.events import ErrorInfo
from evonb.graph.failure import describe, ordinal


class State(TypedDict):
    score: int


class Model(BaseModel):
    score: int = 0


def failure(body: Any, schema: Any = State, name: str = "judge") -> NodeError:
    builder = GraphBuilder(schema, name="triage")
    builder.add_node(name, body)
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


def test_a_node_error_survives_pickling() -> None:
    error = pickle.loads(pickle.dumps(failure(lambda state: 1 / 0)))
    assert (error.node_name, error.info.kind) == ("judge", "ZeroDivisionError")


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
