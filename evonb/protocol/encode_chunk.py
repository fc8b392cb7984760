"""What user code and ready-made nodes stream, as wire events: text, calls of tools, usage of models, questions.

The ready-made nodes stream dicts with a `type`, see `evonb.agents.payloads` and `evonb.graph.asking`; a dict of
somebody else that only looks alike is text, as any other value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from evonb.graph import events as ev
from evonb.protocol.events import WireEvent
from evonb.protocol.preview import preview
from evonb.typing import ChatStreamChunk

__all__ = ["encode_chunk", "text_of_chunk", "thought_of_chunk"]

MAX_NAME_CHARS = 200
MAX_QUESTION_CHARS = 1000


def encode_chunk(event: ev.Chunk, node: str) -> WireEvent:
    """The wire event of a streamed payload."""
    if isinstance(event.payload, dict) and (special := _special(event.payload, event.at_s, node)) is not None:
        return special
    return {"type": "chunk", "at_s": event.at_s, "node": node, "text": text_of_chunk(event.payload), "count": 1}


def text_of_chunk(payload: object) -> str:
    """What a streamed payload adds to a node's text: a string, a model's words, else a preview on its own line."""
    if isinstance(payload, str):
        return str.__str__(payload)
    if isinstance(payload, ChatStreamChunk):
        return payload.content or payload.reasoning_content or ""
    if isinstance(payload, dict):
        text = dict.get(payload, "content")
        if isinstance(text, str):
            return text
        if text is None and isinstance(thought := dict.get(payload, "reasoning_content"), str):
            return thought
    return preview(payload)["text"] + "\n"


def thought_of_chunk(payload: object) -> str:
    """What a streamed payload adds to what a model thought before it answered."""
    if isinstance(payload, ChatStreamChunk):
        return payload.reasoning_content or ""
    if isinstance(payload, dict) and isinstance(thought := dict.get(payload, "reasoning_content"), str):
        return thought
    return ""


def _special(payload: Mapping[str, Any], at_s: float, node: str) -> WireEvent | None:
    match payload:
        case {"type": "tool_call" | "tool_started" | "tool_finished" as stage, "tool": str(tool), "content": str(text)}:
            return _tool_call(payload, stage, tool, text, at_s, node)
        case {"type": "usage", "seconds": int() | float() as seconds}:
            return {
                "type": "usage",
                "at_s": at_s,
                "node": node,
                "tokens_in": _count(payload.get("prompt_tokens")),
                "tokens_out": _count(payload.get("completion_tokens")),
                "seconds": float(seconds),
            }
        case {"type": "question", "question_id": str(), "text": str(question), "content": str(text)}:
            asked = question[:MAX_QUESTION_CHARS] or "…"
            return {"type": "question", "at_s": at_s, "node": node, "question": asked, "text": text}
        case {"type": "answer", "question_id": str(), "content": str(text)}:
            return {"type": "question", "at_s": at_s, "node": node, "question": "", "text": text}
    return None


def _tool_call(
    payload: Mapping[str, Any],
    stage: Literal["tool_call", "tool_started", "tool_finished"],
    tool: str,
    text: str,
    at_s: float,
    node: str,
) -> WireEvent:
    spent = payload.get("duration_ms")
    over: Literal["done", "failed"] = "done" if payload.get("status") == "completed" else "failed"
    return {
        "type": "tool_call",
        "at_s": at_s,
        "node": node,
        "call": {
            "id": str(payload.get("call_id") or payload.get("invocation_id") or tool)[:MAX_NAME_CHARS],
            "tool": tool[:MAX_NAME_CHARS],
            "status": "asked" if stage == "tool_call" else "running" if stage == "tool_started" else over,
            "started_s": at_s if stage == "tool_started" else None,
            "duration_s": float(spent) / 1000 if stage == "tool_finished" and isinstance(spent, int | float) else None,
        },
        "text": text,
    }


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
