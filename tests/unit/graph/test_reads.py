"""What a node can see of its state is never more than `keys_read` says, and nothing is copied for it beyond that."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import suppress
from functools import partial
from itertools import pairwise
from typing import Any, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from evonb.graph import GraphBuilder
from evonb.graph.containers import ReadDict, ReadList
from evonb.graph.late import BIG, LateDict, LateList, late
from evonb.graph.reads import Reads, keys_read
from tests.unit.graph.functions_that_read import (
    ANYTHING,
    awaited,
    by_get,
    nested_value,
    nothing,
    plain,
    presence,
    returned,
    several,
)

NOTHING = "\0"


def keys(function: Any, at: int = 0) -> set[str] | None:
    found = keys_read(function.__code__, at)
    return None if found is None else set(found) - {NOTHING}


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (plain, {"count"}),
        (several, {"a", "b", "c"}),
        (by_get, {"a", "b", "c", "d"}),
        (presence, set()),
        (nothing, set()),
        (awaited, {"count"}),
        (nested_value, {"a"}),
    ],
)
def test_written_out_keys_are_all_that_is_read(function: Any, expected: set[str]) -> None:
    assert keys(function) == expected


@pytest.mark.parametrize("function", ANYTHING, ids=lambda function: function.__name__)
def test_any_other_use_means_everything(function: Any) -> None:
    assert keys(function) is None


def test_what_has_no_plain_code_means_everything() -> None:
    class Callable:
        def __call__(self, state: Any) -> Any:
            return state["a"]

    for function in (partial(plain), Callable(), len, type):
        assert Reads(function, None, ()).sees("payload")


def test_tracing_means_everything() -> None:
    reads = Reads(plain, None, ("count", "payload"))
    before = sys.gettrace()
    sys.settrace(lambda *_: None)
    try:
        assert reads.sees("payload")
    finally:
        sys.settrace(before)


def test_new_code_of_a_function_is_looked_at_anew() -> None:
    def node(state: Any) -> Any:
        return state["count"]

    reads = Reads(node, None, ("count", "payload"))
    assert not reads.sees("payload")
    node.__code__ = returned.__code__
    assert reads.sees("payload")


# --- random functions: what they do is what was foretold ---------------------------------------------


class Spy(dict[str, Any]):
    """Notes what is read of it."""

    def __init__(self, values: dict[str, Any]) -> None:
        super().__init__(values)
        self.read: set[str] = set()

    def __getitem__(self, key: str) -> Any:
        self.read.add(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        self.read.add(key)
        return super().get(key, default)

    def items(self) -> Any:
        self.read.update(self)
        return super().items()


LEAVES = st.sampled_from(
    ["state['a']", "state['b']", "state.get('a')", "state.get('c', x)", "state.get('b', [])", "'c' in state",
     "x", "1", "'a'", "state[x]", "state.get(x)", "len(dict(state.items()))",
     "(state if x else {'a': 1})['a']", "[state for state in 'ac']", "state.get('a' if x else 'b')"]
)  # fmt: skip
EXPRESSIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds("[{}, {}]".format, inner, inner),
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds("(lambda y: [y, {}])({})".format, inner, inner),
        st.builds("[{} for _ in range(2)]".format, inner),
        st.builds("f'{{{}}}'".format, st.just("x")),
        st.builds("({} and {})".format, inner, inner),
        st.builds("str({})".format, inner),
    ),
    max_leaves=6,
)
STATEMENTS = st.one_of(
    st.builds("y = {}".format, EXPRESSIONS),
    st.builds("x = str({})[:1]".format, EXPRESSIONS),
    st.builds("if {}: y = {}".format, EXPRESSIONS, EXPRESSIONS),
    st.just("state = Spy(dict(state.items()))"),
    st.builds("for x in ('a', 'c'): y = {}".format, EXPRESSIONS),
)


@given(st.lists(STATEMENTS, min_size=1, max_size=5))
def test_a_function_reads_no_more_than_was_foretold(statements: list[str]) -> None:
    text = "def node(state, x='a'):\n" + "".join(f"    {line}\n" for line in statements) + "    return y\n"
    place: dict[str, Any] = {"Spy": Spy, "y": 0}
    exec(text, place)
    spy = Spy({"a": 1, "b": [2], "c": "three"})
    with suppress(UnboundLocalError, KeyError):
        place["node"](spy)
    foretold = keys(place["node"])
    assert foretold is None or spy.read <= foretold, text


# --- models ------------------------------------------------------------------------------------------


class Plain(BaseModel):
    count: int = 0
    payload: list[Any] = []


class Readable(Plain):
    def __getitem__(self, name: str) -> Any:
        """As a dict is read."""
        return getattr(self, name)


class Cunning(Plain):
    def __getitem__(self, name: str) -> Any:
        return self.payload


class Watching(Plain):
    def __getattribute__(self, name: str) -> Any:
        return super().__getattribute__("payload" if name == "count" else name)


def attribute(state: Any) -> Any:
    return {"count": state.count + 1}


def unknown_attribute(state: Any) -> Any:
    return state.model_dump


@pytest.mark.parametrize(
    ("model", "function", "sees"),
    [
        (Plain, attribute, False),
        (Plain, unknown_attribute, True),
        (Plain, plain, True),
        (Readable, plain, False),
        (Readable, attribute, False),
        (Cunning, plain, True),
        (Watching, attribute, True),
    ],
)
def test_of_a_model_its_fields_are_known_and_what_runs_code_is_not(model: Any, function: Any, sees: bool) -> None:
    assert Reads(function, model, tuple(model.model_fields)).sees("payload") is sees


# --- late copies ---------------------------------------------------------------------------------------

USES = {
    "length": len,
    "list": list,
    "repr": repr,
    "equality": lambda value: value == [1, [2]] or value == {"a": [1]},
    "truth": bool,
    "sorted": lambda value: sorted(value, key=repr),
    "copy": lambda value: value.copy(),
    "contains": lambda value: 1 in value or "a" in value,
    "reversed": lambda value: list(reversed(value)),
    "star": lambda value: [*value],
    "clear": lambda value: value.clear(),
    "pickle": lambda value: value.__reduce_ex__(4),
}


@pytest.mark.parametrize("name", USES)
def test_a_late_copy_is_whole_for_whoever_looks(name: str) -> None:
    use = USES[name]
    for value, kind in (([1, [2]], ReadList), ({"a": [1]}, ReadDict)):
        copy = late(value)
        assert type(copy) in (LateList, LateDict)
        assert use(copy) == use(kind(value)) or name == "pickle"
        assert type(copy) is kind


def test_what_is_done_to_a_late_copy_stays_with_it() -> None:
    value = [[1], [2]]
    copy = late(value)
    copy[0].append("graffiti")
    copy.append(3)
    assert value == [[1], [2]]
    assert copy == [[1, "graffiti"], [2], 3]


# --- in a run ---------------------------------------------------------------------------------------------


class State(TypedDict):
    count: int
    payload: list[Any]
    table: dict[str, Any]


def run(*functions: Any, schema: Any = State) -> Any:
    builder = GraphBuilder(schema)
    names = [f"n{at}" for at in range(len(functions))]
    for name, function in zip(names, functions, strict=True):
        builder.add_node(name, function)
    for before, after in pairwise(names):
        builder.add_edge(before, after)
    builder.set_entry_point(names[0])
    payload, table = [[at] for at in range(BIG + 1)], {str(at): [at] for at in range(BIG + 1)}
    return asyncio.run(builder.build().run({"count": 0, "payload": payload, "table": table}))


seen: list[type] = []


def _kinds() -> None:
    caller = sys._getframe(1).f_locals["state"]
    seen[:] = [type(caller["payload"]), type(caller["table"])]


def counts(state: Any) -> Any:
    _kinds()
    return {"count": state["count"] + 1}


def reads_all(state: Any) -> Any:
    _kinds()
    return {"count": len(json.dumps(state["payload"])) + len(json.dumps(state.get("table")))}


def test_big_values_are_copied_for_readers_only() -> None:
    run(counts)
    assert seen == [LateList, LateDict]
    result = run(counts, reads_all)
    assert seen == [ReadList, ReadDict]
    assert result["count"] == len(json.dumps(result["payload"])) + len(json.dumps(result["table"]))


def _intrude() -> None:
    state = sys._getframe(1).f_locals["state"]
    assert len(state["payload"]) == BIG + 1
    assert state["payload"][3] == [3]
    state["payload"][0].append("graffiti")
    state["payload"].append("graffiti")
    state["table"]["0"].append("graffiti")
    state["table"].clear()


def intruded(state: Any) -> Any:
    _intrude()
    return {"count": state["count"] + 1}


def test_who_walks_frames_sees_a_whole_state_and_changes_nothing() -> None:
    result = run(intruded, intruded, reads_all)
    assert result["payload"] == [[at] for at in range(BIG + 1)]
    assert result["table"] == {str(at): [at] for at in range(BIG + 1)}


sizes: list[int] = []


class Typed(BaseModel):
    count: int
    payload: list[Any]
    table: dict[str, Any]

    def model_post_init(self, _context: Any) -> None:
        sizes.append(len(list.copy(self.payload)))


def test_code_of_the_model_that_runs_on_each_state_gets_it_whole() -> None:
    sizes.clear()
    run(attribute, schema=Typed)
    assert set(sizes) == {BIG + 1}


def test_routers_are_lent_what_they_read() -> None:
    builder = GraphBuilder(State)
    builder.add_node("a", plain)
    kinds: list[type] = []

    def route(state: Any) -> str:
        kinds.append(type(sys._getframe().f_locals["state"]["payload"]))
        return "end" if state["count"] > 3 else "a"

    builder.add_condition_edge("a", route, ["a", "end"])
    builder.set_entry_point("a")
    result = asyncio.run(builder.build().run({"count": 0, "payload": [[1]] * (BIG + 1), "table": {}}))
    assert result["count"] == 4
    assert kinds == [ReadList] * 4
