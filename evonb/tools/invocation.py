"""One call while it lives: its id, the order of its events, its signal, and its single end.

Thread-safe: a tool reports from wherever it runs. Deciding how a call ends belongs to the registry.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from typing import Any
from uuid import uuid4

from evonb.logger import get_logger
from evonb.tools.batch import CallRequest
from evonb.tools.context import NodeReportingContext, ReportUpdate, ToolExecutionContext
from evonb.tools.events import (
    LogLevel,
    ToolChunk,
    ToolDiagnosed,
    ToolEvent,
    ToolFinished,
    ToolLogged,
    ToolObserver,
    ToolReported,
    ToolStarted,
)
from evonb.tools.failures import Place
from evonb.tools.flows import DiagnosticContext, ScopedSubFlowLogger, SubFlowLogger
from evonb.tools.receipts import Mode, NodeReport, ToolErrorInfo, ToolReceipt, ToolReport, ToolStatus
from evonb.tools.scope import ToolScope
from evonb.tools.signals import CancelSource
from evonb.tools.text import preview

__all__ = ["Invocation"]

_log = get_logger(__name__)
OnBroken = Callable[[ToolObserver], object]


class Invocation:
    """One call, from its first event to its receipt.

    Attributes:
        invocation_id: Made here, before anything else happens.
        source: Cancels the call.
    """

    def __init__(
        self, request: CallRequest, *, scope: ToolScope, observers: Iterable[ToolObserver], on_broken: OnBroken
    ) -> None:
        self.invocation_id = uuid4().hex
        self.tool_id = request.tool_id
        self.call_id = request.call_id
        self.scope = scope
        self.source = CancelSource()
        self.raw_preview = preview(request.raw)
        self.started_at = time.time()
        self._clock = time.perf_counter()
        self._observers = [*observers, *([scope.observer] if scope.observer else [])]
        self._on_broken = on_broken
        self._lock = threading.RLock()  # an observer may report in turn
        self._seq = 0
        self._receipt: ToolReceipt | None = None
        self._reports: list[ToolReport] = []
        self._flow: SubFlowLogger | None = None
        self._about: dict[str, Any] = {}

    def start(self) -> None:
        """Send the first event."""
        self._emit(ToolStarted, raw_preview=self.raw_preview)

    @property
    def place(self) -> Place:
        """Where this is, for errors."""
        node = f"node '{self.scope.node_name}' > " if self.scope.node_name else ""
        call = f", call '{self.call_id}'" if self.call_id else ""
        return Place(f"{node}tool '{self.tool_id}'{call}, invocation {self.invocation_id}", self.raw_preview)

    def accept(self, **about: Any) -> None:
        """What the receipt will say about the tool: `kind`, `mode` and `effect`."""
        self._about = about

    # -- what the tool is handed -------------------------------------------------------------------

    def context(self, mode: Mode, *, record: bool, deadline: float | None) -> ToolExecutionContext:
        """The context for `execute`."""
        return ToolExecutionContext(
            invocation_id=self.invocation_id,
            report=self.report,
            create_sub_flow_logger=self.sub_flow_logger,
            mode=mode,
            signal=self.source.signal,
            stream_writer=_Chunks(self),
            logger=ScopedSubFlowLogger(self._write_log) if record else None,
            diagnostics=DiagnosticContext(self._write_diagnostic, self.invocation_id) if record else None,
            tool_id=self.tool_id,
            call_id=self.call_id,
            deadline=deadline,
        )

    def reporting_context(self) -> NodeReportingContext:
        """The context for `debug_steps`."""
        return NodeReportingContext(
            invocation_id=self.invocation_id, report=self.report, create_sub_flow_logger=self.sub_flow_logger
        )

    def report(self, update: ReportUpdate) -> None:
        """Stamp a progress report and send it on; dropped with a warning after the end."""
        report = NodeReport.of(update)
        with self._lock:
            event = self._emit(ToolReported, report=report)
            if event is not None:
                self._reports.append(
                    ToolReport(
                        invocation_id=self.invocation_id,
                        run_id=self.scope.run_id,
                        node_name=self.scope.node_name,
                        seq=event.seq,
                        at=event.at,
                        report=report,
                    )
                )

    def sub_flow_logger(self) -> SubFlowLogger:
        """The one sub-flow logger of this visit."""
        with self._lock:
            if self._flow is None:
                self._flow = SubFlowLogger(self._write_log, f"{self.tool_id}#{self.invocation_id[:8]}")
                self._flow.closed = self._receipt is not None
            return self._flow

    def put(self, chunk: Any) -> None:
        """Send one streamed piece on."""
        self._emit(ToolChunk, chunk=chunk)

    # -- the end -----------------------------------------------------------------------------------

    def finish(
        self,
        status: ToolStatus,
        error: ToolErrorInfo | None = None,
        exception: BaseException | None = None,
        *,
        output: Any = None,
        replayed: bool = False,
    ) -> ToolReceipt:
        """Make the receipt and send the terminal event. The first call decides; later ones return its receipt."""
        with self._lock:
            if self._receipt is not None:
                return self._receipt
            receipt = ToolReceipt(
                invocation_id=self.invocation_id,
                call_id=self.call_id,
                tool_id=self.tool_id,
                status=status,
                output=output,
                error=error,
                started_at=self.started_at,
                duration_ms=(time.perf_counter() - self._clock) * 1000,
                reports=list(self._reports),
                replayed=replayed,
                **self._about,
            )
            receipt._exception = exception
            self._receipt = receipt  # first: an observer of the end that reports something comes too late
            self._deliver(ToolFinished, receipt=receipt)
            if self._flow is not None:
                self._flow.closed = True
            return receipt

    # -- events ------------------------------------------------------------------------------------

    def _write_log(self, level: LogLevel, message: str, path: tuple[str, ...], data: dict[str, Any]) -> None:
        self._emit(ToolLogged, level=level, message=message, path=path, data=data)

    def _write_diagnostic(self, name: str, value: Any, duration_ms: float | None) -> None:
        self._emit(ToolDiagnosed, name=name, value=value, duration_ms=duration_ms)

    def _emit(self, kind: type[ToolEvent], **fields: Any) -> ToolEvent | None:
        # Observers are called under the lock: two threads that report at once must not overtake each other.
        with self._lock:
            if self._receipt is not None:
                _log.warning(
                    "%s of tool '%s' was dropped: its invocation %s has ended",
                    kind.__name__,
                    self.tool_id,
                    self.invocation_id,
                )
                return None
            return self._deliver(kind, **fields)

    def _deliver(self, kind: type[ToolEvent], **fields: Any) -> ToolEvent:
        self._seq += 1
        event = kind(
            invocation_id=self.invocation_id,
            tool_id=self.tool_id,
            call_id=self.call_id,
            run_id=self.scope.run_id,
            node_name=self.scope.node_name,
            seq=self._seq,
            at=time.time(),
            **fields,
        )
        for observer in tuple(self._observers):
            self._tell(observer, event)
        return event

    def _tell(self, observer: ToolObserver, event: ToolEvent) -> None:
        try:
            observer(event)
        except Exception:
            _log.exception("A tool observer raised and is dropped; the call goes on")
            self._observers.remove(observer)
            self._on_broken(observer)


class _Chunks:
    """The stream writer of one invocation."""

    __slots__ = ("_invocation",)

    def __init__(self, invocation: Invocation) -> None:
        self._invocation = invocation

    def put(self, chunk: Any) -> None:
        self._invocation.put(chunk)
