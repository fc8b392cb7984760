"""Schemas: every way to declare one, defaults with strategies, validators, aliases."""

from __future__ import annotations

import enum
import sys
import types
from typing import Annotated, Any, Generic, NotRequired, Optional, TypedDict, TypeVar

import pytest
from pydantic import BaseModel, Field, PrivateAttr, field_validator, model_validator

from evonb.errors import NodeError, StateError
from evonb.graph import GraphBuilder, GraphWarning, StateCkpt, StateUpdater
from evonb.typing import MISSING, AssistantMessage, UserMessage

T = TypeVar("T")


def run(schema: Any, *deltas: Any, inputs: dict[str, Any] | None = None) -> Any:
    """A line of nodes, each of which returns one of the deltas (or what a callable makes of its state)."""
    builder = GraphBuilder(schema)
    for at, delta in enumerate(deltas or ({},)):
        builder.add_node(f"n{at}", delta if callable(delta) else (lambda state, delta=delta: delta))
        if at:
            builder.add_edge(f"n{at - 1}", f"n{at}")
    builder.set_entry_point("n0")
    return builder.build().run_sync(inputs or {})


# --- defaults ------------------------------------------------------------------------------


class Defaults(BaseModel):
    tags: Annotated[list, "extend"] = ["x"]
    total: Annotated[int, "add"] = 5
    made: Annotated[list, "extend"] = Field(default_factory=lambda: ["made"])


def test_defaults_are_used_with_strategies() -> None:
    state = run(Defaults)
    assert (state.tags, state.total, state.made) == (["x"], 5, ["made"])
    state = run(Defaults, {"tags": ["y"], "total": 2, "made": ["more"]})
    assert (state.tags, state.total, state.made) == (["x", "y"], 7, ["made", "more"])


def test_an_input_takes_the_place_of_a_default() -> None:
    assert run(Defaults, {"total": 1}, inputs={"total": 10}).total == 11


def test_default_values_are_fresh_in_every_run() -> None:
    def vandal(state: Any) -> dict[str, Any]:
        state.tags.append("graffiti")
        state.made.append("graffiti")
        return {}

    for _ in range(2):
        state = run(Defaults, vandal)
        assert (state.tags, state.made) == (["x"], ["made"])
    assert Defaults().tags == ["x"]


def test_strategies_see_missing_or_the_empty_value_as_they_like() -> None:
    def told(old: Any = MISSING, new: Any = MISSING) -> list[str]:
        return ["first"] if old is MISSING else [*old, "again"]

    def untold(old: Any, new: Any) -> Any:
        return old + new

    for name, strategy in (("test_told", told), ("test_untold", untold)):
        if not StateUpdater.registered(name):
            StateUpdater.register(name)(strategy)

    class State(TypedDict):
        told: Annotated[list, "test_told"]
        untold: Annotated[int, "test_untold"]

    assert run(State, {"told": [], "untold": 3}, {"told": [], "untold": 4}) == {"told": ["first", "again"], "untold": 7}


def test_max_of_a_key_that_was_never_written_is_the_first_value() -> None:
    class State(TypedDict):
        top: Annotated[int, "max"]

    assert run(State, {"top": -3}) == {"top": -3}
    assert run(State) == {"top": 0}


# --- kinds of schemas -------------------------------------------------------------------------


def test_not_required_keys_are_absent_until_written() -> None:
    class State(TypedDict):
        a: int
        b: NotRequired[Annotated[int, "add"]]

    assert run(State) == {"a": 0}
    assert run(State, {"b": 1}, {"b": 2}) == {"a": 0, "b": 3}


def test_keys_of_a_dict_that_need_not_be_there() -> None:
    class State(TypedDict, total=False):
        a: int

    assert run(State) == {}
    assert run(State, {"a": 1}) == {"a": 1}


def test_a_plain_dict_takes_any_key() -> None:
    assert run(dict, {"a": 1}, lambda state: {"b": state["a"] + 1}) == {"a": 1, "b": 2}


def test_generic_schemas() -> None:
    class Box(TypedDict, Generic[T]):
        value: Annotated[T, "overwrite"]
        all: list[T]

    assert run(Box[int], {"value": "5", "all": ["1", 2]}) == {"value": 5, "all": [1, 2]}

    class Model(BaseModel, Generic[T]):
        value: T

    state = run(Model[int], {"value": "5"})
    assert isinstance(state, Model[int])
    assert state.value == 5


def test_inherited_typed_dicts_keep_their_strategies() -> None:
    class Parent(TypedDict):
        log: Annotated[list, "extend"]

    class Child(Parent):
        extra: Annotated[int, "add"]

    assert run(Child, {"log": [1], "extra": 1}, {"log": [2], "extra": 2}) == {"log": [1, 2], "extra": 3}


