"""Previews are bounded and run no code of the user."""

from __future__ import annotations

import dataclasses
import enum
import json
from collections import namedtuple
from datetime import date

import pytest
from pydantic import BaseModel

from evonb.graph.isolate import wrap
from evonb.protocol.preview import FULL_CHARS, full_text, preview, previews
from evonb.protocol.snapshot import PREVIEW_CHARS
from evonb.typing import AssistantMessage, UserMessage


class Colour(enum.Enum):
    RED = 1


class Ticket(BaseModel):
    id: int
    text: str


@dataclasses.dataclass(slots=True)
class Slotted:
    a: int
    b: str = "x"


class Hostile:
    """Whatever a preview might call ends the test."""

    def __getattr__(self, name: str) -> object:
        raise SystemExit(name)

    def __repr__(self) -> str:
        raise SystemExit("repr")

    __str__ = __len__ = __iter__ = __bool__ = __eq__ = __repr__  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


class HostileList(list):  # type: ignore[type-arg]
    def __iter__(self) -> object:  # type: ignore[override]
        raise SystemExit("iter")

    __len__ = __repr__ = __getitem__ = __iter__  # type: ignore[assignment]


class HostileDict(dict):  # type: ignore[type-arg]
    def items(self) -> object:  # type: ignore[override]
        raise SystemExit("items")

    __iter__ = __len__ = __repr__ = keys = items  # type: ignore[assignment]


Point = namedtuple("Point", "x y")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "None"),
        (True, "True"),
        (3, "3"),
        (2.5, "2.5"),
        ("it's", '"it\'s"'),
        ("two\nlines", "'two\\nlines'"),
        ([1, "a", None], "[1, 'a', None]"),
        ((1,), "(1)"),
        ({"k": [1]}, "{'k': [1]}"),
        (Colour.RED, "Colour.RED"),
        (Ticket(id=3, text="hi"), "Ticket(id=3, text='hi')"),
        (Slotted(1), "Slotted(a=1, b='x')"),
        (Point(1, 2), "Point(x=1, y=2)"),
        (UserMessage(content="hello"), "user: hello"),
        (AssistantMessage(content="a\nb"), "assistant: a↵b"),
        (date(2026, 1, 2), "datetime.date(2026, 1, 2)"),
        (b"ab", "b'ab'"),
        (Hostile(), "<Hostile>"),
        (HostileList([1, 2]), "[1, 2]"),
        (HostileDict(a=1), "{'a': 1}"),
        (Ticket, "<class Ticket>"),
        (len, "<function len>"),
    ],
    ids=lambda value: str(type(value).__name__),
)
def test_preview_is_one_readable_line(value: object, text: str) -> None:
    assert preview(value) == {"kind": type(value).__name__, "text": text, "cut": False}


@pytest.mark.parametrize(
    "value",
    [
        "x" * 10**6,
        list(range(10**5)),
        {str(n): n for n in range(10**4)},
        b"x" * 10**6,
        10**10**5,
        [["y" * 99] * 99] * 99,
    ],
    ids=["str", "list", "dict", "bytes", "int", "nested"],
)
def test_preview_of_a_huge_value_is_short(value: object) -> None:
    text = preview(value)["text"]
    assert 0 < len(text) <= PREVIEW_CHARS
    assert "\n" not in text


def test_preview_of_a_cut_string_says_so() -> None:
    shown = preview("x" * 79)
    assert shown["cut"]
    assert shown["text"].endswith("…")
    assert not preview("x" * 78)["cut"]


def test_preview_ends_for_a_value_that_holds_itself() -> None:
    loop: list[object] = []
    loop.append(loop)
    assert preview(loop)["text"] == "[[[[[[[…]]]]]]]"


def test_preview_survives_a_broken_record() -> None:
    ticket = Ticket.model_construct(id=1)
    ticket.__dict__["id"] = Hostile()
    assert preview(ticket)["text"] == "Ticket(id=<Hostile>, text=None)"


def test_previews_show_a_state_by_key() -> None:
    assert previews({"topic": "tech", 1: None}) == {
        "topic": {"kind": "str", "text": "'tech'", "cut": False},
        "1": {"kind": "NoneType", "text": "None", "cut": False},
    }
    assert set(previews(Ticket(id=1, text=""))) == {"id", "text"}
    assert set(previews(7)) == {"value"}


def test_previews_of_a_wide_state_are_bounded() -> None:
    assert len(json.dumps(previews({f"key {n}": "v" * 1000 for n in range(5000)}))) < 64_000


def test_full_text_keeps_a_string_as_it_is_and_spreads_containers() -> None:
    assert full_text("one\ntwo") == "one\ntwo"
    assert full_text({"a": [1, 2]}) == "{\n  'a': [\n    1,\n    2\n  ]\n}"


def test_full_text_is_bounded() -> None:
    assert len(full_text("x" * 10**6)) == FULL_CHARS
    assert len(full_text(list(range(10**6)))) <= FULL_CHARS


def test_what_the_engine_lends_is_called_by_what_it_stands_for() -> None:
    assert preview(wrap([1]))["kind"] == "list"
    assert preview(wrap({"a": 1}))["kind"] == "dict"
    assert preview([1])["kind"] == "list"
