"""How results look in a notebook: everything of the trace, and no markup from a model."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from evonb.parsing import FieldSchema, OutputParser, ParseResult, RetrievalResultSchema

EVIL = "<img src=x onerror=alert(1)><script>alert(2)</script>"


class Tags(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.classes: list[str] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        assert all(not name.startswith("on") for name, _ in attrs)
        if tag == "mark":
            self.classes += [value or "" for name, value in attrs if name == "class"]

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize(
    "text",
    [
        EVIL,
        f'{{"{EVIL}": "{EVIL}"}}',
        f"{EVIL}\n```json\n{{'a': '{EVIL}',}}\n```",
        f"Action: {EVIL}",
        f"<think>{EVIL}</think>{EVIL}",
    ],
)
def test_markup_from_a_model_is_shown_as_text(text: str) -> None:
    fields = [FieldSchema(EVIL, EVIL), FieldSchema("b", "")]
    for result in (OutputParser().parse(text), OutputParser(fields=fields).parse(text)):
        shown = Tags(result._repr_mimebundle_()["text/html"])
        assert {"img", "script"}.isdisjoint(shown.names)
        assert EVIL in shown.text


def test_the_display_shows_spans_repairs_checks_and_value() -> None:
    text = "<think>hm</think>Here: {'n': 'x', 'more': 1,}"
    bundle = OutputParser(fields=[FieldSchema("n", "", dtype="int")]).parse(text)._repr_mimebundle_()
    shown = Tags(bundle["text/html"])
    assert shown.classes == ["reasoning", "prose", "data"]
    for words in (
        "dropped a comma before a closing bracket",
        "Field 'n' is 'x', expected a whole number",
        "unknown key 'more'",
        "not parsed cleanly",
        "lenient",
    ):
        assert words in shown.text
    assert "✗ failed" in bundle["text/plain"]
    assert "ParseResult(ok=True, type=dict)" in bundle["text/plain"]


def test_a_huge_reply_is_shown_in_part() -> None:
    bundle = OutputParser().parse('["' + "x" * 1_000_000 + '"]')._repr_mimebundle_()
    assert all(len(text) < 40_000 for text in bundle.values())
    assert "characters" in bundle["text/html"]


def test_half_a_character_does_not_break_the_display() -> None:
    for text in OutputParser().parse('{"a": "\ud83d"}')._repr_mimebundle_().values():
        assert text.encode("utf-8")


def test_a_result_without_a_trace_is_shown_too() -> None:
    assert "{'a': 1}" in ParseResult({"a": 1})._repr_mimebundle_()["text/plain"]


def test_a_failure_shows_its_reason() -> None:
    bundle = OutputParser().parse("```json\n```")._repr_mimebundle_()
    assert "it is empty" in bundle["text/plain"]
    assert "it is empty" in bundle["text/html"]


def test_the_plain_text_says_whether_it_went_well_which_fields_are_wrong_and_what_was_guessed() -> None:
    result = OutputParser(RetrievalResultSchema).parse('{"score": "high", "source": "a"')
    lines = result._repr_mimebundle_()["text/plain"].splitlines()
    assert lines[1].startswith("not parsed cleanly · json")
    assert any(line.startswith("  ✗ failed: content: ") for line in lines)
    assert "  warning: guessed: closed what was cut off" in lines
