"""Reading JSON as models write it: what is repaired, what is guessed, what is no JSON at all."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evonb.parsing.failure import TooDeep, Unreadable
from evonb.parsing.json_reader import read_json
from evonb.parsing.json_spans import find_json

REPAIRED: list[tuple[str, Any]] = [
    ("{'a': 'it\\'s', \"b\": 1,}", {"a": "it's", "b": 1}),
    ("{a: 1, b_2: [true, None]}", {"a": 1, "b_2": [True, None]}),
    ('{"a": 1 "b": 2\n"c": 3}', {"a": 1, "b": 2, "c": 3}),
    ('{"a": 1, // one\n /* two */ "b": 2 # three\n}', {"a": 1, "b": 2}),
    ("{“a”: „x“, «b»: 「y」}", {"a": "x", "b": "y"}),
    ('｛"a"：1，"b"：［2］｝', {"a": 1, "b": [2]}),
    ('{"a": +1, "b": .5, "c": 5.}', {"a": 1, "b": 0.5, "c": 5.0}),
    ("{'t': (1, 'x')}", {"t": [1, "x"]}),
    ('{"a": """one\n"two" three"""}', {"a": 'one\n"two" three'}),
    ('{"url": "http://a.b//c", "n": 1,}', {"url": "http://a.b//c", "n": 1}),
    ('{"p": "C:\\Users\\new\\docs",}', {"p": "C:\\Users\\new\\docs"}),
    ('{"tex": "\\alpha \\times \\frac{1}{2}",}', {"tex": "\\alpha \\times \\frac{1}{2}"}),
    ('{"re": "\\d+\\n",}', {"re": "\\d+\n"}),
]

GUESSED: list[tuple[str, Any]] = [
    ('{"a": "the so-called "fix" failed", "n": 1}', {"a": 'the so-called "fix" failed', "n": 1}),
    ('{"a": "a 32" screen"}', {"a": 'a 32" screen'}),
    ('{"a": "he said "yes, but", then left", "n": 2}', {"a": 'he said "yes, but", then left', "n": 2}),
    ('[{"c": "dog, look,"n": 18}, {"c": "ok", "n": 19}]', [{"c": "dog, look", "n": 18}, {"c": "ok", "n": 19}]),
    ('{"bad": ["oak", "elm" BIRCH], "good": ["fir"]}', {"bad": ["oak", "elm", "BIRCH"], "good": ["fir"]}),
    ("{items: [}", {"items": []}),
    ('{"a": , "b": 1}', {"a": None, "b": 1}),
    ('{"a": "x", ...}', {"a": "x"}),
    ('{"a": plain words, "b": 1}', {"a": "plain words", "b": 1}),
]

CUT: list[tuple[str, Any]] = [
    ('{"a": 1, "b": "two wo', {"a": 1, "b": "two wo"}),
    ('{"a": 1, "b', {"a": 1}),
    ('{"a": 1, "b":', {"a": 1}),
    ('{"a": [1, {"b": tru', {"a": [1, {"b": True}]}),
    ('{"a": 12.', {"a": 12}),
    ('{"a": 1, "b": -', {"a": 1}),
    ('{"a": "x\\', {"a": "x"}),
    ('{"a": "x\\u00', {"a": "x"}),
    ('{"a": "x\\ud83d', {"a": "x"}),
    ("[", []),
]


@pytest.mark.parametrize(("text", "value"), REPAIRED)
def test_what_has_one_reading_is_repaired_without_a_guess(text: str, value: Any) -> None:
    read = read_json(text)
    assert read.value == value
    assert read.guesses == ()
    assert not read.cut


@pytest.mark.parametrize(("text", "value"), GUESSED)
def test_what_has_several_readings_is_said_to_be_guessed(text: str, value: Any) -> None:
    read = read_json(text)
    assert read.value == value
    assert read.guesses


@pytest.mark.parametrize(("text", "value"), CUT)
def test_what_was_cut_off_is_closed_and_said_to_be_cut(text: str, value: Any) -> None:
    read = read_json(text)
    assert read.value == value
    assert read.cut
    assert read.end == len(text)


def test_the_keys_that_were_open_at_the_cut_are_known() -> None:
    assert read_json('{"name": "f", "arguments": {"a": [1').open_path == ("arguments", "a")
    assert read_json('{"name": "f", "arguments": {"a": 1}').open_path == ()


@pytest.mark.parametrize("text", ["{x}", "{1, 2}", "{see below}"])
def test_brackets_of_prose_are_no_json(text: str) -> None:
    with pytest.raises(Unreadable):
        read_json(text)


@pytest.mark.parametrize("text", ["[" * 401, '{"a":' * 5000, "[" * 900 + "]" * 900])
def test_nesting_beyond_reason_is_refused(text: str) -> None:
    with pytest.raises(TooDeep):
        read_json(text)


def test_nesting_that_is_only_unusual_is_read() -> None:
    text = "[" * 300 + "]" * 300
    assert read_json(text).value == json.loads(text)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("As [1] and [2, 3] say, {x} is [y].", []),
        ('See [1]: {"a": 1}', [{"a": 1}]),
        ("The result is [1, 2, 3].", [[1, 2, 3]]),
        ('one {"a": 1} two {"b": [2]} three', [{"a": 1}, {"b": [2]}]),
        ('He wrote {"note: and went. {"a": 1}', [{"a": 1}]),
        ('x = {"a": 1};', [{"a": 1}]),
        ("A [link](http://x.y) and a {placeholder}.", []),
        ('{\\"a\\": \\"b\\"}', [{"a": "b"}]),
        ("{&quot;a&quot;: 1}", [{"a": 1}]),
        ('"{\\"a\\": 1}"', [{"a": 1}]),
    ],
)
def test_json_is_found_in_prose_and_prose_is_not_taken_for_json(text: str, values: list[Any]) -> None:
    assert [span.read.value for span in find_json(text)] == values


def test_positions_say_where_the_json_stands() -> None:
    text = 'before {"a": 1} after'
    (span,) = find_json(text)
    assert text[span.start : span.end] == '{"a": 1}'


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**15), 10**15)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
containers = st.lists(json_values, max_size=4) | st.dictionaries(st.text(max_size=8), json_values, max_size=4)


@settings(deadline=None, max_examples=40)
@given(containers, st.booleans())
def test_valid_json_reads_as_the_library_reads_it(value: Any, ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert read_json(text).value == json.loads(text)


@settings(deadline=None, max_examples=40)
@given(containers)
def test_one_comma_too_many_changes_nothing(value: Any) -> None:
    text = json.dumps([value, value])[:-1] + ",]"
    assert read_json(text).value == [value, value]


@settings(deadline=None, max_examples=40)
@given(containers, st.integers(0, 200))
def test_any_beginning_of_json_can_be_read(value: Any, length: int) -> None:
    text = json.dumps(value)[: max(1, length)]
    read = read_json(text)
    assert type(read.value) is type(value)


@pytest.mark.parametrize(
    "text", ['{"a": 1, "b": 0, "a": 2}', '{"a": 1, "a": 2, c: 0}', '{c: [], "d": {"a": 1, "a": 2}}']
)
def test_a_key_that_stands_twice_is_told(text: str) -> None:
    assert "the key 'a' stands twice; the last value counts" in read_json(text).guesses


def test_a_fraction_is_no_number_and_loses_nothing() -> None:
    read = read_json('{"a": 1/2, "b": 1 /* one */, "c": 2 // two\n}')
    assert read.value == {"a": "1/2", "b": 1, "c": 2}
