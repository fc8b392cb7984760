"""Which class is the state."""

from __future__ import annotations

from typing import Any, TypedDict

import pytest
import typing_extensions
from pydantic import BaseModel

from evonb.errors import MagicError
from evonb.magics.schema import classes_in, find_schema


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
        (["Model", "Extended"], None, Extended),
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
