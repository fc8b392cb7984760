"""What holds for every `ChatModel`, whatever stands behind it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from evonb.llm import ChatClient, ChatModel, LocalModel, RecordingModel, ScriptedModel

TEXT = "Hello there, friend."


@pytest.fixture(params=["scripted", "client", "recording", "replay"])
def model(request: pytest.FixtureRequest, stub: Any, wire: Any, tmp_path: Path) -> Any:
    stub.answers = [wire.text("Hello ", "there, ", "friend.")]
    scripted = ScriptedModel(lambda _messages: TEXT, tokens_per_s=0)
    if request.param == "client":
        return ChatClient("m", base_url=stub.url, headers={"x-test": "1"})
    if request.param == "recording":
        return RecordingModel(tmp_path / "a.jsonl", scripted)
    if request.param == "replay":
        RecordingModel(tmp_path / "a.jsonl", scripted).chat_sync("Hi")
        return RecordingModel(tmp_path / "a.jsonl")
    return scripted


def test_model_is_a_chat_model(model: Any) -> None:
    assert isinstance(model, ChatModel)
    assert isinstance(LocalModel(), ChatModel)


def test_pieces_make_up_the_answer(model: Any) -> None:
    async def main() -> None:
        pieces: list[str] = []
        response = await model.chat("Hi", stream_writer=lambda chunk: pieces.append(chunk.content or ""))
        assert response.content == TEXT == "".join(pieces)
        assert len(pieces) > 1
        if isinstance(model, ChatClient):
            await model.aclose()

    asyncio.run(main())


def test_blocking_call_makes_up_the_same_answer(model: Any) -> None:
    class Writer:
        text = ""

        def put(self, payload: Any, /) -> None:
            self.text += payload.content or ""

    writer = Writer()
    assert model.chat_sync("Hi", stream_writer=writer).content == TEXT == writer.text
    assert model.chat_sync("Hi").content == TEXT
    if isinstance(model, ChatClient):
        model.close()


def test_what_is_no_stream_writer_is_refused(model: Any) -> None:
    with pytest.raises(TypeError, match="found int"):
        model.chat_sync("Hi", stream_writer=3)
