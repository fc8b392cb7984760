"""Values are opened step by step and read back from text with their types."""

from __future__ import annotations

import datetime
import enum
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Any, Literal, TypedDict

import pytest
from annotated_types import Ge, Le
from pydantic import BaseModel, Field

from evonb.errors import StateError
from evonb.protocol.preview import full_text
from evonb.typing import AssistantMessage, UserMessage
from evonb.widgets.expectations import in_words
from evonb.widgets.literals import read_value
from evonb.widgets.values import CHILDREN_SHOWN, open_value, opens, size_of, value_at


class Level(enum.Enum):
    LOW = "low"
    HIGH = "high"


class Owner(BaseModel):
    name: str
    since: datetime.date


class Ticket(BaseModel):
    id: int
    level: Level = Level.LOW
    owner: Owner | None = None
    tags: tuple[str, ...] = ()


@dataclass
class Point:
    x: int
    y: int = 0
    notes: list[str] = field(default_factory=list)


class Limits(TypedDict):
    most: int


class Hostile(list):  # type: ignore[type-arg]
    def __iter__(self) -> Any:
        raise AssertionError("user code ran")

    def __len__(self) -> int:
        raise AssertionError("user code ran")


TICKET = Ticket(id=3, level=Level.HIGH, owner=Owner(name="Ada", since=datetime.date(2026, 1, 2)), tags=("a", "b"))


def test_a_path_leads_through_dicts_lists_and_models() -> None:
    state = {"tickets": [TICKET], 7: {"x": 1}}
    opened = open_value(state)
    assert [(child["label"], child["path"], child["opens"]) for child in opened["children"]] == [
        ("tickets", ["tickets"], True),
        ("7", [1], True),
    ]
    assert [child["label"] for child in open_value(state, ["tickets", 0])["children"]] == [
        "id",
        "level",
        "owner",
        "tags",
    ]
    assert value_at(state, ["tickets", 0, "owner", "name"]) == "Ada"
    assert open_value(state, [1, "x"]) == {"text": "1", "children": [], "more": 0}


def test_every_child_opens_by_the_path_it_came_with() -> None:
    value = [{"a": {1, 2}, ("t",): "x" * 200}, Point(1, notes=["n"]), b"raw"]
    left: list[list[str | int]] = [[]]
    seen = 0
    while left:
        path = left.pop()
        for child in open_value(value, path)["children"]:
            assert open_value(value, child["path"])["text"]
            left.append(child["path"])
            seen += 1
    assert seen == 11


@pytest.mark.parametrize("path", [["nothing"], [0, "gone"], [9], [-1], [True]])
def test_a_path_that_leads_nowhere_is_refused(path: list[str | int]) -> None:
    with pytest.raises(StateError, match="nothing at"):
        open_value([{"a": 1}], path)


def test_what_is_large_or_hostile_is_bounded_and_runs_no_code() -> None:
    opened = open_value(list(range(5000)))
    assert len(opened["children"]) == CHILDREN_SHOWN
    assert opened["more"] == 5000 - CHILDREN_SHOWN
    assert len(open_value("x" * 10**6)["text"]) == 20_000
    hostile = Hostile([1, 2])
    assert [child["label"] for child in open_value(hostile)["children"]] == ["0", "1"]
    assert size_of(hostile) == "2 items"


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ("x" * 1214, "1,214 chars"),
        ([UserMessage(content="a")], "1 message"),
        ({}, "0 keys"),
        (TICKET, "4 fields"),
        (3, ""),
        (b"ab", "2 bytes"),
    ],
)
def test_sizes_are_told_in_words(value: object, size: str) -> None:
    assert size_of(value) == size


def test_only_what_shows_more_opens() -> None:
    assert not opens("short")
    assert opens("x" * 200)
    assert not opens([])
    assert opens(AssistantMessage(content="a"))


