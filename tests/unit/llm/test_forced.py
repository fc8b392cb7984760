"""Calls that a small model is made to write."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from pydantic import BaseModel

from evonb.llm.forced import as_call, call_schema, is_call_due
from evonb.llm.wire import tools_to_wire
from evonb.typing import LLMChatResponse, ToolMessage, UserMessage


class Place(BaseModel):
    city: str


class Trip(BaseModel):
    start: Place


class Person(BaseModel):
    home: Place
    age: int


TOOLS = tools_to_wire(
    [
        {"name": "travel", "parameters": Trip.model_json_schema()},
        {"name": "greet", "parameters": Person.model_json_schema()},
        {"name": "now"},
    ]
)
ASKED = UserMessage(content="?")
ANSWERED = ToolMessage(content="25", tool_call_id="a")


@pytest.mark.parametrize(
    ("last", "choice", "due"),
    [
        (ASKED, None, True),
        (ASKED, "auto", True),
        (ANSWERED, None, False),
        (ANSWERED, "required", True),
        (ASKED, "none", False),
        (ANSWERED, {"type": "function", "function": {"name": "now"}}, True),
    ],
)
def test_call_comes_first_and_the_answer_after_the_results(last: Any, choice: Any, due: bool) -> None:
    assert is_call_due([ASKED, last], TOOLS, choice) is due


def test_no_tools_no_call() -> None:
    assert not is_call_due([ASKED], [], "required")


@pytest.mark.parametrize(
    ("written", "fits"),
    [
        ({"name": "travel", "arguments": {"start": {"city": "Rome"}}}, True),
        ({"name": "greet", "arguments": {"home": {"city": "Rome"}, "age": 3}}, True),
        ({"name": "now", "arguments": {}}, True),
        ({"name": "now", "arguments": {"zone": 1}}, False),
        ({"name": "greet", "arguments": {"home": {"city": 3}, "age": 3}}, False),
        ({"name": "fly", "arguments": {}}, False),
        ({"name": "now"}, False),
    ],
)
def test_schema_allows_calls_of_these_tools_alone(written: Any, fits: bool) -> None:
    assert jsonschema.Draft202012Validator(call_schema(TOOLS, None)).is_valid(written) is fits


def test_named_tool_is_the_only_one_allowed() -> None:
    schema = call_schema(TOOLS, {"type": "function", "function": {"name": "now"}})
    validator = jsonschema.Draft202012Validator(schema)
    assert validator.is_valid({"name": "now", "arguments": {}})
    assert not validator.is_valid({"name": "travel", "arguments": {"start": {"city": "Rome"}}})


def test_json_becomes_a_call() -> None:
    response = as_call(LLMChatResponse(content='{"name": "now", "arguments": {"zone": "é"}}'))
    assert response.content == ""
    assert response.tool_calls is not None
    (call,) = response.tool_calls
    assert (call.function.name, json.loads(call.function.arguments)) == ("now", {"zone": "é"})