def test_aliases_name_their_key_in_inputs_and_deltas() -> None:
    class State(BaseModel):
        user_name: str = Field(default="", alias="userName")

    assert run(State, inputs={"userName": "x"}).user_name == "x"
    assert run(State, {"userName": "y"}).user_name == "y"
    assert run(State, {"user_name": "z"}).user_name == "z"


def test_an_annotation_that_cannot_be_found_is_named() -> None:
    module = types.ModuleType("evonb_test_guarded")
    sys.modules[module.__name__] = module
    exec(
        "from __future__ import annotations\n"
        "from typing import TypedDict\n"
        "class State(TypedDict):\n"
        "    fine: int\n"
        "    odd: Guarded\n",
        module.__dict__,
    )
    with pytest.raises(StateError, match="'odd' names 'Guarded'"):
        run(module.State)


def test_a_schema_defined_in_a_function_may_use_its_names() -> None:
    Alias = list[int]

    class State(TypedDict):
        rows: "Annotated[Alias, 'extend']"  # noqa: UP037 - the text is the point

    assert run(State, {"rows": [1]}) == {"rows": [1]}


def test_nested_dicts_are_updated_key_by_key_at_any_depth() -> None:
    class Inner(TypedDict):
        hits: Annotated[int, "add"]
        name: str

    class Outer(TypedDict):
        inner: Inner
        others: dict[str, Annotated[int, "add"]]

    state = run(
        Outer,
        {"inner": {"hits": 1}, "others": {"a": 1}},
        {"inner": {"hits": 2, "name": "n"}, "others": {"a": 1, "b": 5}},
    )
    assert state == {"inner": {"hits": 3, "name": "n"}, "others": {"a": 2, "b": 5}}


def test_an_unknown_nested_key_is_named_with_its_path() -> None:
    class Inner(TypedDict):
        hits: Annotated[int, "add"]

    class Outer(TypedDict):
        inner: Inner

    with pytest.raises(NodeError, match=r"'inner\.hit'; it has 'inner\.hits'"):
        run(Outer, {"inner": {"hit": 1}})


# --- validation ----------------------------------------------------------------------------------


def test_values_are_coerced_as_pydantic_does() -> None:
    class State(TypedDict):
        n: int
        when: Optional[float]  # noqa: UP045

    assert run(State, {"n": "7", "when": 2}) == {"n": 7, "when": 2.0}


def test_constraints_hold_for_the_merged_value() -> None:
    class State(BaseModel):
        log: Annotated[list[int], "extend", Field(max_length=2)] = []

    assert run(State, {"log": [1]}, {"log": [2]}).log == [1, 2]
    with pytest.raises(NodeError, match="at most 2"):
        run(State, {"log": [1, 2]}, {"log": [3]})


def test_validators_of_a_model_hold() -> None:
    class State(BaseModel):
        name: str = ""
        low: int = 0
        high: int = 10

        @field_validator("name")
        @classmethod
        def _tidy(cls, value: str) -> str:
            return value.strip()

        @model_validator(mode="after")
        def _ordered(self) -> State:
            if self.low > self.high:
                raise ValueError("low is above high")
            return self

    assert run(State, {"name": " x "}).name == "x"
    with pytest.raises(NodeError, match="low is above high"):
        run(State, {"low": 11})


def test_private_attributes_of_a_model_work_in_nodes() -> None:
    class State(BaseModel):
        n: int = 0
        _cache: dict[str, int] = PrivateAttr(default_factory=lambda: {"a": 1})

    assert run(State, lambda state: {"n": state._cache["a"]}).n == 1


def test_objects_in_the_state_keep_their_types() -> None:
    class Color(enum.Enum):
        RED = 1

    class Nested(BaseModel):
        color: Color

    class State(TypedDict):
        nested: Nested
        pair: tuple[int, int]

    state = run(
        State, {"nested": Nested(color=Color.RED), "pair": (1, 2)}, lambda state: {"pair": (state["pair"][1], 9)}
    )
    assert state == {"nested": Nested(color=Color.RED), "pair": (2, 9)}
    assert isinstance(state["nested"], Nested)


def test_tools_that_stand_for_something_outside_are_shared() -> None:
    import threading

    lock = threading.Lock()

    class State(TypedDict):
        lock: Any

    seen = []
    run(State, lambda state: seen.append(state["lock"]), inputs={"lock": lock})
    assert seen[0] is lock


# --- what counts as a write ------------------------------------------------------------------------


class Two(TypedDict):
    p: Any
    q: Any
    log: Annotated[list, "extend"]


