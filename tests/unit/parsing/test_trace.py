"""The parser never raises outside STRICT, and its trace accounts for every character of the reply."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evonb.parsing import FieldSchema, FormatDetector, OutputFormat, OutputParser, ParseError, ParseMode, ParseResult

CORPUS = Path(__file__).parents[2] / "corpus" / "parsing.jsonl"
REPLIES = [
    case["text"] for case in map(json.loads, CORPUS.read_text(encoding="utf-8").splitlines()) if case.get("text")
]
FRAGMENTS = [
    *"\"'{}[],:\\\n|#*&@\t()=",
    *("```", "```json\n", "<a>", "</a>", "<think>", "</think>", "- ", "1. ", "---", "//", "/*", "“", "<![CDATA["),
    *("<tool_call>", "Action: ", "Action Input: ", "\ud83d", "\x00", "\ufeff", "\r\n"),
]
FIELDS = [FieldSchema("answer", "", aliases=["response"]), FieldSchema("n", "", dtype="int", required=False)]


def assert_accounted(result: ParseResult) -> None:
    trace = result.trace
    assert trace is not None
    text = trace.raw_input
    if not text:
        return
    assert trace.spans[0].start == 0
    assert trace.spans[-1].end == len(text)
    assert all(before.end == after.start for before, after in zip(trace.spans, trace.spans[1:], strict=False))


@settings(deadline=None, max_examples=80)
@given(st.text(max_size=200), st.sampled_from(list(ParseMode)), st.sampled_from([None, *OutputFormat]))
def test_any_text_gets_a_result_and_a_whole_trace(text: str, mode: ParseMode, kind: OutputFormat | None) -> None:
    try:
        result = OutputParser(mode=mode, fields=FIELDS).parse(text, kind)
    except ParseError:
        assert mode is ParseMode.STRICT
        return
    assert_accounted(result)


def damaged(seed: int) -> str:
    chance = random.Random(seed)
    text = chance.choice(REPLIES)
    for _ in range(chance.randint(1, 5)):
        at = chance.randint(0, len(text))
        how = chance.randint(0, 3)
        if how == 0:
            text = text[:at] + chance.choice(FRAGMENTS) + text[at:]
        elif how == 1:
            text = text[:at] + text[at + chance.randint(1, 8) :]
        elif how == 2:
            text = text[:at]
        else:
            text += "\n" + chance.choice(REPLIES)[:400]
    return text


@pytest.mark.parametrize("block", range(10))
def test_damaged_replies_get_a_result_and_a_whole_trace(block: int) -> None:
    for seed in range(block * 30, block * 30 + 30):
        text = damaged(seed)
        kind = random.Random(seed).choice([None, *OutputFormat])
        result = OutputParser(enable_cache=False, fields=FIELDS if seed % 2 else None).parse(text, kind)
        assert_accounted(result)
        assert result._repr_mimebundle_()["text/plain"]
        assert FormatDetector().rank(text)


def test_spans_name_what_was_used_and_what_was_not() -> None:
    text = '<think>maybe {"a": 0}</think>Sure: {"a": 1} Bye.<|im_end|>'
    trace = OutputParser().parse(text).trace
    assert trace is not None
    assert [(span.kind, text[span.start : span.end]) for span in trace.spans] == [
        ("reasoning", '<think>maybe {"a": 0}</think>'),
        ("prose", "Sure: "),
        ("data", '{"a": 1}'),
        ("prose", " Bye."),
        ("token", "<|im_end|>"),
    ]


def test_repairs_and_guesses_are_in_the_trace_and_guesses_warn() -> None:
    trace = OutputParser().parse('{\'a\': 1, "b": "cut').trace
    assert trace is not None
    assert "read other quotes as double quotes" in trace.repairs
    assert "guessed: closed what was cut off" in trace.warnings
    assert trace.fix_applied.value == "regex_repair"
    assert trace.duration_ms > 0
