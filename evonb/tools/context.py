"""What a tool is handed beside its arguments. Frozen; not pydantic, since it holds live callables."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from evonb.tools.flows import DiagnosticContext, ScopedSubFlowLogger, SubFlowLogger
from evonb.tools.receipts import Mode, NodeReport
from evonb.tools.signals import CancelSignal

__all__ = ["ChunkWriter", "NodeReportingContext", "ReportUpdate", "ToolExecutionContext", "current_context"]

ReportUpdate: TypeAlias = NodeReport | str | Mapping[str, Any]

running: ContextVar[ToolExecutionContext | None] = ContextVar("evonb_running_tool", default=None)


class ChunkWriter(Protocol):
    """Where a tool streams pieces of its output."""

    def put(self, chunk: Any) -> None:
        """Send one piece on; pieces keep their order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeReportingContext:
    """What `debug_steps` is handed: it can tell, and can't change anything.

    Attributes:
        invocation_id: Joins receipt, events and diagnostics.
        report: Report progress; usable from any thread. After the end it drops the report with a warning.
        create_sub_flow_logger: The sub-flow logger of this visit: the same object each time.
    """

    invocation_id: str
    report: Callable[[ReportUpdate], None]
    create_sub_flow_logger: Callable[[], SubFlowLogger]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolExecutionContext(NodeReportingContext):
    """What `execute` is handed.

    Attributes:
        mode: What the tool declared and the registry accepted, not how it happened to be called.
        signal: Cancellation of this invocation: by the caller, by its timeout, or by the run.
        logger: Writes lines of this invocation; None when recording is off.
        diagnostics: Records values of this invocation; None when recording is off.
        tool_id: The tool.
        call_id: The model's id of the call, if a model made it.
        stream_writer: Streams pieces of the output.
        deadline: When the time limit ends, on the clock of `time.monotonic`; None without a limit.
    """

    mode: Mode
    signal: CancelSignal
    stream_writer: ChunkWriter
    logger: ScopedSubFlowLogger | None = None
    diagnostics: DiagnosticContext | None = None
    tool_id: str = ""
    call_id: str | None = None
    deadline: float | None = None

    def remaining_s(self) -> float | None:
        """Seconds until the time limit, never negative; None without a limit."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())


def current_context() -> ToolExecutionContext | None:
    """The context of the tool that this code runs in, at any depth and in its worker thread; None elsewhere."""
    return running.get()
