"""The small language: what it can say, and that it can do no harm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from evonb.errors import GraphError
from evonb.graph.debugging.expressions import compile_condition


@dataclass
class Item:
    name: str

    def shout(self) -> str:
        return self.name.upper()


STATE = {"n": 3, "words": ["a", "bc"], "item": Item("tea"), "nested": {"deep": {"x": 1}}}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("n > 2", True),
        ("1 < n < 3", False),
        ("n == 3 and 'bc' in words", True),
        ("n > 5 or not words", False),
        ("len(words[1]) == 2", True),
        ("words[-1:] == ['bc']", True),
        ("item.name == 'tea'", True),
        ("nested.deep.x + 1", 2),
        ("nested['deep']['x'] is not None", True),
        ("'big' if n > 2 else 'small'", "big"),
        ("state['n'] % 2", 1),
        ("max(n, 10)", 10),
        ("delta['n']", 3),
    ],
)
def test_it_reads_the_state(text: str, value: Any) -> None:
    assert compile_condition(text)(STATE, {"n": 3}) == value


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('x')",
        "item.__class__",
        "item.shout()",
        "(lambda: 1)()",
        "[x for x in words]",
        "open('f')",
        "n ** 99999",
        "f'{item}'",
        "(n := 4)",
        "max(words, key=len)",
        "n >",
        "",
        "x" * 600,
    ],
)
def test_what_could_do_harm_is_refused_before_it_runs(text: str) -> None:
    with pytest.raises(GraphError):
        compile_condition(text)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("words * 1000", TypeError),
        ("'%999999d' % n", TypeError),
        ("item.shout", AttributeError),
        ("other", NameError),
        (" + ".join(["words"] * 8) + " + big", ValueError),
    ],
)
def test_what_could_grow_or_call_fails_when_it_runs(text: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        compile_condition(text)({**STATE, "big": ["x"] * 20_000})
