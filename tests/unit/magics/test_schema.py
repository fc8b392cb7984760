"""Which class is the state."""

from __future__ import annotations

from typing import Any, TypedDict

import pytest
import typing_extensions
from pydantic import BaseModel

from evonb.errors import MagicError
from evonb.graph import GraphBuilder
from evonb.magics.schema import classes_in, defined_as, defined_twice, find_schema, parts_in


class Plain:
    pass


class Model(BaseModel):
    pass


class Typed(TypedDict):
    pass


class Extended(typing_extensions.TypedDict):
    pass


NAMES: dict[str, Any] = {"Plain": Plain, "Model": Model, "Typed": Typed, "Extended": Extended, "State": Typed}


@pytest.mark.parametrize(
    ("classes", "wanted", "found"),
    [
        (["Extended"], None, Extended),
        (["Model", "Model"], None, Model),
        (["Model", "Plain"], None, Model),
        (["State", "Model"], None, Typed),
        (["Plain"], None, Typed),
        (["Model"], "Extended", Extended),
    ],
)
def test_choice(classes: list[str], wanted: str | None, found: type) -> None:
    assert find_schema(NAMES, classes, wanted) is found


@pytest.mark.parametrize(
    ("names", "wanted", "what", "fix"),
    [
        ({}, None, "defines no state", "class State(TypedDict)"),
        ({"BaseModel": BaseModel}, None, "defines no state", ""),
        (NAMES, "Stat", "no class Stat", "did you mean State?"),
        (NAMES, "Plain", "isn't a TypedDict", ""),
    ],
)
def test_no_usable_class_is_an_error(names: dict[str, Any], wanted: str | None, what: str, fix: str) -> None:
    with pytest.raises(MagicError) as caught:
        find_schema(names, ["BaseModel", "Plain"], wanted)
    assert what in caught.value.what
    assert fix in caught.value.fix


def test_classes_of_the_cell_in_order() -> None:
    cell = "class A: pass\nif 1:\n    class B: pass\ntry:\n    pass\nexcept E:\n    class C: pass\n"
    cell += "def f():\n    class D: pass\n"
    assert classes_in(cell) == ["A", "B", "C"]
    assert classes_in("class A(: pass") == []


def test_of_two_classes_none_is_guessed() -> None:
    with pytest.raises(MagicError) as caught:
        find_schema(NAMES, ["Model", "Extended"], None)
    assert caught.value.what == "Which class is the state? Model and Extended could be"
    assert "--state Extended" in caught.value.fix


def test_a_class_that_the_other_is_made_of_is_not_the_state() -> None:
    cell = "class Extended(TypedDict): ...\nclass Model(BaseModel):\n    items: list[Extended]\n"
    assert find_schema(NAMES, classes_in(cell), None, parts_in(cell)) is Model


@pytest.mark.parametrize("name", ["Plain", "State"])
def test_a_plain_class_is_told_what_it_lacks(name: str) -> None:
    with pytest.raises(MagicError) as caught:
        find_schema({name: Plain}, [name], None)
    assert caught.value.what.startswith(f"{name} is a plain class")
    assert caught.value.fix == f"write: class {name}(TypedDict):"


def test_a_plain_state_is_not_passed_over_for_another_class() -> None:
    with pytest.raises(MagicError, match="State is a plain class"):
        find_schema({**NAMES, "State": Plain}, ["State", "Model"], None)


def test_classes_of_evonb_are_not_offered() -> None:
    with pytest.raises(MagicError) as caught:
        find_schema({"GraphBuilder": GraphBuilder, "Model": Model}, [], "Nope")
    assert caught.value.fix == "use one of: Model"


def test_what_a_cell_defines_under_a_name() -> None:
    cell = "class A: pass\nif 1:\n    async def b(): pass\nc = 1\n"
    assert [defined_as(cell, name) for name in "Abcd"] == ["class", "function", "", ""]


def test_a_class_defined_twice_is_noticed_and_a_choice_is_not() -> None:
    assert defined_twice("class A: pass\nclass A: pass\n", "A")
    assert not defined_twice("if x:\n    class A: pass\nelse:\n    class A: pass\n", "A")