@pytest.mark.parametrize(
    ("text", "annotation", "value"),
    [
        ("3", int, 3),
        ("-3", int, -3),
        ("billing", str, "billing"),
        ('"billing"', str, "billing"),
        ("3", str, "3"),
        (" keeps its blanks ", str, " keeps its blanks "),
        ("None", str | None, None),
        ("[true, null]", list[Any], [True, None]),
        ("{'a': (1, 2)}", dict[str, tuple[int, int]], {"a": (1, 2)}),
        ("high", Level, Level.HIGH),
        ("Level.HIGH", Level, Level.HIGH),
        ("2026-11-30T14:00", datetime.datetime, datetime.datetime(2026, 11, 30, 14)),
        ("datetime.date(2026, 1, 2)", datetime.date, datetime.date(2026, 1, 2)),
        ("{'id': 3, 'level': 'high'}", Ticket, Ticket(id=3, level=Level.HIGH)),
        ("Point(x=1, notes=['n'])", Point, Point(1, notes=["n"])),
        ("[[1, 2]]", list[tuple[int, int]], [(1, 2)]),
        ("{'most': 2}", Limits, {"most": 2}),
        ("anything goes", Any, "anything goes"),
    ],
)
def test_text_is_read_with_the_types_of_the_key(text: str, annotation: Any, value: object) -> None:
    found = read_value(text, annotation)
    assert found == value
    assert type(found) is type(value)


def test_the_text_that_is_shown_can_be_typed_back() -> None:
    back = read_value(full_text([TICKET, None]), list[Ticket | None])
    assert back == [TICKET, None]
    assert type(back[0].owner) is Owner
    assert type(back[0].tags) is tuple


@pytest.mark.parametrize(
    ("text", "annotation", "extras", "expects"),
    [
        ("many", int, (Ge(0),), "int, 0 or more"),
        ("-1", int, (Ge(0), Le(9)), "int, 0 or more, 9 or less"),
        ("middle", Level, (), "one of low, high"),
        ("[1, 2", list[int], (), "list of int"),
        ("[1, 2", Any, (), "anything"),
        ("Ticket(id='x')", Ticket, (), "Ticket(id, level, owner, tags)"),
        ("__import__('os').getcwd()", int, (), "int"),
        ("Other(id=1)", Ticket, (), "Ticket(id, level, owner, tags)"),
        ("c", Literal["a", "b"], (), "one of 'a', 'b'"),
        ("[" * 10_000, list[Any], (), "list of anything"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_is_expected(
    text: str, annotation: Any, extras: tuple[Any, ...], expects: str
) -> None:
    with pytest.raises(StateError) as caught:
        read_value(text, annotation, extras, key="k")
    assert caught.value.fix == f"expected: {expects}"
    assert caught.value.what.startswith("k can't be ")


def test_the_fault_inside_a_model_is_named_with_its_place() -> None:
    with pytest.raises(StateError, match=r"at k\[1\]\.owner\.since"):
        read_value("[{'id': 1}, {'id': 2, 'owner': {'name': 'x', 'since': 'no'}}]", list[Ticket], key="k")


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        (list[str], "list of str"),
        (dict[str, int | None], "dict of str to int or None"),
        (tuple[int, ...], "tuple of int"),
        (Annotated[int, Field(gt=0, lt=10)], "int, more than 0, less than 10"),
        (datetime.datetime, "date and time, as 2026-11-30T14:00"),
        (Limits, "dict with most"),
        (bool, "bool"),
        (list, "list"),
    ],
)
def test_expectations_are_told_in_words(annotation: Any, words: str) -> None:
    assert in_words(annotation) == words


@pytest.mark.parametrize(
    ("text", "annotation"),
    [
        ("timedelta(days=100000000000000000000)", datetime.timedelta),
        ("date(1, 2, 100000000000000000000)", datetime.date),
        ("Decimal('abc')", Decimal),
        ("bytearray(3)", bytearray),
    ],
)
def test_numbers_that_no_type_takes_and_sizes_are_refused_in_words(text: str, annotation: Any) -> None:
    with pytest.raises(StateError, match="expected: "):
        read_value(text, annotation)


def test_a_bytearray_is_typed_as_its_preview_shows_it() -> None:
    assert read_value(repr(bytearray(b"ab")), bytearray) == bytearray(b"ab")
