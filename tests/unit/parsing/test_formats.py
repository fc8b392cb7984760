"""The other formats: YAML, CSV, tables, lists, keys, XML, plain text, and how they are told apart."""

from __future__ import annotations

from typing import Any

import pytest

from evonb.parsing import FormatDetector, OutputFormat, OutputParser

CASES: list[tuple[str, str, Any]] = [
    ("yaml", "```yaml\nno: NO\non: 12:30\nday: 2024-05-01\n```", {"no": "NO", "on": "12:30", "day": "2024-05-01"}),
    ("yaml", "```yaml\nzip: 00501\nn: 0o17\n```", {"zip": "00501", "n": 15}),
    ("yaml", "a:\n  - b: 1\n    c: x: y\n", {"a": [{"b": 1, "c": "x: y"}]}),
    ("yaml", "- name: x\n  n: 1\n- name: y\n  n: 2", [{"name": "x", "n": 1}, {"name": "y", "n": 2}]),
    ("yaml", "```yaml\na: 1\na: 2\n```", {"a": 2}),
    ("yaml", "```yaml\nbase: &b {k: 1}\nown:\n  <<: *b\n  j: 2\n```", {"base": {"k": 1}, "own": {"k": 1, "j": 2}}),
    ("csv", "name;price\nA;3,50\nB;4,10", [{"name": "A", "price": "3,50"}, {"name": "B", "price": "4,10"}]),
    ("csv", "```csv\na,a,\n1,2,3\n```", [{"a": "1", "a_2": "2", "column_3": "3"}]),
    ("csv", 'Here it is:\n\na,b\n1,"x, y"\n\nDone.', [{"a": "1", "b": "x, y"}]),
    ("markdown_table", "| a | b |\n|---|:-:|\n| `x\\|y` | |", [{"a": "`x|y`", "b": ""}]),
    ("markdown_table", "| a | b |\n|---|---|\n| `x|y` | z |", [{"a": "`x|y`", "b": "z"}]),
    ("markdown_table", "a | b\n--|--\n- | -", [{"a": "-", "b": "-"}]),
    ("numbered_list", "1. one\n   more\n2. two\n   - sub\n3. three", ["one more", "two", "sub", "three"]),
    ("numbered_list", "١. تفاح\n٢. موز", ["تفاح", "موز"]),
    ("bulleted_list", "Ideas:\n- a, b\n- c\n\nBye.", ["a, b", "c"]),
    ("key_value", "**First Name:** Ana\n**Age**: 3", {"first_name": "Ana", "age": "3"}),
    ("key_value", "姓名：小红\n年龄：17", {"姓名": "小红", "年龄": "17"}),
    ("key_value", "a: one\ntwo\nb: http://x.y", {"a": "one two", "b": "http://x.y"}),
    ("xml", '<a k="1">x</a><a>y</a><b/>', {"a": [{"@k": "1", "#text": "x"}, "y"], "b": None}),
    ("xml", "It is <answer>a < b &amp; c</answer>.", {"answer": "a < b & c"}),
    ("xml", "<answer>Paris is the cap", {"answer": "Paris is the cap"}),
    ("plain_text", "Press <b>Enter</b>, see [1] and {x}.", {"answer": "Press <b>Enter</b>, see [1] and {x}."}),
    ("plain_text", "Dear all,\nNote: we meet.\nRegards: A", {"answer": "Dear all,\nNote: we meet.\nRegards: A"}),
    ("plain_text", "1.5 million people, at 10:30.", {"answer": "1.5 million people, at 10:30."}),
    ("plain_text", "```\nnothing here\n```", {"answer": "nothing here"}),
    ("plain_text", "```python\nx = {'a': 1}\n```", {"answer": "```python\nx = {'a': 1}\n```"}),
    ("mixed", 'Steps:\n1. a\n2. b\n\n{"n": 1}', {"n": 1}),
    ("json", '{"id": 1}\n{"id": 2}', [{"id": 1}, {"id": 2}]),
    ("json", "```json\n{\"a\": \"x\n```py\ny\n```\nz\"}\n```", {"a": "x\n```py\ny\n```\nz"}),
    ("json", "true", True),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "text", "value"), CASES)
def test_format_and_value(kind: str, text: str, value: Any) -> None:
    result = OutputParser().parse(text)
    assert result.data == value
    assert result.trace is not None
    assert result.trace.detected_format.value == kind


@pytest.mark.parametrize(("kind", "text", "value"), CASES)
def test_the_detector_agrees_and_gives_its_reasons(kind: str, text: str, value: Any) -> None:
    ranked = FormatDetector().rank(text)
    assert ranked[0].format.value == kind
    assert FormatDetector().detect_with_confidence(text) == (ranked[0].format, ranked[0].confidence)
    assert all(0 <= candidate.confidence <= 1 and candidate.evidence for candidate in ranked)
    assert [candidate.confidence for candidate in ranked] == sorted((c.confidence for c in ranked), reverse=True)


def test_blank_text_is_unknown() -> None:
    assert FormatDetector().detect(" \u200b ") is OutputFormat.UNKNOWN
    assert FormatDetector().detect(None) is OutputFormat.UNKNOWN


@pytest.mark.parametrize(
    "text", ["<tool_call>{}</tool_call>", 'Action: f\nAction Input: {"a": 1}', '[TOOL_CALLS]f{"a": 1}']
)
def test_marks_of_tool_calls_are_seen(text: str) -> None:
    best = FormatDetector().detect(text)
    assert (best is OutputFormat.TOOL_CALL) == ("{}" not in text)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("csv", "Here:\nname,age\nAna,30\nThat is all.", [{"name": "Ana", "age": "30"}]),
        ("csv", "name\nAna", [{"name": "Ana"}]),
        ("bulleted_list", '"salt, fine", oil', ["salt, fine", "oil"]),
        ("bulleted_list", "apple; pear", ["apple", "pear"]),
        ("key_value", "Answer: Paris", {"answer": "Paris"}),
        ("yaml", "Sure.\n\na: 1", {"a": 1}),
        ("plain_text", '{"a": 1}', {"answer": '{"a": 1}'}),
        ("json", "answer: Paris\nn: 2", {"answer": "Paris", "n": "2"}),
        ("mixed", "1. a\n2. b", ["a", "b"]),
    ],
)
def test_a_format_that_somebody_names_is_tried_harder(kind: str, text: str, value: Any) -> None:
    assert OutputParser().parse(text, OutputFormat(kind)).data == value


@pytest.mark.parametrize("kind", ["json", "markdown_table", "xml", "key_value", "tool_call", "bulleted_list"])
def test_prose_is_none_of_them(kind: str) -> None:
    text = "There is nothing of the kind in this long sentence, as everybody can see."
    assert OutputParser().parse(text, OutputFormat(kind)).data is None


def test_a_dropped_cell_is_said() -> None:
    result = OutputParser().parse("```csv\na,b\n1,2,3\n```")
    assert result.data == [{"a": "1", "b": "2"}]
    assert result.trace is not None
    assert any("'3'" in warning for warning in result.trace.warnings)
