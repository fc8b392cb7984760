"""`RecordingModel`: asked once, replayed ever after."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from evonb.errors import EvonbError
from evonb.llm import RecordingModel, ScriptedModel
from evonb.typing import Function, LLMChatResponse, ToolCall, UserMessage


def script(*replies: Any) -> ScriptedModel:
    return ScriptedModel(list(replies), tokens_per_s=0)


def heard(model: Any, text: Any = "Hi", **options: Any) -> tuple[LLMChatResponse, list[Any]]:
    chunks: list[Any] = []
    return asyncio.run(model.chat(text, stream_writer=chunks.append, **options)), chunks


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "made" / "answers.jsonl"


def test_replay_gives_the_same_answer_and_the_same_pieces_without_the_model(path: Path) -> None:
    call = ToolCall(id="a", function=Function(name="now", arguments="{}"))
    told = LLMChatResponse(content="Hello there", reasoning_content="Hm.", tool_calls=[call], meta={"x": 1})
    first = heard(RecordingModel(path, script(told)))
    assert len(first[1]) > 1
    assert heard(RecordingModel(path)) == first


def test_sync_and_async_share_the_recordings(path: Path) -> None:
    recorded = RecordingModel(path, script("Hello")).chat_sync("Hi")
    assert heard(RecordingModel(path))[0] == recorded


def test_known_request_isnt_asked_again(path: Path) -> None:
    model = script("One", "Two")
    recorder = RecordingModel(path, model)
    assert [heard(recorder)[0].content for _ in range(3)] == ["One", "One", "One"]
    assert heard(recorder, "Other")[0].content == "Two"
    assert len(model.requests) == 2


def test_repeated_recordings_come_in_their_order_round_and_round(path: Path) -> None:
    recorder = RecordingModel(path, script("One", "Two"), mode="record")
    heard(recorder)
    heard(recorder)
    player = RecordingModel(path)
    assert [heard(player)[0].content for _ in range(3)] == ["One", "Two", "One"]


def test_message_ids_dont_make_another_request(path: Path) -> None:
    heard(RecordingModel(path, script("One")), [UserMessage(content="Hi", msg_id="1", node_name="a")])
    assert heard(RecordingModel(path), [UserMessage(content="Hi", msg_id="2")])[0].content == "One"
    assert heard(RecordingModel(path), "Hi")[0].content == "One"


@pytest.mark.parametrize("options", [{"temperature": 1}, {"tools": [{"name": "now"}]}, {"schema": {"type": "object"}}])
def test_other_options_make_another_request(path: Path, options: dict[str, Any]) -> None:
    heard(RecordingModel(path, script("One")))
    with pytest.raises(EvonbError, match="the same conversation is recorded with other"):
        heard(RecordingModel(path), **options)


def test_unknown_request_is_named_with_a_way_out(path: Path) -> None:
    heard(RecordingModel(path, script("One")))
    with pytest.raises(EvonbError, match="'Who are you\\?'") as caught:
        heard(RecordingModel(path), "Who are you?")
    assert "1 recordings" in caught.value.where
    assert "auto" in caught.value.fix


def test_failed_request_isnt_recorded(path: Path) -> None:
    recorder = RecordingModel(path, script(ValueError("down"), "One"))
    with pytest.raises(ValueError, match="down"):
        heard(recorder)
    assert heard(recorder)[0].content == "One"
    assert len(path.read_text().splitlines()) == 1


def test_line_torn_by_a_crash_spoils_nothing_else(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    heard(RecordingModel(path, script("One")))
    with path.open("a") as file:
        file.write('{"key": "torn')
    with caplog.at_level(logging.WARNING, "evonb"):
        recorder = RecordingModel(path, script("Two"))
    assert "incomplete" in caplog.text
    heard(recorder, "Other")
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], lines[2]]) + "\n")
    assert heard(RecordingModel(path), "Other")[0].content == "Two"
    assert heard(RecordingModel(path))[0].content == "One"


def test_damaged_line_is_named(path: Path) -> None:
    path.parent.mkdir()
    path.write_text('{"oops": 1}\n{}\n')
    with pytest.raises(EvonbError, match="can't be read") as caught:
        RecordingModel(path)
    assert "line 1" in caught.value.where


def test_recording_without_a_model_is_refused(path: Path) -> None:
    with pytest.raises(EvonbError, match="none was given"):
        RecordingModel(path, mode="auto")


def test_half_of_a_surrogate_pair_is_recorded_as_a_replacement(path: Path) -> None:
    heard(RecordingModel(path, script("cut \ud83d")), "also \ud83d")
    assert heard(RecordingModel(path), "also \ud83d")[0].content == "cut \ufffd"
