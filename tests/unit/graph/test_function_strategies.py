"""Functions as update strategies: `Annotated[int, operator.add]`."""

from __future__ import annotations

import functools
import operator
from typing import Annotated, Any, TypedDict

import pytest
from annotated_types import Predicate
from pydantic import BaseModel, Field

from evonb.errors import StateError
from evonb.graph import END, START, GraphBuilder, node


def add(old: int, new: int) -> int:
    return old + new


class Adder:
    def __call__(self, old: int, new: int) -> int:
        return old + new


class Typed(TypedDict):
    n: Annotated[int, operator.add]
    log: Annotated[list[str], operator.add]


class Model(BaseModel):
    n: Annotated[int, operator.add, Field(le=100)] = 0
    log: Annotated[list[str], operator.add] = []


def graph_of(schema: Any, *deltas: dict[str, Any]) -> GraphBuilder:
    """All deltas side by side."""
    with GraphBuilder(schema) as graph:
        START >> [node(lambda state, delta=d: delta, name=f"d{at}") for at, d in enumerate(deltas)] >> END
    return graph


def schema_with(strategy: Any) -> Any:
    return TypedDict("Made", {"n": Annotated[int, strategy]})  # type: ignore[operator]


@pytest.mark.parametrize("schema", [Typed, Model])
def test_a_function_in_the_annotation_takes_deltas_in(schema: Any) -> None:
    graph = graph_of(schema, {"n": 1, "log": ["a"]}, {"n": 2, "log": ["b"]})
    state = graph.build().run_sync({"n": 5, "log": ["start"]})
    found = state if isinstance(state, dict) else state.model_dump()
    assert found == {"n": 8, "log": ["start", "a", "b"]}


@pytest.mark.parametrize(
    "strategy", [add, Adder(), functools.partial(add), lambda old, new: old + new, int.__add__, Adder().__call__]
)
def test_any_callable_of_two_arguments_will_do(strategy: Any) -> None:
    assert graph_of(schema_with(strategy), {"n": 1}).build().run_sync({"n": 5}) == {"n": 6}


def test_c_functions_without_a_signature_will_do() -> None:
    assert graph_of(schema_with(max), {"n": 1}).build().run_sync({"n": 5}) == {"n": 5}


def test_a_key_of_a_dict_may_have_a_function_too() -> None:
    class Counts(TypedDict):
        counts: dict[str, Annotated[int, operator.add]]

    graph = graph_of(Counts, {"counts": {"a": 1}}, {"counts": {"a": 2, "b": 1}})
    assert graph.build().run_sync({}) == {"counts": {"a": 3, "b": 1}}


def test_a_nested_typed_dict_may_have_a_function_too() -> None:
    class Outer(TypedDict):
        inner: Typed

    graph = graph_of(Outer, {"inner": {"n": 1}}, {"inner": {"n": 2}})
    assert graph.build().run_sync({})["inner"]["n"] == 3


@pytest.mark.parametrize("strategy", [lambda old: old, lambda: 0, int, print.__class__])
def test_what_cannot_be_called_with_old_and_new_is_one_error(strategy: Any) -> None:
    with pytest.raises(StateError, match=r"State key 'n' has .* can't be called with two arguments") as caught:
        graph_of(schema_with(strategy), {"n": 1}).build()
    assert caught.value.where == "state key 'n'"


def test_two_strategies_are_one_error() -> None:
    class Two(TypedDict):
        n: Annotated[int, "add", operator.add]

    with pytest.raises(StateError, match=r"State key 'n' has several update strategies: 'add', 'add\(\)'"):
        graph_of(Two, {"n": 1}).build()


def test_constraints_of_pydantic_are_no_strategies() -> None:
    even = Predicate(lambda number: number % 2 == 0)
    assert graph_of(schema_with(even), {"n": 2}).build().run_sync({"n": 4}) == {"n": 2}


def test_functions_travel_with_a_saved_graph() -> None:
    with GraphBuilder(Typed) as graph:
        START >> node(one) >> END
    again = GraphBuilder.loads(graph.dumps())
    assert again.build().run_sync({"n": 5}) == {"n": 6, "log": []}


def one(state: Any) -> dict[str, int]:
    return {"n": 1}


def test_an_unimportable_schema_travels_with_its_functions() -> None:
    graph = GraphBuilder(schema_with(operator.add))
    graph.add_node("one", one)
    graph.set_entry_point("one")
    assert GraphBuilder.loads(graph.dumps()).build().run_sync({"n": 5}) == {"n": 6}
