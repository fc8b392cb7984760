"""What the ready-made nodes put into the stream beside a model's words: calls, progress, usage, questions.

Each payload is a dict with `type`, `content` (the text that the picture shows under the node, often empty) and the
facts as fields. A model's words stay `ChatStreamChunk`s.
"""

from __future__ import annotations

import json
from typing import Any

from evonb.tools import (
    ToolChunk,
    ToolDiagnosed,
    ToolEvent,
    ToolFinished,
    ToolLogged,
    ToolReceipt,
    ToolReported,
    ToolStarted,
)
from evonb.tools.receipts import NodeReport
from evonb.typing import ChatUsage, ToolCall

__all__ = ["Payload", "asked_for_tool", "of_tool_event", "retried", "used"]

Payload = dict[str, Any]
_SHOWN_CHARS = 160


def asked_for_tool(call: ToolCall, *, fresh_line: bool = True) -> Payload:
    """The model wants a tool called."""
    name, arguments = call.function.name, call.function.arguments
    start = "" if fresh_line else "\n"
    return {
        "type": "tool_call",
        "content": f"{start}→ {name} {short(arguments)}\n",
        "tool": name,
        "call_id": call.id,
        "arguments": arguments,
    }


def used(usage: ChatUsage | None, seconds: float) -> Payload:
    """What a reply cost: the tokens that the model reports, and the time that the node measured."""
    known = {} if usage is None else {key: value for key, value in usage.__dict__.items() if value is not None}
    return {"type": "usage", "content": "", "seconds": seconds, **known}


def retried(reason: str, attempt: int) -> Payload:
    """A reply couldn't be used, and the model is asked again."""
    return {"type": "retry", "content": f"\n(asking again: {short(reason)})\n", "reason": reason, "attempt": attempt}


def of_tool_event(event: ToolEvent) -> Any:
    """The payload for an event of a tool; a streamed piece of its output is its own payload."""
    about = {"tool": event.tool_id, "call_id": event.call_id, "invocation_id": event.invocation_id}
    match event:
        case ToolChunk():
            return event.chunk
        case ToolStarted():
            text = f"{event.tool_id} {short(event.raw_preview)}\n"
            return {"type": "tool_started", "content": text, **about, "arguments": event.raw_preview}
        case ToolReported():
            text = f"{event.tool_id}: {_progress(event.report)}\n"
            return {"type": "tool_progress", "content": text, **about, "report": event.report.model_dump()}
        case ToolLogged():
            text = f"{event.tool_id}: {short(event.message)}\n"
            return {"type": "tool_log", "content": text, **about, "level": event.level, "path": list(event.path)}
        case ToolDiagnosed():
            value = {"name": event.name, "value": event.value, "duration_ms": event.duration_ms}
            return {"type": "tool_diagnostic", "content": "", **about, **value}
        case ToolFinished():
            return {"type": "tool_finished", "content": _ending(event.receipt), **about, **_outcome(event.receipt)}
    return {"type": type(event).__name__, "content": "", **about}


def short(text: object) -> str:
    """A text on one line, cut where it gets long."""
    line = " ".join(str(text).split())
    return line if len(line) <= _SHOWN_CHARS else f"{line[: _SHOWN_CHARS - 1]}…"


def plain(value: Any) -> str:
    """A value as text for a person."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _progress(report: NodeReport) -> str:
    done = ""
    if report.current is not None:
        done = f"{report.current:.0%}" if report.total is None else f"{report.current:g} of {report.total:g}"
    return ", ".join(part for part in (done, report.message) if part) or "going on"


def _ending(receipt: ToolReceipt) -> str:
    sign = "=" if receipt.ok else "✗"
    again = " (known from before)" if receipt.replayed else ""
    return f"{receipt.tool_id} {sign} {short(receipt.to_model_text())}{again}\n"


def _outcome(receipt: ToolReceipt) -> Payload:
    known = {"status": receipt.status, "duration_ms": receipt.duration_ms, "replayed": receipt.replayed}
    return {**known, "result": short(receipt.to_model_text())}
