"""Messages, tools and schemas on their way to a server and back."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel

from evonb.errors import EvonbError, StateError
from evonb.llm import assemble, from_wire, response_format, to_message, to_wire, tools_to_wire
from evonb.llm.sse import DONE, SseDecoder, payloads_of
from evonb.typing import (
    AssistantMessage,
    Function,
    LLMChatResponse,
    StateBaseMessage,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)

CALL = ToolCall(id="a", function=Function(name="now", arguments='{"zone": "UTC"}'))


def test_conversation_survives_the_round_trip() -> None:
    talk = [
        SystemMessage(content="Be kind."),
        UserMessage(content="How late?"),
        AssistantMessage(content="", reasoning_content="Hm.", tool_calls=[CALL]),
        ToolMessage(content="12:00", tool_call_id="a"),
        AssistantMessage(content="Noon."),
    ]
    back = from_wire(to_wire(talk, reasoning="always"))
    assert [message.model_dump(exclude={"msg_id"}) for message in back] == [
        message.model_dump(exclude={"msg_id"}) for message in talk
    ]
    assert all(message.msg_id for message in back)


@pytest.mark.parametrize("name", ["reasoning", "thinking"])
def test_reasoning_is_kept_whatever_its_name(name: str) -> None:
    (message,) = from_wire([{"role": "assistant", "content": None, name: "Hm."}])
    assert isinstance(message, AssistantMessage)
    assert (message.content, message.reasoning_content) == ("", "Hm.")


def test_strings_and_mappings_are_messages_too() -> None:
    rows = to_wire(["Hi", {"role": "system", "content": "Short."}, StateBaseMessage(content="x")])
    assert [(row["role"], row["content"]) for row in rows] == [("user", "Hi"), ("system", "Short."), ("user", "x")]


def test_ids_and_node_names_dont_travel() -> None:
    assert to_wire([UserMessage(content="Hi", msg_id="1", node_name="n")]) == [{"role": "user", "content": "Hi"}]


@pytest.mark.parametrize(
    ("content", "sent"),
    [
        ({"a": 1}, '{"a": 1}'),
        (None, ""),
        (3, "3"),
        ([], "[]"),
        ([{"type": "text", "text": "x"}], [{"type": "text", "text": "x"}]),
        (LLMChatResponse(content="é"), '{"content": "é", "tool_calls": null'),
    ],
)
def test_any_content_of_a_tool_travels(content: Any, sent: Any) -> None:
    (row,) = to_wire([ToolMessage(content=content, tool_call_id="a")])
    assert row["content"] == sent or row["content"].startswith(sent)


def test_broken_arguments_of_a_call_travel_as_json() -> None:
    broken = ToolCall(id="a", function=Function(name="now", arguments='{"zone": '))
    (row,) = to_wire([AssistantMessage(content="", tool_calls=[broken])])
    assert json.loads(row["tool_calls"][0]["function"]["arguments"]) == {"not_json": '{"zone": '}


def test_what_is_no_message_is_an_error() -> None:
    with pytest.raises(StateError, match="int"):
        to_wire([3])


def test_answer_becomes_a_message_of_the_conversation() -> None:
    message = to_message(LLMChatResponse(content="Hi", reasoning_content="Hm.", tool_calls=[CALL]))
    assert (message.role, message.content, message.reasoning_content, message.tool_calls) == (
        "assistant",
        "Hi",
        "Hm.",
        [CALL],
    )


def test_tools_are_mappings_or_objects() -> None:
    inner = {"name": "now", "description": "The time", "parameters": {"type": "object"}}
    whole = {"type": "function", "function": inner}
    thing = SimpleNamespace(name="now", description="The time", input_schema={"type": "object"})
    told = SimpleNamespace(id="now", function_schema=lambda: whole)
    assert tools_to_wire([inner, whole, thing, told]) == [whole] * 4
    with pytest.raises(EvonbError, match="found int"):
        tools_to_wire([3])


def test_schema_is_a_class_or_a_json_schema() -> None:
    class Person(BaseModel):
        name: str

    given = response_format(Person)["json_schema"]
    assert (given["name"], given["schema"]["required"]) == ("Person", ["name"])
    with pytest.raises(EvonbError, match="found str"):
        response_format("Person")  # type: ignore[arg-type]


def test_ids_that_a_server_leaves_out_are_made_up_and_differ() -> None:
    calls = [{"index": place, "function": {"name": "now", "arguments": "{}"}} for place in range(3)]
    response = assemble([{"choices": [{"index": 0, "delta": {"tool_calls": calls}}]}])
    assert len({call.id for call in response.tool_calls or ()}) == 3


def test_decoder_gives_the_same_however_the_bytes_are_cut() -> None:
    wire = 'data: {"a":\r\ndata: "ü"}\r\n\r\n: ping\r\rdata:[DONE]\n\n'.encode()
    for cut in range(len(wire) + 1):
        decoder = SseDecoder()
        events = [*decoder.feed(wire[:cut]), *decoder.feed(wire[cut:]), *decoder.close()]
        assert [payload for event in events for payload in payloads_of(event)] == [{"a": "ü"}, DONE]


@pytest.mark.parametrize("messages", [None, 5])
def test_something_that_is_no_conversation_is_refused(messages: Any) -> None:
    with pytest.raises(StateError, match=f"found {type(messages).__name__}") as caught:
        to_wire(messages)
    assert "UserMessage" in caught.value.fix
