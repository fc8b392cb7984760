"""Reasoning between tags in the text: what is taken out, what stays, and how it goes back to the server."""

from __future__ import annotations

import time
from typing import Any

import pytest

from evonb.llm import ChatClient, EmptyReply, StreamBroken, from_reply, to_message, to_wire
from evonb.llm.thinking import Thinking
from evonb.typing import AssistantMessage, Function, ToolCall, ToolMessage, UserMessage


def client_of(stub: Any, **options: Any) -> ChatClient:
    return ChatClient("m", base_url=stub.url, max_retries=0, **options)


def test_a_client_streams_reasoning_and_answer_apart(stub: Any, wire: Any) -> None:
    stub.answers = [wire.text("<thi", "nk>Two and", " two.</think", ">\nFour", ".")]
    pieces: list[Any] = []
    with client_of(stub) as client:
        reply = client.chat_sync("2 + 2?", stream_writer=pieces.append)
    assert (reply.content, reply.reasoning_content) == ("\nFour.", "Two and two.")
    assert "".join(piece.content or "" for piece in pieces) == reply.content
    assert "".join(piece.reasoning_content or "" for piece in pieces) == reply.reasoning_content


@pytest.mark.parametrize(
    ("tags", "text", "content", "reasoning"),
    [
        ("never", "<think>a</think>b", "<think>a</think>b", None),
        ("open", "a</think>b", "b", "a"),
        ("open", "a <think> b</think>c", "c", "a <think> b"),
        ("open", "never closed", "", "never closed"),
        ("auto", "a</think>b", "a</think>b", None),
        ("auto", "<Think>a</Think>b", "<Think>a</Think>b", None),
        ("auto", "<think>a", "", "a"),
        ("auto", "  \n", "  \n", None),
        ("auto", "<seed:think>a</seed:think>b", "b", "a"),
        ("auto", "<thinking>a</think>b</thinking>c", "c", "a</think>b"),
        ("auto", "<think>a</think>b<think>c</think>", "b<think>c</think>", "a"),
    ],
)
def test_what_counts_as_reasoning(tags: Any, text: str, content: str, reasoning: str | None) -> None:
    reply = from_reply({"choices": [{"message": {"content": text}}]}, think_tags=tags)
    assert (reply.content, reply.reasoning_content) == (content, reasoning)


def test_the_option_reaches_whole_replies_too(stub: Any, wire: Any) -> None:
    stub.answers = [wire.json({"choices": [{"message": {"content": "a</think>b"}, "finish_reason": "stop"}]})]
    with client_of(stub, stream=False, think_tags="open") as client:
        reply = client.chat_sync("?")
    assert (reply.content, reply.reasoning_content) == ("b", "a")


def test_a_reply_that_is_reasoning_only_is_empty(stub: Any, wire: Any) -> None:
    stub.answers = [wire.text("<think>Hm.", "</think>\n\n")]
    with client_of(stub) as client, pytest.raises(EmptyReply, match="5 characters of reasoning") as caught:
        client.chat_sync("?")
    assert caught.value.partial is not None
    assert caught.value.partial.reasoning_content == "Hm.\n\n"


def test_a_stream_that_breaks_off_within_a_tag_loses_nothing(stub: Any, wire: Any) -> None:
    answer = wire.text("<think>Hm.", "</thi")
    answer.parts = answer.parts[:2]
    stub.answers = [answer]
    with client_of(stub) as client, pytest.raises(StreamBroken) as caught:
        client.chat_sync("?")
    assert caught.value.partial is not None
    assert caught.value.partial.reasoning_content == "Hm.</thi"


def test_reasoning_goes_back_in_the_text_to_a_server_that_sent_it_there(stub: Any, wire: Any) -> None:
    call = ToolCall(id="t", function=Function(name="look", arguments="{}"))
    stub.answers = [
        wire.deltas(
            {"content": "<think>Look.</think>"},
            {"tool_calls": [{"index": 0, **call.model_dump(exclude={"index"})}]},
            finish="tool_calls",
        ),
        wire.text("Seen."),
    ]
    asked = [UserMessage(content="?")]
    with client_of(stub) as client:
        first = to_message(client.chat_sync(asked))
        client.chat_sync([*asked, first, ToolMessage(content="x", tool_call_id="t")])
    sent = stub.asked[1].body["messages"][1]
    assert sent["content"] == "<think>Look.</think>"
    assert "reasoning_content" not in sent


def test_reasoning_of_a_closed_turn_does_not_go_back() -> None:
    said = AssistantMessage(content="4", reasoning_content="2 + 2")
    asked = [UserMessage(content="?"), said, UserMessage(content="??")]
    assert to_wire(asked, reasoning_field="content")[1]["content"] == "4"
    assert to_wire(asked, reasoning="always", reasoning_field="content")[1]["content"] == "<think>2 + 2</think>4"


@pytest.mark.parametrize("text", [" ", "<think>", "<", "a", "</think>", "<think>x</think>"])
def test_any_amount_of_text_is_read_in_linear_time(text: str) -> None:
    thinking, begun = Thinking(), time.perf_counter()
    for _ in range(200_000):
        thinking.feed(text)
    assert time.perf_counter() - begun < 5
