"""ScriptedModel: the same each time, streams as a client does, and says what is missing."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evonb.errors import EvonbError
from evonb.llm import ScriptedModel, recorded
from evonb.typing import ChatStreamChunk, Function, LLMChatResponse, ToolCall, UserMessage


class Collector(list[ChatStreamChunk]):
    def put(self, payload: ChatStreamChunk) -> None:
        self.append(payload)

    def text(self, part: str = "content") -> str:
        return "".join(getattr(chunk, part) or "" for chunk in self)


def ask(model: ScriptedModel, messages: Any = "hi", *, sync: bool = False, **options: Any) -> LLMChatResponse:
    return model.chat_sync(messages, **options) if sync else asyncio.run(model.chat(messages, **options))


@pytest.mark.parametrize("sync", [False, True])
def test_replies_come_in_order_and_requests_are_kept(sync: bool) -> None:
    model = ScriptedModel(["one", "two"], tokens_per_s=0)
    assert [ask(model, text, sync=sync).content for text in ("a", "b")] == ["one", "two"]
    assert model.requests == [["a"], ["b"]]


@pytest.mark.parametrize("sync", [False, True])
def test_streamed_pieces_add_up_to_the_reply(sync: bool) -> None:
    pieces = Collector()
    reply = "First line,\n  second   line: done!"
    assert ask(ScriptedModel([reply], tokens_per_s=0), sync=sync, stream_writer=pieces).content == reply
    assert pieces.text() == reply
    assert len(pieces) > 5


@given(st.text())
def test_pieces_of_any_text_add_up(text: str) -> None:
    pieces = Collector()
    ScriptedModel([text], tokens_per_s=0).chat_sync("hi", stream_writer=pieces)
    assert pieces.text() == text


def test_a_function_sees_the_messages() -> None:
    model = ScriptedModel(lambda messages: messages[-1].content.upper(), tokens_per_s=0)
    assert ask(model, [UserMessage(content="hello")]).content == "HELLO"


def test_reasoning_streams_before_content_and_tool_calls_come_whole() -> None:
    call = ToolCall(id="c1", function=Function(name="search", arguments='{"q": "x"}'))
    whole = LLMChatResponse(content="so", reasoning_content="let me think", tool_calls=[call])
    pieces = Collector()
    response = ask(ScriptedModel([whole], tokens_per_s=0), stream_writer=pieces)
    assert response.tool_calls == [call]
    assert pieces.text("reasoning_content") == "let me think"
    assert pieces[-1].content == "so"


def test_same_script_gives_equal_responses() -> None:
    first, second = (ask(ScriptedModel(["some words here"], tokens_per_s=1e6)) for _ in range(2))
    assert first == second
    assert first.usage is not None
    assert first.usage.completion_tokens == 3
    assert first.usage.total_tokens == 4


def test_a_scripted_error_is_raised_and_the_script_goes_on() -> None:
    model = ScriptedModel([TimeoutError("the server sleeps"), "back"], tokens_per_s=0)
    with pytest.raises(TimeoutError, match="sleeps"):
        ask(model)
    assert ask(model).content == "back"


def test_a_used_up_script_says_how_many_replies_it_had() -> None:
    model = ScriptedModel(["only"], tokens_per_s=0)
    ask(model)
    with pytest.raises(EvonbError, match="1 reply and this is request 2") as caught:
        ask(model)
    assert "add a reply" in caught.value.fix


def test_a_bare_string_is_refused_instead_of_read_letter_by_letter() -> None:
    with pytest.raises(EvonbError, match="found str"):
        ScriptedModel("hello")


def test_threads_never_share_a_reply() -> None:
    model = ScriptedModel([str(number) for number in range(200)], tokens_per_s=0)
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda _: model.chat_sync("hi").content, range(200)))
    assert sorted(replies, key=int) == [str(number) for number in range(200)]


@pytest.mark.parametrize("sync", [False, True])
def test_it_writes_no_faster_than_asked(sync: bool) -> None:
    model = ScriptedModel(["a b c d e f"], tokens_per_s=100, first_token_s=0.05)
    begun = time.monotonic()
    response = ask(model, sync=sync)
    assert time.monotonic() - begun >= 0.1
    assert response.usage is not None
    assert response.usage.generation_time == pytest.approx(0.1)


def test_others_run_while_it_waits() -> None:
    async def both() -> list[str]:
        slow = ScriptedModel(["slow"], first_token_s=0.2)
        fast = ScriptedModel(["fast"], tokens_per_s=0)
        order: list[str] = []

        async def one(model: ScriptedModel) -> None:
            order.append((await model.chat("hi")).content)

        await asyncio.gather(one(slow), one(fast))
        return order

    assert asyncio.run(both()) == ["fast", "slow"]


def test_recorded_replies_are_found_by_what_the_request_says(tmp_path: Path) -> None:
    script = tmp_path / "replies.jsonl"
    script.write_text(
        '{"when": ["classify", "T-1"], "reply": "billing"}\n\n{"when": "T-1", "reply": {"content": "Dear customer"}}\n',
        encoding="utf-8",
    )
    model = ScriptedModel(recorded(script), tokens_per_s=0)
    assert ask(model, [{"role": "user", "content": "classify T-1"}]).content == "billing"
    assert ask(model, "draft for T-1").content == "Dear customer"
    assert ask(model, "classify: T-1 again").content == "billing"
    with pytest.raises(EvonbError, match="No recorded reply fits the request 'T-2'"):
        ask(model, "T-2")


@pytest.mark.parametrize(
    "line", ["{", '{"reply": "x"}', '{"when": [1], "reply": "x"}', '{"when": [], "reply": {}}', "3"]
)
def test_a_damaged_recording_names_its_line(tmp_path: Path, line: str) -> None:
    script = tmp_path / "replies.jsonl"
    script.write_text('{"when": [], "reply": "fine"}\n\n' + line, encoding="utf-8")
    with pytest.raises(EvonbError, match="can't be read") as caught:
        recorded(script)
    assert caught.value.where.endswith("line 3")


@pytest.mark.parametrize("reply", [3, None, ["Hi"], {"content": "Hi"}])
def test_something_that_is_no_reply_is_named(reply: Any) -> None:
    with pytest.raises(EvonbError, match=f"found {type(reply).__name__}") as caught:
        ask(ScriptedModel([reply], tokens_per_s=0))
    assert "LLMChatResponse" in caught.value.fix
