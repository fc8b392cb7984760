"""Whatever is done to what a node was handed, at any depth, nobody else ever sees it."""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import json
import pickle
from typing import Any, TypedDict

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from evonb.graph import GraphBuilder, StateCkpt
from evonb.graph.isolate import take, wrap


class Note(BaseModel):
    text: str = ""
    tags: list[Any] = []
    more: dict[str, Any] = {}


@dataclasses.dataclass
class Box:
    label: str
    items: list[Any]


ATOMS = st.none() | st.booleans() | st.integers(-5, 5) | st.text("abc", max_size=3) | st.binary(max_size=2)


def _nest(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text("xyz", min_size=1, max_size=2), inner, max_size=4)
        | st.sets(st.integers(0, 9), max_size=3)
        | st.builds(tuple, st.lists(inner, max_size=3))
        | st.builds(Note, text=st.text("n", max_size=2), tags=st.lists(inner, max_size=3))
        | st.builds(Box, label=st.text("b", max_size=2), items=st.lists(inner, max_size=3))
    )


VALUES = st.recursive(ATOMS, _nest, max_leaves=12)
JSON = st.recursive(
    st.none() | st.integers(-9, 9) | st.text("abc", max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("xyz", max_size=2), inner, max_size=4),
    max_leaves=12,
)


def vandalise(value: Any) -> None:
    """Change everything that can be changed, deepest first, by every means that Python offers."""
    for part in parts_of(value):
        vandalise(part)
    if isinstance(value, list):
        value.reverse()
        value.append("graffiti")
        value[0] = "graffiti"
        value += ["more"]
        value.insert(0, ["deep"])
        value.pop()
        del value[-1]
    elif isinstance(value, dict):
        value["graffiti"] = "graffiti"
        for key in list(value):
            value[key] = "graffiti"
        value.popitem()
        value.update(a=1)
    elif isinstance(value, set):
        value.add("graffiti")
        value.discard(1)
    elif isinstance(value, Note):
        value.text, value.tags, value.more = "graffiti", ["graffiti"], {"graffiti": 1}
    elif isinstance(value, Box):
        value.label, value.items = "graffiti", ["graffiti"]


def parts_of(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, dict):
        return [value[key] for key in value] + list(value.values()) + [item for _, item in value.items()]
    if isinstance(value, Note):
        return [value.tags, value.more]
    return [value.items] if isinstance(value, Box) else []


@given(VALUES)
def test_vandalising_a_copy_leaves_the_value_alone(value: Any) -> None:
    before = copy.deepcopy(value)
    vandalise(wrap(value))
    assert value == before


@given(VALUES)
def test_copies_know_nothing_of_each_other(value: Any) -> None:
    before = copy.deepcopy(value)
    first, second = wrap(value), wrap(value)
    vandalise(first)
    assert second == before


@given(VALUES)
def test_a_copy_equals_its_value_and_survives_copy_and_pickle(value: Any) -> None:
    mine = wrap(value)
    assert mine == value
    assert copy.copy(mine) == value
    assert copy.deepcopy(mine) == value
    assert pickle.loads(pickle.dumps(mine)) == value
    assert repr(mine) == repr(value)


@given(JSON)
def test_a_copy_is_written_as_json_as_its_value_is(value: Any) -> None:
    assert json.dumps(wrap(value)) == json.dumps(value)


@given(VALUES)
def test_what_comes_back_untouched_is_the_value_itself(value: Any) -> None:
    mine = wrap(value)
    parts_of(mine)
    back = take(mine)
    assert back == value
    if isinstance(value, list | dict | set):
        assert back is value


@given(VALUES)
def test_what_was_taken_in_is_out_of_reach(value: Any) -> None:
    before = copy.deepcopy(value)
    kept = take(value)
    vandalise(value)
    assert kept == before


@given(VALUES)
def test_a_changed_copy_is_taken_in_with_its_changes(value: Any) -> None:
    changed = copy.deepcopy(value)
    vandalise(changed)
    mine = wrap(value)
    vandalise(mine)
    kept = take(mine)
    assert kept == changed
    assert_plain(kept)


def assert_plain(value: Any) -> None:
    for kind in (list, dict, set):
        if isinstance(value, kind):
            assert type(value) is kind
    for part in parts_of(value):
        assert_plain(part)


class Held(TypedDict):
    value: Any
    other: Any


@settings(max_examples=60, deadline=None)
@given(VALUES, VALUES)
def test_a_node_can_change_neither_siblings_nor_history_nor_inputs(value: Any, other: Any) -> None:
    seen: dict[str, Any] = {}

    def vandal(state: Any) -> dict[str, Any]:
        for key in list(state):
            vandalise(state[key])
        state["value"] = "graffiti"
        state.pop("other")
        return {}

    def witness(name: str) -> Any:
        return lambda state: seen.update({name: copy.deepcopy(dict(state))})

    builder = GraphBuilder(Held)
    builder.add_node("first", lambda state: None)
    builder.add_node("vandal", vandal)
    builder.add_node("sibling", witness("sibling"))
    builder.add_node("after", witness("after"))
    for edge in (("first", "vandal"), ("first", "sibling"), ("vandal", "after")):
        builder.add_edge(*edge)
    builder.set_entry_point("first")
    inputs = {"value": value, "other": other}
    before = copy.deepcopy(inputs)
    result = asyncio.run(builder.build().run(inputs))
    assert inputs == before
    assert seen["sibling"] == before
    assert seen["after"] == before
    assert result == before


@given(VALUES, VALUES)
def test_a_materialised_checkpoint_is_a_copy(first: Any, second: Any) -> None:
    start = StateCkpt(delta={"value": first}, state_schema=Held)
    last = StateCkpt(delta={"other": second}, parent=start, state_schema=Held)
    before = copy.deepcopy(last.materialize())
    vandalise(last.materialize())
    assert last.materialize() == before
    assert start.materialize()["value"] == before["value"]
