"""Strict schemas: what servers demand at every level, refused where it can't be had, and the way back."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import jsonschema
import pytest
from pydantic import BaseModel, Field

from evonb.tools import FunctionTool, ToolError, ToolRegistry, define_tool, tool


class Size(BaseModel):
    width: int
    unit: str = "mm"


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    tricks: list[str] = []


class Tree(BaseModel):
    name: str
    children: list[Tree] = []


@tool(strict=True)
def order(what: str, count: int = 1, size: Size | None = None, sizes: list[Size] = [Size(width=1)]) -> list[Any]:  # noqa: B006, B008
    """Order."""
    return [what, count, size, sizes]


@tool(strict=True)
def feed(animal: Annotated[Cat | Dog, Field(discriminator="kind")], tree: Tree) -> list[Any]:
    """Feed."""
    return [animal, tree]


def nodes(schema: Any) -> list[dict[str, Any]]:
    if isinstance(schema, list):
        return [each for part in schema for each in nodes(part)]
    if not isinstance(schema, dict):
        return []
    return [schema, *(each for part in schema.values() for each in nodes(part))]


@pytest.mark.parametrize("made", [order, feed])
def test_every_object_is_closed_and_requires_all_its_properties(made: FunctionTool) -> None:
    told = made.function_schema()["function"]
    assert told["strict"] is True
    jsonschema.Draft202012Validator.check_schema(told["parameters"])
    objects = [each for each in nodes(told["parameters"]) if each.get("type") == "object"]
    assert len(objects) >= 2
    for each in objects:
        assert each["additionalProperties"] is False
        assert each["required"] == list(each["properties"])
    words = {word for each in nodes(told["parameters"]) for word in each}
    assert not words & {"default", "oneOf", "discriminator"}


def test_what_had_a_default_may_be_null_and_the_rest_may_not() -> None:
    told = order.function_schema()["function"]["parameters"]["properties"]
    assert told["what"] == {"type": "string"}
    assert {"type": "null"} in told["count"]["anyOf"]
    assert told["size"]["anyOf"].count({"type": "null"}) == 1


def test_null_stands_for_the_default_at_every_level() -> None:
    arguments = {
        "what": "box", "count": None, "size": {"width": 3, "unit": None},
        "sizes": [{"width": 1, "unit": None}, {"width": 2, "unit": "cm"}],
    }  # fmt: skip
    jsonschema.validate(arguments, order.function_schema()["function"]["parameters"])
    receipt = ToolRegistry([order]).invoke("order", arguments)
    assert receipt.output == ["box", 1, Size(width=3), [Size(width=1), Size(width=2, unit="cm")]]


def test_null_that_is_a_value_of_its_own_stays() -> None:
    receipt = ToolRegistry([order]).invoke("order", {"what": "box", "count": 2, "size": None, "sizes": None})
    assert receipt.output == ["box", 2, None, [Size(width=1)]]


def test_null_for_a_required_argument_is_still_a_fault() -> None:
    receipt = ToolRegistry([order]).invoke("order", {"what": None})
    assert receipt.error is not None
    assert [fault.field for fault in receipt.error.fields] == ["what"]


def test_tagged_unions_and_recursive_types_find_their_way_back() -> None:
    arguments = {
        "animal": {"kind": "dog", "tricks": None},
        "tree": {"name": "a", "children": [{"name": "b", "children": None}]},
    }
    jsonschema.validate(arguments, feed.function_schema()["function"]["parameters"])
    receipt = ToolRegistry([feed]).invoke("feed", arguments)
    assert receipt.output == [Dog(kind="dog"), Tree(name="a", children=[Tree(name="b")])]


def free_map(counts: dict[str, int]) -> None:
    """Take any keys."""


def anything(value: Any) -> None:
    """Take anything."""


def untyped(value) -> None:  # type: ignore[no-untyped-def]
    """Take what has no type."""


def open_ended(**more: int) -> None:
    """Take any names."""


def loose_list(values: list[Any]) -> None:
    """Take a list of anything."""


def pair(values: tuple[int, str]) -> None:
    """Take a pair."""


def plain_dict(value: dict) -> None:  # type: ignore[type-arg]
    """Take a dict."""


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (free_map, "counts may have any keys"),
        (anything, "value may be anything"),
        (untyped, "value may be anything"),
        (open_ended, "the arguments may have any keys"),
        (loose_list, r"values\[\] may be anything"),
        (pair, "values uses 'prefixItems'"),
        (plain_dict, "value may have any keys"),
    ],
)
def test_a_type_that_cannot_be_strict_is_refused_and_named(function: Any, said: str) -> None:
    with pytest.raises(ToolError, match=said) as caught:
        define_tool(function, strict=True)
    assert "strict" in caught.value.fix
    assert "strict" not in define_tool(function).function_schema()["function"]


def test_a_schema_that_is_not_strict_carries_no_flag() -> None:
    def plain(x: int = 1) -> int:
        """Plain."""
        return x

    told = define_tool(plain).function_schema()["function"]
    assert "strict" not in told
    assert told["parameters"]["properties"] == {"x": {"type": "integer", "default": 1}}


def test_a_property_called_title_or_default_survives() -> None:
    def book(title: str, default: int = 0) -> str:
        """Make a book."""
        return title

    for strict in (False, True):
        told = define_tool(book, strict=strict).function_schema()["function"]["parameters"]
        assert list(told["properties"]) == ["title", "default"]


def test_a_tool_without_arguments_can_be_strict() -> None:
    @tool(strict=True)
    def now() -> str:
        """Tell the time."""
        return "noon"

    assert now.function_schema()["function"]["parameters"] == {
        "type": "object", "properties": {}, "required": [], "additionalProperties": False,
    }  # fmt: skip
    assert ToolRegistry([now]).invoke("now", "{}").output == "noon"
