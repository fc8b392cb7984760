"""What is told about a tool call while it happens. Facts only: frozen, ordered by `seq` within their invocation.

Exactly one `ToolStarted` comes first and exactly one `ToolFinished` last, whatever happens to the call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from evonb.tools.receipts import NodeReport, ToolReceipt

__all__ = [
    "LogLevel",
    "ToolChunk",
    "ToolDiagnosed",
    "ToolEvent",
    "ToolFinished",
    "ToolLogged",
    "ToolObserver",
    "ToolReported",
    "ToolStarted",
]

LogLevel: TypeAlias = Literal["debug", "info", "warning", "error"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEvent:
    """What all tool events have.

    Attributes:
        invocation_id: Joins events, receipt and diagnostics of one call.
        tool_id: The tool that was asked for, whether or not it exists.
        call_id: The model's own id of the call, if it came from a model.
        run_id: The graph run that the call belongs to, if any.
        node_name: The node that made the call, if any.
        seq: 1 for the first event of the invocation, then without gaps.
        at: Seconds since the epoch.
    """

    invocation_id: str
    tool_id: str
    call_id: str | None
    run_id: str | None
    node_name: str | None
    seq: int
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStarted(ToolEvent):
    """The call was accepted; nothing has been looked up or parsed yet. `raw_preview` is bounded."""

    raw_preview: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolReported(ToolEvent):
    """The tool reported progress."""

    report: NodeReport


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolChunk(ToolEvent):
    """The tool streamed a piece of its output."""

    chunk: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolLogged(ToolEvent):
    """The tool logged a line; `path` names the sub-flow and its scopes, from the outside in."""

    level: LogLevel
    message: str
    path: tuple[str, ...]
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDiagnosed(ToolEvent):
    """A diagnostic value or, with `duration_ms`, a timed span."""

    name: str
    value: Any
    duration_ms: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFinished(ToolEvent):
    """The call is over, however it ended. Always the last event of its invocation."""

    receipt: ToolReceipt


ToolObserver: TypeAlias = Callable[[ToolEvent], object]
"""Gets every event, in order, on the thread where it happens. One that raises is dropped and logged."""
