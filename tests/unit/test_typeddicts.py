"""TypedDicts of `typing` in every place where pydantic looks at a type: the same keys, whatever the Python version."""

from __future__ import annotations

import typing
from typing import Annotated, Any, Literal

import pytest
import typing_extensions
from pydantic import Field, TypeAdapter, ValidationError

from evonb._typeddicts import for_pydantic
from evonb.agents import HumanInput
from evonb.graph import GraphBuilder
from evonb.parsing import OutputParser
from evonb.tools import ToolRegistry, tool


class Inner(typing.TypedDict, total=False):
    """A row."""

    a: int
    b: typing.Required[str]


class Base(typing.TypedDict):
    """What others build on."""

    name: str
    note: typing.NotRequired[str]


class Outer(Base, total=False):
    rows: list[Inner]
    either: Inner | None
    some: Annotated[dict[str, Inner], Field(max_length=2)]
    kind: Literal["x", "y"]


class Tree(typing.TypedDict):
    value: int
    children: list[Tree]


class Modern(typing_extensions.TypedDict):
    row: Inner


class State(typing.TypedDict):
    outer: Outer


GOOD: dict[str, Any] = {"name": "n", "rows": [{"a": "3", "b": "x"}], "either": None, "some": {"k": {"b": "y"}}}


def test_keys_optional_keys_and_types_stay() -> None:
    check = TypeAdapter(for_pydantic(Outer)).validate_python
    assert check(GOOD) == {**GOOD, "rows": [{"a": 3, "b": "x"}]}
    assert check({"name": "n"}) == {"name": "n"}
    for wrong, place in (
        ({}, ("name",)),
        ({"name": "n", "rows": [{"a": 1}]}, ("rows", 0, "b")),
        ({"name": "n", "kind": "z"}, ("kind",)),
        ({"name": "n", "some": {key: {"b": ""} for key in "abc"}}, ("some",)),
    ):
        with pytest.raises(ValidationError) as caught:
            check(wrong)
        assert caught.value.errors()[0]["loc"] == place


def test_a_class_that_holds_itself_and_one_inside_a_modern_one() -> None:
    tree = {"value": 1, "children": [{"value": "2", "children": []}]}
    assert TypeAdapter(for_pydantic(Tree)).validate_python(tree)["children"][0]["value"] == 2
    assert TypeAdapter(for_pydantic(Modern)).validate_python({"row": {"a": "1", "b": ""}})["row"]["a"] == 1


def test_names_and_docstrings_stay_and_other_types_are_not_touched() -> None:
    schema = TypeAdapter(for_pydantic(Inner)).json_schema()
    assert (schema["title"], schema["description"], schema["required"]) == ("Inner", "A row.", ["b"])
    for kind in (int, list[int], dict[str, Any], int | None, Literal["a"], Annotated[int, Field(ge=1)], Any, None):
        assert for_pydantic(kind) is kind
    assert for_pydantic(Inner) is for_pydantic(Inner)


def test_every_door_takes_them() -> None:
    result = OutputParser(Outer).parse('{"name": "n", "rows": [{"a": "3", "b": "x"}]}')
    assert result.data == {"name": "n", "rows": [{"a": 3, "b": "x"}]}
    assert result.trace is not None
    assert result.trace.success

    @tool
    def keep(outer: Outer) -> Outer:
        """Keep it."""
        return outer

    registry = ToolRegistry([keep])
    assert registry.invoke("keep", {"outer": GOOD}).output["rows"] == [{"a": 3, "b": "x"}]
    assert registry.invoke("keep", {"outer": {"rows": []}}).status == "invalid_input"
    assert HumanInput(question="?", answer_type=Outer).answer_type is Outer
    builder = GraphBuilder(State)
    builder.add_node("a", lambda state: {"outer": {"name": "m", "rows": [{"a": "4", "b": ""}]}})
    builder.set_entry_point("a")
    assert builder.build().run_sync({"outer": GOOD})["outer"]["name"] == "m"
