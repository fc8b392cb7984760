"""Finds the tool calls in a reply, however it writes them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from evonb.parsing.failure import Unreadable
from evonb.parsing.json_reader import read_json
from evonb.parsing.json_spans import JsonSpan, find_json
from evonb.parsing.json_strings import skip_blank
from evonb.parsing.reading import Reading
from evonb.parsing.schema import OutputFormat
from evonb.parsing.tool_shapes import Call, calls_in, make_call, refuse_cut
from evonb.parsing.tool_tags import python_calls, tagged_calls

_LABEL = re.compile(
    r"^[ \t>*_#`-]{0,10}(Thought|Action Input|Action|Observation|Final Answer|Tool Input|Tool)"
    r"[ \t*_]{0,4}[:：][*_]{0,2}[ \t]*",
    re.MULTILINE | re.IGNORECASE,
)
_MARKS = (
    "<tool_call>",
    "[TOOL_CALLS]",
    "<|python_tag|>",
    "<function=",
    "<｜tool▁call▁begin｜>",
    "<|tool_call_begin|>",
    "<｜DSML｜invoke",
    "to=functions.",
)
_INLINE_INPUT = re.compile(r"\s+Action Input\s*[:：]\s*", re.IGNORECASE)
_NAME = re.compile(r"^[`\"'*\[]*([^\W\d][\w./:-]{0,200})[`\"'*\]]*$")
_CALL_STYLE = re.compile(r"^[`\"'*]*([^\W\d][\w./:-]{0,200})\s*\((.*)\)[`\"'*]*$", re.DOTALL)
_BRACKET_STYLE = re.compile(r"^([^\W\d][\w./:-]{0,200})\[([^\[\]\n]{1,2000})\]$")
_QUOTED = re.compile(r"""^("[^"\\\n]*"|'[^'\\\n]*')$""")
_NOT_TOOLS = frozenset({"none", "null", "n/a", "na", "no", "finish", "final"})


def read_tool_calls(text: str) -> Reading:
    """Read the calls in `text`: one as a dict, several as a list.

    Raises:
        Unreadable: It holds none, or one that must not be made.
    """
    for calls, spans in _attempts(text):
        if calls:
            return Reading(
                OutputFormat.TOOL_CALL,
                calls[0] if len(calls) == 1 else calls,
                spans[0].start if spans else 0,
                spans[-1].end if spans else len(text),
                repairs=tuple(repair for span in spans for repair in span.read.repairs),
                guesses=tuple(guess for span in spans for guess in span.read.guesses),
            )
    raise Unreadable("no tool call in the text")


def looks_like_call(text: str) -> bool:
    """Whether the text uses marks that only tool calls have. Cheap, and wrong only for texts about tool calls."""
    if any(mark in text for mark in _MARKS):
        return True
    if "Action" not in text or "Input" not in text:
        return False
    labels = {label.group(1).lower() for label in _LABEL.finditer(text)}
    return {"action", "action input"} <= labels


def _attempts(text: str) -> Iterable[tuple[list[Call], list[JsonSpan]]]:
    """The ways to find calls, surest first, each with the JSON that it used as far as that is known."""
    yield tagged_calls(text), []
    yield _react(text), []
    spans = find_json(text)
    yield _native(spans), spans
    yield python_calls(_unfenced(text)), []


def _native(spans: list[JsonSpan]) -> list[Call]:
    calls: list[Call] = []
    for span in spans:
        found = calls_in(span.read.value)
        if found:
            refuse_cut(span.read)
            calls += found
    return calls


def _unfenced(text: str) -> str:
    stripped = text.strip()
    if stripped.startswith("```") and stripped.endswith("```") and "\n" in stripped:
        return stripped.split("\n", 1)[1].rsplit("```", 1)[0]
    return stripped


def _react(text: str) -> list[Call]:
    """The first call of a `Thought: ... Action: ... Action Input: ...` reply; what follows it the model made up."""
    labels = list(_LABEL.finditer(text))
    if not any(label.group(1).lower() in ("action", "tool") for label in labels):
        return []
    stops = [*(label.start() for label in labels[1:]), len(text)]
    parts = [
        (label.group(1).lower(), text[label.end() : stop], label.end())
        for label, stop in zip(labels, stops, strict=True)
    ]
    named = {name for name, _, _ in parts}
    thought: str | None = None
    for index, (name, body, _) in enumerate(parts):
        if name == "thought":
            thought = body.strip()
        elif name == "action" or (name == "tool" and "tool input" in named):
            following = parts[index + 1] if index + 1 < len(parts) else None
            return _action(text, body.strip(), following, thought)
    return []


def _action(text: str, body: str, following: tuple[str, str, int] | None, thought: str | None) -> list[Call]:
    inline = _INLINE_INPUT.search(body)
    if inline:
        return [_called(body[: inline.start()], body[inline.end() :], thought)]
    if body[:1] in ("{", "[") or body.startswith("```"):
        return []  # the action itself is JSON
    style = _CALL_STYLE.match(body)
    if style and style.group(1).lower() not in _NOT_TOOLS:
        inside = style.group(2).strip()
        if not inside or inside[0] == "{":
            return [make_call(style.group(1), inside, thought)]
        if _QUOTED.match(inside):
            return [make_call(style.group(1), {"input": inside[1:-1]}, thought)]
        return [{**call, "thought": thought} for call in python_calls(body.strip("`\"'*"))]
    bracketed = _BRACKET_STYLE.match(body)
    if bracketed and bracketed.group(1).lower() not in _NOT_TOOLS:
        return [make_call(bracketed.group(1), {"input": bracketed.group(2)}, thought)]
    if following is None or style or bracketed:
        return []
    if following[0] in ("action input", "tool input"):
        return [_called(body, _input_of(text, following), thought)]
    name = _NAME.match(body)
    if name and name.group(1).lower() not in _NOT_TOOLS:
        return [make_call(name.group(1), None, thought)]
    return []


def _input_of(text: str, part: tuple[str, str, int]) -> str:
    """The input's text; an object is followed to its end, for labels inside its strings aren't labels."""
    start = skip_blank(text, part[2])
    if text.startswith("```", start):
        start = skip_blank(text, text.find("\n", start) + 1)
    if text[start : start + 1] in ("{", "["):
        return text[start : read_json(text, start).end]
    return part[1].strip().strip("`").strip()


def _called(name_text: str, input_text: str, thought: str | None) -> Call:
    name = _NAME.match(name_text.strip())
    if name is None or name.group(1).lower() in _NOT_TOOLS:
        raise Unreadable("an action that names no tool")
    text = input_text.strip()
    if text[:1] in ("{", "["):
        read = read_json(text, 0)
        if read.cut:
            raise Unreadable(f"the arguments of {name.group(1)!r} were cut off")
        return make_call(name.group(1), read.value, thought, text_allowed=True)
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        text = text[1:-1]
    elif text[:1] == '"' and text.count('"') == 1:
        raise Unreadable(f"the input of {name.group(1)!r} was cut off")
    return make_call(name.group(1), {"input": text} if text else None, thought)
