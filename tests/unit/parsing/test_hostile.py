"""Replies made to hurt: each must end soon, whatever it is taken for."""

from __future__ import annotations

import time

import pytest

from evonb.parsing import FieldSchema, OutputFormat, OutputParser, ParseMode
from evonb.parsing.failure import Unreadable
from evonb.parsing.yaml_reader import read_yaml

N = 2_000
LIMIT_S = 6  # what is quadratic needs minutes here; what is linear, well below a second
HOSTILE = {
    "open objects": '{"a": ' * N,
    "open strings": '{"a": "' * N,
    "broken fences": '```json\n{"a": 1\n```\n' * N,
    "open fences": '```json\n{"a": \n' * N,
    "other fences": "~~~\n```\n" * N,
    "thoughts": "<think>a</think>\n" * N,
    "thoughts in a string": '{"a": "' + "<think>" * N,
    "tokens in a string": '["' + "<|im_start|>" * N,
    "nested tags": "<a>" * N,
    "many tags": "".join(f"<t{i}>x</t{i}>" for i in range(N)),
    "closing tags": "<a>x</a>" + "</b>" * N,
    "attributes": "<a " + 'b="c" ' * N + ">x</a>",
    "open sections": "<a>" + "<![CDATA[" * N,
    "open comments": "<a>" + "<!--" * N,
    "the same key": "key: value\n" * N,
    "keys in a row": "a b c: d e f; " * N,
    "tables": "a|b\n-|-\n" * N,
    "pipes": "|" * N * 5,
    "quotes in csv": 'a,b\n"' + '""' * N,
    "deep yaml": "\n".join(" " * i + "a:" for i in range(800)),
    "yaml brackets in strings": '["]",' * N,
    "yaml blanks": "{" + " " * N * 5 + "x",
    "yaml escapes": '{\\"a\\": ' * N,
    "yaml items": "a:\n" + "  - b: c: d\n" * N,
    "laughs": "a: &a [x,x,x,x,x,x,x,x,x]\n"
    + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [{','.join([f'*{chr(97 + i)}'] * 9)}]\n" for i in range(9)),
    "brackets in prose": "see [1, 2] and {a: b} " * N,
    "comments": "{" + "//x\n" * N,
    "half escapes": '{"a": "' + "\\u" * N,
    "quotes and blanks": '{"a": "' + ('"' + " " * 200) * 500,
    "actions": "Action: x\nAction Input: {\n" * N,
    "open calls": '<tool_call>{"name": ' * N,
    "open functions": "<function=a><parameter=b>" * N,
    "python": "f(" + "(" * 300 + ")" * 300 + ")",
    "a long number": '{"n": ' + "1" * N * 50 + "x}",
    "digits": "1 " * N * 10,
    "dots": "a." * N * 10 + "@",
    "passwords": "password " * N * 5,
    "returns": "a\r" * N * 5,
    "marks": "\ufeff" * N * 10 + '{"a":1}',
}
KINDS = [None, *(kind for kind in OutputFormat if kind.value not in ("unknown", "mixed", "plain_text", "tool_call"))]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_reply_ends_soon_in_every_format(name: str) -> None:
    fields = [FieldSchema("answer", ""), FieldSchema("b", "", aliases=["c"])]
    started = time.process_time()
    for kind in KINDS:
        OutputParser(fields=fields if kind is None else None, enable_cache=False).parse(HOSTILE[name], kind)
    OutputParser(mode=ParseMode.TOOL_CALL, enable_cache=False).parse(HOSTILE[name])
    assert time.process_time() - started < LIMIT_S


def test_aliases_do_not_expand_without_end() -> None:
    result = OutputParser().parse(HOSTILE["laughs"], OutputFormat.YAML)
    assert result.data is None
    assert result.trace is not None
    assert "too many values" in result.trace.errors[0]


@pytest.mark.parametrize(
    "text",
    ["```yaml\nrun: !!python/object/apply:os.system ['true']\n```", "```yaml\na: &a [*a]\n```"],
)
def test_yaml_that_builds_objects_or_holds_itself_is_refused(text: str) -> None:
    assert OutputParser().parse(text).data is None


def test_xml_entities_are_never_expanded() -> None:
    text = '<!DOCTYPE d [<!ENTITY a "boom">]><d>&a;</d>'
    for kind in (None, OutputFormat.XML):
        assert "boom" not in str(OutputParser().parse(text, kind).data)


def test_a_reply_of_absurd_length_is_refused_unread() -> None:
    result = OutputParser().parse(" " * 10 + "x" * 32_000_001)
    assert result.data is None
    assert result.trace is not None
    assert "32,000,000" in result.trace.errors[0]


ROW = "- name: item {0}\n  count: {0}\n  tags: [a, b, c]\n  note: some text that is longer\n"


def test_yaml_of_several_hundred_kilobytes_is_read() -> None:
    text = "".join(ROW.format(number) for number in range(4_000))
    assert len(text) > 300_000
    result = OutputParser().parse(text, OutputFormat.YAML)
    assert result.data[-1] == {
        "name": "item 3999",
        "count": 3999,
        "tags": ["a", "b", "c"],
        "note": "some text that is longer",
    }


@pytest.mark.parametrize(
    "text",
    ["a: [" + "1," * 90_000 + "1]", "- " + "[" * 59 + "]" * 59 + ("\n- " + "[" * 59 + "]" * 59) * 3_000, "-\n" * 90_000,
     "? a\n" * 90_000, "a: b: c\n" * 60_000, "\n" * 90_000 + "a: 1", "a: " + "x" * 1_100_000],
    ids=["commas", "brackets", "dashes", "questions", "colons", "lines", "chars"],
)  # fmt: skip
def test_yaml_that_would_take_long_is_refused_at_once(text: str) -> None:
    begun = time.process_time()
    with pytest.raises(Unreadable, match="YAML of more than"):
        read_yaml(text)
    assert time.process_time() - begun < 1
