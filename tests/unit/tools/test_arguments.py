"""What models send as arguments: decoded once, mended only without loss, refused otherwise."""

import json
from typing import Any

import pytest

from evonb.tools import ToolInputError
from evonb.tools.arguments import as_arguments


@pytest.mark.parametrize("raw", [None, "", "   ", "\n", "null", " null ", "{}", {}, b"{}"])
def test_no_arguments_at_all_are_an_empty_object(raw: Any) -> None:
    assert as_arguments(raw) == {}


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ('{"a": 1}', {"a": 1}),
        ({"a": 1}, {"a": 1}),
        (b'{"a": 1}', {"a": 1}),
        ('{"a": 1,}', {"a": 1}),
        ('{"a": [1, 2, ], "b": "x,}" , }', {"a": [1, 2], "b": "x,}"}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('\ufeff{"a": 1}', {"a": 1}),
        ('{"a": "line\nbreak"}', {"a": "line\nbreak"}),
        ('{"n": 123456789012345678901234567890}', {"n": 123456789012345678901234567890}),
        ('{"s": "a \\" ,} b",}', {"s": 'a " ,} b'}),
    ],
)
def test_what_can_be_read_without_loss_is_read(raw: Any, expected: dict[str, Any]) -> None:
    assert as_arguments(raw) == expected


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ("[1]", "an array"),
        ("3", "a number"),
        ("true", "a boolean"),
        ('"{\\"a\\": 1}"', "a text"),
        ([1], "an array"),
        (3.5, "a number"),
        (object(), "of type object"),
        ({1: 2}, "isn't a text"),
        ('{"a": 1', "end in the middle"),
        ('{"a": "unfinished', "end in the middle"),
        ('{"a":', "end in the middle"),
        ('[1, {"a"', "end in the middle"),
        ("{'a': 1}", "aren't valid JSON"),
        ('{"a": 1, "a": 2}', "there twice"),
        ('{"a": NaN}', "isn't a JSON number"),
        ('{"a": 1} and more', "aren't valid JSON"),
        ("rm -rf", "aren't valid JSON"),
        ("[" * 200_000, "nested too deeply"),
    ],
)
def test_everything_else_is_refused_with_its_reason_and_a_fix(raw: Any, said: str) -> None:
    with pytest.raises(ToolInputError, match=said) as caught:
        as_arguments(raw)
    assert caught.value.fix


def test_a_decoder_of_the_caller_replaces_the_strict_one() -> None:
    assert as_arguments("a=1", decoder=lambda text: dict([text.split("=")])) == {"a": "1"}


def test_what_a_decoder_raises_is_a_refusal() -> None:
    with pytest.raises(ToolInputError, match="aren't valid JSON"):
        as_arguments("x", decoder=json.loads)


def test_many_blanks_behind_commas_are_read_in_linear_time() -> None:
    raw = '{"a": [' + ",".join(["1" + " " * 50] * 20_000) + ",   ]}"
    assert len(as_arguments(raw)["a"]) == 20_000
