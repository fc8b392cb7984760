"""Wire streams, hand-written after public reports and recorded from a real server, against the whole replies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evonb.llm import ModelError, from_reply
from evonb.llm.reader import ReplyReader
from evonb.typing import LLMChatResponse

HERE = Path(__file__).parent
CASES = [json.loads(line) for line in (HERE / "streams.jsonl").read_text(encoding="utf-8").split("\n") if line]
GOOD = [pytest.param(case, id=case["name"]) for case in CASES if "reply" in case]
BAD = [pytest.param(case, id=case["name"]) for case in CASES if "error" in case]
RECORDED = sorted((HERE / "recorded").glob("*.sse"))

SIZES = (1, 7, 4096)
"""Bytes at a time: a network cuts wherever it likes."""


def read(wire: bytes, size: int) -> tuple[LLMChatResponse, str, str]:
    """The message of a body that arrives in pieces, and what was streamed of its text and its reasoning."""
    reader = ReplyReader("the corpus")
    pieces = [piece for start in range(0, len(wire), size) for piece in reader.feed(wire[start : start + size])]
    pieces += reader.end()
    text = "".join(piece.content or "" for piece in pieces)
    return reader.response(), text, "".join(piece.reasoning_content or "" for piece in pieces)


def essence(response: LLMChatResponse, *, ids: bool) -> dict[str, Any]:
    """What a message says, without how long it took and, unless wanted, without ids that somebody made up."""
    calls = [
        (call.function.name, call.function.arguments, call.id if ids else "") for call in response.tool_calls or ()
    ]
    usage = response.usage.model_dump(exclude={"generation_time"}, exclude_none=True) if response.usage else {}
    return {
        "content": response.content,
        "calls": calls,
        "reasoning": response.reasoning_content,
        "usage": usage,
        "finish_reason": response.meta.get("finish_reason"),
        "model": response.meta.get("model"),
    }


def test_corpus_is_as_large_as_promised() -> None:
    assert len(CASES) >= 40
    assert len(RECORDED) >= 10
    assert len({case["name"] for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", GOOD)
def test_stream_gives_the_message_of_the_whole_reply(case: dict[str, Any]) -> None:
    ids = all(call.get("id") for call in case["reply"]["choices"][0]["message"].get("tool_calls", ()))
    whole = from_reply(case["reply"])
    for size in SIZES:
        response, text, reasoning = read(case["wire"].encode(), size)
        assert essence(response, ids=ids) == essence(whole, ids=ids)
        assert (text, reasoning) == (whole.content, whole.reasoning_content or "")


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in CASES if "meta" in case])
def test_stream_keeps_what_else_the_server_said(case: dict[str, Any]) -> None:
    response, _, _ = read(case["wire"].encode(), 4096)
    assert case["meta"].items() <= response.meta.items()


@pytest.mark.parametrize("case", GOOD)
def test_every_call_has_a_name_an_id_and_arguments(case: dict[str, Any]) -> None:
    response, _, _ = read(case["wire"].encode(), 4096)
    for call in response.tool_calls or ():
        assert call.id
        assert call.function.name
        assert call.function.arguments.strip()


@pytest.mark.parametrize("case", BAD)
def test_broken_reply_is_an_error_with_what_had_arrived(case: dict[str, Any]) -> None:
    for size in SIZES:
        with pytest.raises(ModelError) as caught:
            read(case["wire"].encode(), size)
        error = caught.value
        assert type(error).__name__ == case["error"]
        assert case.get("says", "") in str(error)
        assert error.where
        assert error.fix
        if "partial" in case:
            assert error.partial is not None
            assert error.partial.content == case["partial"]


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_recorded_stream_gives_the_message_of_the_whole_reply(path: Path) -> None:
    kept = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    response, text, reasoning = read(path.read_bytes(), 7)
    whole = from_reply(kept["reply"])
    # Usage was asked for in some of the requests only, and a server makes up its ids anew.
    asked = {"content", "calls", "reasoning", "finish_reason", "model"}
    if "stream_options" in kept["request"]:
        asked.add("usage")
    ours, theirs = essence(response, ids=False), essence(whole, ids=False)
    assert {key: ours[key] for key in asked} == {key: theirs[key] for key in asked}
    assert (text, reasoning) == (whole.content, whole.reasoning_content or "")
