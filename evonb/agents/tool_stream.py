"""What tools do, in the stream of the run: the scope that a node binds around its calls."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import copy_context
from dataclasses import replace
from typing import Any

from pydantic import BaseModel

from evonb.agents.payloads import of_tool_event
from evonb.graph.streaming import StreamCtx, StreamWriter, current_ctx, current_frame, stream_writer_env
from evonb.graph.toolwatch import ToolWatch, current_tool_watch
from evonb.tools import (
    ToolEvent,
    ToolExecutionContext,
    ToolFinished,
    ToolObserver,
    ToolReceipt,
    ToolScope,
    current_scope,
)
from evonb.tools.erased import ErasedTool
from evonb.tools.scope import BeforeExecute

__all__ = ["run_id_here", "tool_scope"]


def run_id_here() -> str | None:
    """The id of the run that this code belongs to; None outside of one."""
    frame = current_frame()
    return getattr(frame.run, "run_id", None) if frame is not None else None


def tool_scope(writer: StreamWriter) -> ToolScope:
    """The scope for the calls of the node that runs here.

    A debugger is asked before each call and told of its end. A scope around it keeps its gate, signal and observer.
    """
    outer, watch = current_scope(), current_tool_watch()
    return replace(
        outer,
        run_id=run_id_here() or outer.run_id,
        node_name=current_ctx().node_name or outer.node_name,
        observer=_observer(writer, outer.observer, watch),
        gate=_gate(watch, outer.gate) if watch is not None else outer.gate,
        around=_around(outer.around),
    )


def _gate(watch: ToolWatch, outer: BeforeExecute | None) -> BeforeExecute:
    async def gate(tool: ErasedTool, parsed: Any, context: ToolExecutionContext) -> None:
        if outer is not None and inspect.isawaitable(allowed := outer(tool, parsed, context)):
            await allowed
        arguments = dict(parsed) if isinstance(parsed, BaseModel) else parsed
        await watch.before(tool.id, arguments, call_id=context.call_id)

    return gate


def _tell(watch: ToolWatch, receipt: ToolReceipt) -> None:
    ran = receipt.status not in ("not_found", "invalid_input") and not _is_denied(receipt)
    effect = ran and receipt.effect == "write"
    watch.done(
        receipt.tool_id,
        call_id=receipt.call_id,
        effect=effect,
        replayed=receipt.replayed,
        failed=not receipt.ok,
        duration_s=receipt.duration_ms / 1000,
    )


def _is_denied(receipt: ToolReceipt) -> bool:
    return receipt.error is not None and receipt.error.category == "denied"


def _observer(writer: StreamWriter, outer: ToolObserver | None, watch: ToolWatch | None) -> ToolObserver:
    # A tool may report from a thread that knows nothing of the node, so the node's context is kept.
    here = copy_context()

    def put(event: ToolEvent) -> None:
        with stream_writer_env(StreamCtx(tool_name=event.tool_id, tool_call_id=event.call_id or event.invocation_id)):
            writer.put(of_tool_event(event))

    def observe(event: ToolEvent) -> None:
        if watch is not None and isinstance(event, ToolFinished):
            _tell(watch, event.receipt)
        here.copy().run(put, event)  # a copy: one context can't be entered by two threads at once
        if outer is not None:
            outer(event)

    return observe


def _around(
    outer: Callable[[ToolExecutionContext], AbstractContextManager[object]] | None,
) -> Callable[[ToolExecutionContext], AbstractContextManager[object]]:
    @contextmanager
    def around(context: ToolExecutionContext) -> Iterator[None]:
        ctx = StreamCtx(tool_name=context.tool_id, tool_call_id=context.call_id or context.invocation_id)
        with outer(context) if outer is not None else nullcontext(), stream_writer_env(ctx):
            yield

    return around
