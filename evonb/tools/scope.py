"""The hook through which a graph node takes part in the tool calls that it makes. This package knows no graph.

Whoever runs a node binds a `ToolScope` around it; every registry call inside then carries the node's identity,
tells the node's observer, and is cancelled with the run.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeAlias

from evonb.tools.context import ToolExecutionContext
from evonb.tools.erased import ErasedTool
from evonb.tools.events import ToolObserver
from evonb.tools.signals import CancelSignal

__all__ = ["BeforeExecute", "ToolScope", "bind_scope", "current_scope"]

BeforeExecute: TypeAlias = Callable[[ErasedTool, Any, ToolExecutionContext], Awaitable[object] | object]
"""Called with the tool, its parsed input and its context before it runs; refuses the call by raising."""

_scope: ContextVar[ToolScope | None] = ContextVar("evonb_tool_scope", default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolScope:
    """One visit of a node, as far as tools are concerned. Every part may be left out.

    Attributes:
        run_id: Stamped on every event and report.
        node_name: Stamped likewise.
        observer: Gets the events of the calls made inside, beside the registry's own observers.
        signal: Aborting it cancels the calls made inside.
        around: Entered in the tool's own context before it runs and left after it; what it sets in context
            variables is seen by the tool, in its worker thread too.
        gate: Awaited before the tool runs and before its time limit begins, so a debugger may hold the call here as
            long as it likes; cancelling gets through, and raising refuses the call.
        debug: Call the tools' `debug_steps`.
    """

    run_id: str | None = None
    node_name: str | None = None
    observer: ToolObserver | None = None
    signal: CancelSignal | None = None
    around: Callable[[ToolExecutionContext], AbstractContextManager[object]] | None = None
    gate: BeforeExecute | None = None
    debug: bool = False


@contextmanager
def bind_scope(scope: ToolScope) -> Iterator[ToolScope]:
    """Make `scope` the one of this task and of all tasks and tool threads started inside."""
    token = _scope.set(scope)
    try:
        yield scope
    finally:
        _scope.reset(token)


def current_scope() -> ToolScope:
    """The innermost bound scope, or one that says nothing."""
    return _scope.get() or ToolScope()
