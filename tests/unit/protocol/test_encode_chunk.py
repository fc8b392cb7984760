"""What a stream carries beside text: calls of tools, usage of models, questions. Lookalikes are text."""

from __future__ import annotations

from typing import Any

import pytest

from evonb.agents.payloads import asked_for_tool, of_tool_event, used
from evonb.graph import events as ev
from evonb.protocol.encode_chunk import encode_chunk
from evonb.tools import ToolFinished, ToolReceipt, ToolStarted
from evonb.typing import ChatUsage, ToolCall


def encode(payload: Any) -> Any:
    base = {"run_id": ev.RunId("r"), "seq": 1, "at_s": 0.5, "call_id": None, "tool_name": None, "tool_call_id": None}
    return encode_chunk(ev.Chunk(**base, node="a", payload=payload), "a")  # type: ignore[arg-type]


def about(call_id: str | None, invocation_id: str) -> dict[str, Any]:
    ids = {"tool_id": "find", "call_id": call_id, "invocation_id": invocation_id, "run_id": "r"}
    return {**ids, "node_name": "a", "seq": 1, "at": 0.0}


def test_a_call_is_followed_from_the_model_to_its_end() -> None:
    call = ToolCall.model_validate({"id": "c1", "function": {"name": "find", "arguments": '{"q": 1}'}})
    asked = encode(asked_for_tool(call))
    assert asked["call"] == {"id": "c1", "tool": "find", "status": "asked", "started_s": None, "duration_s": None}
    assert "find" in asked["text"]

    started = ToolStarted(**about("c1", "i1"), raw_preview="{}")
    running = encode(of_tool_event(started))["call"]
    assert running == {"id": "c1", "tool": "find", "status": "running", "started_s": 0.5, "duration_s": None}

    spent: dict[str, Any] = {"started_at": 1.0, "duration_ms": 400}
    for status, shown in (("completed", "done"), ("failed", "failed"), ("timed_out", "failed")):
        receipt = ToolReceipt(tool_id="find", call_id="c1", invocation_id="i1", **spent, status=status)  # type: ignore[arg-type]
        ended = ToolFinished(**about("c1", "i1"), receipt=receipt)
        over = encode(of_tool_event(ended))["call"]
        assert over == {"id": "c1", "tool": "find", "status": shown, "started_s": None, "duration_s": 0.4}


def test_a_call_that_no_model_asked_for_goes_by_its_invocation() -> None:
    started = ToolStarted(**about(None, "i7"), raw_preview="{}")
    assert encode(of_tool_event(started))["call"]["id"] == "i7"


def test_usage_counts_what_the_server_says() -> None:
    wire = encode(used(ChatUsage(prompt_tokens=12, completion_tokens=3), 1.5))
    assert wire == {"type": "usage", "at_s": 0.5, "node": "a", "tokens_in": 12, "tokens_out": 3, "seconds": 1.5}
    assert encode(used(None, 1.5))["tokens_in"] == 0


def test_a_question_is_open_until_its_answer() -> None:
    asked = {"type": "question", "content": "? Go?\n", "question_id": "q", "text": "Go?", "schema": {}}
    assert encode(asked) == {"type": "question", "at_s": 0.5, "node": "a", "question": "Go?", "text": "? Go?\n"}
    assert encode({"type": "answer", "content": "→ yes\n", "question_id": "q"})["question"] == ""


@pytest.mark.parametrize(
    "payload",
    [
        {"type": "tool_call", "content": "x"},
        {"type": "usage", "content": "x", "seconds": "long"},
        {"type": "question", "content": "x", "text": "Go?"},
        {"type": "tool_finished", "content": 3, "tool": "find"},
        {"type": None, "content": "x"},
    ],
)
def test_a_lookalike_is_text(payload: dict[str, Any]) -> None:
    assert encode(payload)["type"] == "chunk"
