"""Replies that arrive in pieces."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evonb.parsing import FieldSchema, OutputParser, ParseError, ParseMode
from evonb.parsing.json_stream import JsonStream, NotStreamable

from .test_json import containers

WRAPPINGS = ["{}", "```json\n{}\n```", "Here you are:\n```json\n{}\n```\nBye.", "<think>hm</think>{}", "The JSON: {}"]


def pieces(text: str, sizes: list[int]) -> list[str]:
    cut, at = [], 0
    while at < len(text):
        size = sizes[len(cut) % len(sizes)]
        cut.append(text[at : at + size])
        at += size
    return cut


@settings(deadline=None, max_examples=40)
@given(containers, st.sampled_from(WRAPPINGS), st.lists(st.integers(1, 7), min_size=1, max_size=5))
def test_the_final_value_is_that_of_the_whole_however_it_was_cut(value: Any, wrapping: str, sizes: list[int]) -> None:
    text = wrapping.replace("{}", json.dumps(value, ensure_ascii=False))
    parser = OutputParser(enable_cache=False)
    for piece in pieces(text, sizes):
        parser.feed(piece)
    assert parser.finish().data == OutputParser(enable_cache=False).parse(text).data


@settings(deadline=None, max_examples=40)
@given(containers, st.lists(st.integers(1, 5), min_size=1, max_size=5))
def test_a_json_stream_ends_with_the_value(value: Any, sizes: list[int]) -> None:
    stream = JsonStream()
    for piece in pieces(json.dumps(value), sizes):
        stream.feed(piece)
    assert stream.done
    assert stream.value == value


@pytest.mark.parametrize("size", range(1, 12))
@pytest.mark.parametrize("text", ["𐀀\\", "\\𐀀", "a\\𐀀\\b", "\\t𐀀\\\\", "C:\\u\\new𐀀", "\\frac{𐀀}"])
def test_escapes_cut_anywhere_mean_the_same(text: str, size: int) -> None:
    stream = JsonStream()
    for piece in pieces(json.dumps([text]), [size]):
        stream.feed(piece)
    assert stream.value == [text]


def test_the_value_grows_with_the_text() -> None:
    parser = OutputParser()
    seen = [parser.feed(piece).data for piece in ['{"city": "Os', 'lo", "n', '": 1', "2, ", '"tags": ["a"', ', "b"]}']]
    assert seen == [
        {"city": "Os"},
        {"city": "Oslo"},
        {"city": "Oslo", "n": 1},
        {"city": "Oslo", "n": 12},
        {"city": "Oslo", "n": 12, "tags": ["a"]},
        {"city": "Oslo", "n": 12, "tags": ["a", "b"]},
    ]


def test_what_was_handed_out_never_changes() -> None:
    parser = OutputParser()
    first = parser.feed('{"a": [1').data
    parser.feed(', 2], "b": 3}')
    assert first == {"a": [1]}


def test_half_an_escape_is_never_shown() -> None:
    parser = OutputParser()
    text = '{"a": "x\\ud83d\\ude00\\n"}'
    shown = [parser.feed(char).data for char in text]
    assert {data["a"] for data in shown if data} <= {"", "x", "x😀", "x😀\n"}


def test_text_grows_too() -> None:
    parser = OutputParser()
    assert parser.feed("The answer ").data == {"answer": "The answer"}
    assert parser.feed("is 5.").data == {"answer": "The answer is 5."}


def test_reasoning_is_not_shown_as_an_answer() -> None:
    parser = OutputParser()
    assert parser.feed('<think>maybe {"a": 0}').data is None
    assert parser.feed('</think>{"a": 1').data == {"a": 1}


def test_json_that_is_not_valid_streams_as_well() -> None:
    parser = OutputParser()
    assert parser.feed("{'a': 1, b: 'x").data == {"a": 1, "b": "x"}
    assert parser.feed("y',}").data == {"a": 1, "b": "xy"}


def test_fields_apply_to_every_piece() -> None:
    parser = OutputParser(fields=[FieldSchema("n", "", dtype="int", aliases=["count"])])
    assert parser.feed('{"count": "4').data == {"n": 4}


def test_a_tool_call_appears_only_when_it_is_whole() -> None:
    parser = OutputParser(mode=ParseMode.TOOL_CALL)
    text = '{"name": "f", "arguments": {"a": "b"}}'
    early = [parser.feed(char).data for char in text[:-2]]
    assert early == [None] * len(early)
    assert parser.feed(text[-2:]).data["arguments"] == {"a": "b"}


def test_finish_is_as_strict_as_the_mode() -> None:
    parser = OutputParser(mode=ParseMode.STRICT)
    parser.feed('{"a": "cut o')
    with pytest.raises(ParseError):
        parser.finish()


def test_finish_begins_anew() -> None:
    parser = OutputParser()
    parser.feed('{"a": 1}')
    assert parser.finish().data == {"a": 1}
    assert parser.feed('{"b": 2}').data == {"b": 2}


def test_finishing_nothing_is_an_empty_reply() -> None:
    assert OutputParser().finish().data is None


@pytest.mark.parametrize("text", ["{1: 2}", '{"a" 1}', "[1 2]", "[,]", '{"a": 01}', "{]", "nope"])
def test_a_json_stream_refuses_what_is_not_json(text: str) -> None:
    with pytest.raises(NotStreamable):
        JsonStream().feed(text + " ")


def test_a_long_reply_in_small_pieces_costs_what_arrives() -> None:
    text = json.dumps([{"id": index, "name": f"row {index}"} for index in range(2_000)])
    parser = OutputParser()
    for piece in pieces(text, [16]):
        parser.feed(piece)
    assert parser.finish().data == json.loads(text)
