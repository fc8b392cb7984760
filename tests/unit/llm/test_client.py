"""`ChatClient` against a server on loopback: pieces, whole answers, and everything that goes wrong."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from evonb.errors import EvonbError, MissingDependency
from evonb.llm import (
    ChatClient,
    EmptyReply,
    ModelError,
    ModelTimeout,
    ModelUnreachable,
    ReplyCutOff,
    RequestRejected,
    StreamBroken,
    to_message,
)
from evonb.typing import AssistantMessage, Function, ToolCall, ToolMessage, UserMessage

SOON = {"retry-after-ms": "1"}


class Writer:
    def __init__(self) -> None:
        self.pieces: list[Any] = []

    def put(self, payload: Any, /) -> None:
        self.pieces.append(payload)

    @property
    def text(self) -> str:
        return "|".join(piece.content or "" for piece in self.pieces)


@pytest.fixture
def client(stub: Any) -> Iterator[Callable[..., ChatClient]]:
    made: list[ChatClient] = []

    def make(model: str = "m", **options: Any) -> ChatClient:
        made.append(ChatClient(model, **{"base_url": stub.url, "api_key": "sk-secret", **options}))
        return made[-1]

    yield make
    for one in made:
        one.close()


def ask(client: ChatClient, messages: Any = "Hi", **options: Any) -> Any:
    """Ask in a loop of its own, and leave nothing open."""

    async def main() -> Any:
        async with client:
            return await client.chat(messages, **options)

    return asyncio.run(main())


def test_pieces_come_to_the_writer_and_the_whole_is_returned(stub: Any, wire: Any, client: Any) -> None:
    stub.answers = [wire.text("Hel", "lo")]
    writer = Writer()
    response = ask(client(), stream_writer=writer)
    assert writer.text == "Hel|lo"
    assert response.content == "Hello"
    assert response.usage.total_tokens == 5
    assert response.usage.generation_time >= 0
    assert response.meta["finish_reason"] == "stop"


def test_sync_call_gives_the_same(stub: Any, wire: Any, client: Any) -> None:
    stub.answers = [wire.text("Hel", "lo")]
    writer = Writer()
    assert client().chat_sync("Hi", stream_writer=writer).content == "Hello"
    assert writer.text == "Hel|lo"


def test_a_function_may_take_the_pieces(stub: Any, wire: Any, client: Any) -> None:
    stub.answers = [wire.text("Hel", "lo")]
    seen: list[str] = []
    ask(client(), stream_writer=lambda chunk: seen.append(chunk.content))
    assert seen == ["Hel", "lo"]


def test_piece_is_there_before_the_server_writes_the_next(stub: Any, wire: Any, client: Any) -> None:
    seen = threading.Event()
    stub.answers = [wire.text("Hel", "lo", wait=lambda: seen.wait(10))]
    assert ask(client(timeout_s=20), stream_writer=lambda _chunk: seen.set()).content == "Hello"
    assert seen.is_set()


def test_iterating_gives_pieces_and_then_the_response(stub: Any, wire: Any, client: Any) -> None:
    stub.answers = [wire.text("Hel", "lo")]

    async def main() -> None:
        async with client() as model:
            stream = model.stream("Hi")
            with pytest.raises(EvonbError, match="isn't complete"):
                _ = stream.response
            assert [chunk.content async for chunk in stream] == ["Hel", "lo"]
            assert stream.response.content == "Hello"

    asyncio.run(main())
    stream = client().stream_sync("Hi")
    assert [chunk.content for chunk in stream] == ["Hel", "lo"]
    assert stream.response.content == "Hello"


def test_request_carries_options_tools_and_schema(stub: Any, wire: Any, client: Any) -> None:
    stub.answers = [wire.text("{}")]
    tool = {"name": "now", "description": "The time", "parameters": {"type": "object", "properties": {}}}
    ask(client(temperature=0, top_k=5), temperature=1, tools=[tool], schema={"type": "object", "title": "An answer"})
    body = stub.asked[0].body
    assert (body["model"], body["temperature"], body["top_k"], body["stream"]) == ("m", 1, 5, True)
    assert body["tools"] == [{"type": "function", "function": tool}]
    assert body["response_format"]["json_schema"]["name"] == "An_answer"
    assert stub.asked[0].headers["authorization"] == "Bearer sk-secret"


@pytest.mark.parametrize("status", [429, 500, 503])
def test_refused_request_is_repeated(stub: Any, wire: Any, client: Any, status: int) -> None:
    stub.answers = [wire.error(status, "busy", **SOON), wire.error(status, "busy", **SOON), wire.text("Hello")]
    assert ask(client()).content == "Hello"
    assert len(stub.asked) == 3


def test_request_that_met_silence_is_repeated(stub: Any, wire: Any, client: Any) -> None:
    over = threading.Event()
    stub.judge = lambda _asked: over.wait(10) and None if len(stub.asked) == 1 else None
    stub.answers = [wire.text("Hello")]
    assert ask(client(timeout_s=0.5, max_retries=1)).content == "Hello"
    over.set()
    assert len(stub.asked) == 2


def test_repeating_ends_with_the_servers_reason(stub: Any, wire: Any, client: Any) -> None:
    stub.answers = [wire.error(429, "no quota for sk-secret", **SOON)]
    with pytest.raises(RequestRejected, match="no quota") as caught:
        client(max_retries=1).chat_sync("Hi")
    assert len(stub.asked) == 2
    assert caught.value.status == 429
    assert "tried 2 times" in caught.value.what
    assert "sk-secret" not in str(caught.value)
    assert "'m'" in caught.value.where


def test_silent_server_is_a_timeout(stub: Any, wire: Any, client: Any) -> None:
    over = threading.Event()
    stub.judge = lambda _asked: over.wait(10) and None
    stub.answers = [wire.text("late")]
    with pytest.raises(ModelTimeout, match=r"0\.2 s") as caught:
        ask(client(timeout_s=0.2, max_retries=0))
    over.set()
    assert isinstance(caught.value, TimeoutError)
    assert "timeout_s" in caught.value.fix


def test_server_that_falls_silent_leaves_what_had_arrived(stub: Any, wire: Any, client: Any) -> None:
    over = threading.Event()
    stub.answers = [wire.text("Hel", "lo", wait=lambda: over.wait(10))]
    with pytest.raises(StreamBroken) as caught:
        ask(client(timeout_s=0.3))
    over.set()
    assert caught.value.partial is not None
    assert caught.value.partial.content == "Hel"


def test_connection_lost_in_the_middle_leaves_what_had_arrived(stub: Any, wire: Any, client: Any) -> None:
    stub.answers = [wire.Answer([wire.chunk({"content": "Hel"}), wire.chunk({"content": "lo"})], cut=True)]
    for call in (ask, lambda one: one.chat_sync("Hi")):
        with pytest.raises(StreamBroken, match="broke off") as caught:
            call(client())
        assert caught.value.partial is not None
        assert caught.value.partial.content == "Hello"
    assert len(stub.asked) == 2  # begun replies aren't asked for again


def test_refused_key_isnt_shown(stub: Any, wire: Any, client: Any) -> None:
    stub.answers = [wire.error(401, "Incorrect API key: sk-secret")]
    with pytest.raises(RequestRejected, match="refused the key") as caught:
        ask(client())
    assert "sk-secret" not in str(caught.value)
    assert "sk-secret" not in repr(client())
    assert len(stub.asked) == 1


def test_unknown_model_names_near_ones(stub: Any, wire: Any, client: Any) -> None:
    models = wire.json({"object": "list", "data": [{"id": "smollm2-135m"}, {"id": "other"}]})
    stub.judge = lambda asked: models if asked.path.endswith("/models") else wire.error(404, "not found")
    for call in (ask, lambda one: one.chat_sync("Hi")):
        with pytest.raises(RequestRejected, match="no model 'smollm-135m'") as caught:
            call(client("smollm-135m"))
        assert "'smollm2-135m'" in caught.value.fix


def test_address_without_v1_gets_a_hint(stub: Any, wire: Any, client: Any) -> None:
    stub.answers = [wire.error(404, "File Not Found")]
    with pytest.raises(RequestRejected) as caught:
        ask(client(base_url=stub.url.removesuffix("/v1")))
    assert f"{stub.url!r}" in caught.value.fix


def test_no_server_is_said_with_its_address(stub: Any, client: Any) -> None:
    stub.close()
    with pytest.raises(ModelUnreachable, match="tried once") as caught:
        ask(client(max_retries=0))
    assert stub.url in caught.value.what
    assert isinstance(caught.value, ConnectionError)
    stub.close = lambda: None


def test_web_page_isnt_a_reply(stub: Any, wire: Any, client: Any) -> None:
    stub.answers = [wire.Answer([b"<html>Sign in</html>"], content_type="text/html")]
    with pytest.raises(ModelUnreachable, match="web page"):
        ask(client())


@pytest.mark.parametrize("url", ["localhost:8080", "ftp://x", ""])
def test_bad_address_is_said_at_once(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(ModelError) as caught:
        ChatClient("m", base_url=url)
    assert caught.value.fix


def test_missing_key_is_said_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(ModelError, match="No API key") as caught:
        ChatClient("m")
    assert "OPENAI_API_KEY" in caught.value.fix


@pytest.mark.parametrize("is_meant", [True, False])
def test_key_of_the_environment_goes_to_no_other_server(
    stub: Any, wire: Any, client: Any, monkeypatch: pytest.MonkeyPatch, is_meant: bool
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-mine")
    monkeypatch.setenv("OPENAI_BASE_URL", stub.url if is_meant else "https://api.openai.com/v1")
    stub.answers = [wire.text("Hello")]
    ask(client(api_key=None))
    assert ("sk-mine" in str(stub.asked[0].headers)) is is_meant


def test_missing_package_says_how_to_install_it(stub: Any, client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(MissingDependency) as caught:
        ask(client())
    assert "evonb[llm]" in caught.value.fix


def test_cut_off_reply_is_an_error_unless_accepted(stub: Any, wire: Any, client: Any) -> None:
    stub.answers = [wire.text("Hel", finish="length")]
    with pytest.raises(ReplyCutOff, match="3 characters of text") as caught:
        ask(client())
    assert caught.value.partial is not None
    assert caught.value.partial.content == "Hel"
    assert ask(client(accept_cut_off=True)).meta["finish_reason"] == "length"


@pytest.mark.parametrize(
    ("delta", "finish", "says"),
    [
        ({}, "stop", "without text"),
        ({"reasoning_content": "Hm"}, "stop", "2 characters of reasoning"),
        ({"refusal": "Not that."}, "stop", "declined to answer: Not that."),
        ({}, "content_filter", "content filter"),
    ],
)
def test_empty_reply_says_why(stub: Any, wire: Any, client: Any, delta: Any, finish: str, says: str) -> None:
    stub.answers = [wire.deltas(delta, finish=finish)]
    with pytest.raises(EmptyReply, match=says) as caught:
        ask(client())
    assert caught.value.fix


def test_server_that_minds_usage_isnt_asked_for_it_again(stub: Any, wire: Any, client: Any) -> None:
    stub.judge = lambda asked: (
        wire.error(400, "unknown field stream_options") if "stream_options" in asked.body else None
    )
    stub.answers = [wire.text("Hello")]
    model = client()
    assert model.chat_sync("Hi").content == "Hello"
    assert model.chat_sync("Hi").content == "Hello"
    assert len(stub.asked) == 3


def test_server_without_streaming_gives_one_piece(stub: Any, wire: Any, client: Any) -> None:
    reply = {"id": "r", "choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]}
    stub.answers = [wire.json(reply)]
    for model in (client(stream=False), client()):
        writer = Writer()
        assert ask(model, stream_writer=writer).content == "Hello"
        assert writer.text == "Hello"
    assert [asked.body["stream"] for asked in stub.asked] == [False, True]
    assert "stream_options" not in stub.asked[0].body


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_goes_back_to_a_server_that_demands_it(stub: Any, wire: Any, client: Any, field: str) -> None:
    def judge(asked: Any) -> Any:
        lacks = [row for row in asked.body["messages"] if row["role"] == "assistant" and field not in row]
        return wire.error(400, f"{field} is missing in the tool turn") if lacks else None

    stub.judge = judge
    call = {"index": 0, "id": "a", "function": {"name": "now", "arguments": ""}}
    stub.answers = [wire.deltas({field: "I need the time."}, {"tool_calls": [call]}), wire.text("Noon.")]
    model = client()
    question = UserMessage(content="How late is it?")
    first = ask(model, [question])
    assert first.tool_calls[0].function.arguments == "{}"
    talk = [question, to_message(first), ToolMessage(content="12:00", tool_call_id="a")]
    assert ask(model, talk).content == "Noon."
    assert stub.asked[1].body["messages"][1][field] == "I need the time."


def test_reasoning_of_finished_turns_stays_here(stub: Any, wire: Any, client: Any) -> None:
    stub.answers = [wire.text("Good.")]
    call = ToolCall(id="a", function=Function(name="now", arguments="{}"))
    talk = [
        AssistantMessage(content="", reasoning_content="secret", tool_calls=[call]),
        ToolMessage(content="12:00", tool_call_id="a"),
        AssistantMessage(content="Noon.", reasoning_content="secret"),
        UserMessage(content="Thanks"),
    ]
    ask(client(), talk)
    assert "secret" not in str(stub.asked[0].body)
    ask(client(send_reasoning="always"), talk)
    assert str(stub.asked[1].body).count("secret") == 2


def test_cancelled_request_hangs_up(stub: Any, wire: Any, client: Any) -> None:
    go_on = threading.Event()
    # Enough that the server notices: what fits into the socket's buffer goes nowhere without an error.
    stub.answers = [wire.text("Hel", *["x" * 1_000_000] * 20, wait=lambda: go_on.wait(10))]

    async def main() -> None:
        async with client(timeout_s=20) as model:
            begun = asyncio.Event()
            task = asyncio.create_task(model.chat("Hi", stream_writer=lambda _chunk: begun.set()))
            await begun.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(main())
    go_on.set()
    assert stub.hung_up.wait(10)


def test_one_client_serves_several_loops_and_threads(stub: Any, wire: Any, client: Any) -> None:
    stub.answers = [wire.text("Hello")]
    model = client()
    assert ask(model).content == "Hello"
    assert ask(model).content == "Hello"
    answers: list[str] = []
    threads = [threading.Thread(target=lambda: answers.append(model.chat_sync("Hi").content)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == ["Hello"] * 3


def test_half_of_a_surrogate_pair_in_a_conversation_is_sent_as_a_replacement(stub: Any, wire: Any, client: Any) -> None:
    stub.answers = [wire.text("Hello")]
    assert ask(client(), [UserMessage(content="cut \ud83d")]).content == "Hello"
    assert stub.asked[0].body["messages"][0]["content"] == "cut \ufffd"


@pytest.mark.parametrize("address", ["http://[::1", "http://a b/v1", "localhost:8080", "http://"])
def test_something_that_is_no_address_is_refused_when_the_client_is_made(address: str) -> None:
    with pytest.raises(ModelError, match="isn't an address"):
        ChatClient("m", base_url=address)
