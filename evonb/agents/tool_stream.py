"""What tools do, in the stream of the run: the scope that a node binds around its calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import copy_context
from dataclasses import replace

from evonb.agents.payloads import of_tool_event
from evonb.graph.streaming import StreamCtx, StreamWriter, current_ctx, current_frame, stream_writer_env
from evonb.tools import ToolEvent, ToolExecutionContext, ToolObserver, ToolScope, current_scope

__all__ = ["run_id_here", "tool_scope"]


def run_id_here() -> str | None:
    """The id of the run that this code belongs to; None outside of one."""
    frame = current_frame()
    return getattr(frame.run, "run_id", None) if frame is not None else None


def tool_scope(writer: StreamWriter) -> ToolScope:
    """The scope for the calls of the node that runs here.

    A debugger's own scope around it keeps its gate, its signal and its observer.
    """
    outer = current_scope()
    return replace(
        outer,
        run_id=run_id_here() or outer.run_id,
        node_name=current_ctx().node_name or outer.node_name,
        observer=_observer(writer, outer.observer),
        around=_around(outer.around),
    )


def _observer(writer: StreamWriter, outer: ToolObserver | None) -> ToolObserver:
    # A tool may report from a thread that knows nothing of the node, so the node's context is kept.
    here = copy_context()

    def put(event: ToolEvent) -> None:
        with stream_writer_env(StreamCtx(tool_name=event.tool_id, tool_call_id=event.call_id or event.invocation_id)):
            writer.put(of_tool_event(event))

    def observe(event: ToolEvent) -> None:
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