def fork(left: Any, right: Any, inputs: dict[str, Any]) -> Any:
    builder = GraphBuilder(Two)
    for name, body in {"a": lambda state: None, "b": left, "c": right}.items():
        builder.add_node(name, body)
    builder.add_node("d", lambda state: None, action_mode="all")
    for edge in (("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")):
        builder.add_edge(*edge)
    builder.set_entry_point("a")
    return builder.build().run_sync(inputs)


def test_a_key_that_comes_back_unchanged_is_no_write() -> None:
    state = fork(lambda state: {**state, "p": 1}, lambda state: {**state, "q": [2]}, {"p": 0, "q": [0], "log": ["x"]})
    assert state == {"p": 1, "q": [2], "log": ["x"]}


def test_a_filter_cuts_only_the_keys_it_changed() -> None:
    builder = GraphBuilder(Two)
    for name in "abc":
        builder.add_node(name, lambda state, name=name: {"log": [name]})
    builder.add_node("d", lambda state: None, action_mode="all")
    builder.add_edge("a", "b")
    builder.add_edge("a", "c", state_filter=lambda state: {**state, "p": "filtered"})
    builder.add_edge("b", "d")
    builder.add_edge("c", "d")
    builder.set_entry_point("a")
    state = builder.build().run_sync({"p": "input"})
    assert (state["p"], state["log"]) == ("filtered", ["a", "b", "c"])


def test_a_filter_that_returns_nothing_fails_the_run() -> None:
    builder = GraphBuilder(Two)
    builder.add_node("a", lambda state: None)
    builder.add_node("b", lambda state: None)
    builder.add_edge("a", "b", state_filter=lambda state: None)
    builder.set_entry_point("a")
    with pytest.raises(NodeError, match="State filter of node 'a' failed"):
        builder.build().run_sync({})


@pytest.mark.parametrize("bad", [lambda old, new: 1 / 0, lambda old, new: MISSING, lambda old, new: "text"])
def test_a_bad_strategy_is_named_with_its_key(bad: Any) -> None:
    name = f"test_bad_{id(bad)}"
    StateUpdater.register(name)(bad)

    class State(TypedDict):
        n: Annotated[int, name]

    with pytest.raises(NodeError, match=r"(key 'n'|Update strategy)") as caught:
        run(State, {"n": 1})
    assert name in str(caught.value) or "'n'" in str(caught.value)


def test_a_user_strategy_cannot_change_history() -> None:
    name = "test_in_place"

    def in_place(old: Any = MISSING, new: Any = MISSING) -> Any:
        if old is MISSING:
            return new
        old.extend(new)
        return old

    if not StateUpdater.registered(name):
        StateUpdater.register(name)(in_place)

    class State(TypedDict):
        log: Annotated[list, name]

    first = StateCkpt(delta={"log": [1]}, state_schema=State)
    second = StateCkpt(delta={"log": [2]}, parent=first, state_schema=State)
    assert second.materialize() == {"log": [1, 2]}
    assert first.materialize() == {"log": [1]}


# --- messages ---------------------------------------------------------------------------------------


class Talk(TypedDict):
    messages: Annotated[list, "append_messages"]


def test_a_node_that_returns_the_whole_list_repeats_nothing() -> None:
    answer = AssistantMessage(content="a")
    state = run(
        Talk, lambda state: {"messages": [*state["messages"], answer]}, inputs={"messages": [UserMessage(content="q")]}
    )
    assert [message.content for message in state["messages"]] == ["q", "a"]
    assert answer.msg_id is None, "the node's own object is left alone"


def test_a_changed_message_that_is_known_changes_nothing() -> None:
    def edit(state: Any) -> dict[str, Any]:
        state["messages"][0].content = "graffiti"
        return {"messages": state["messages"]}

    state = run(Talk, edit, inputs={"messages": [UserMessage(content="q")]})
    assert [message.content for message in state["messages"]] == ["q"]


def test_one_message_with_an_id_from_two_branches_comes_once() -> None:
    builder = GraphBuilder(Talk)
    same = AssistantMessage(content="same", msg_id="1")
    for name in "abc":
        builder.add_node(name, lambda state, name=name: {"messages": [same] if name != "a" else []})
    builder.add_edge("a", "b")
    builder.add_edge("a", "c")
    builder.set_entry_point("a")
    assert [m.content for m in builder.build().run_sync({})["messages"]] == ["same"]


def test_a_single_message_instead_of_a_list_says_what_to_write() -> None:
    with pytest.raises(NodeError, match="put the message into a list"):
        run(Talk, {"messages": AssistantMessage(content="a")})


def test_inputs_with_unknown_keys_warn() -> None:
    with pytest.warns(GraphWarning, match="The inputs"):
        run(Talk, inputs={"message": []})
