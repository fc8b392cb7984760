"""The contract of a tool whose types are erased: the shape that the registry runs, whatever made it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from evonb.tools.context import NodeReportingContext, ToolExecutionContext
from evonb.tools.errors import ToolError
from evonb.tools.receipts import Mode

__all__ = ["ErasedTool", "check_tool", "declared_mode"]


@runtime_checkable
class ErasedTool(Protocol):
    """A tool as the registry sees it. `description` and `debug_steps` may be None, or missing altogether.

    A tool may say more, each optional: `mode` ("sync" or "async"), `effect` ("none", "read" or "write"), `timeout_s`,
    `exclusive` (must run alone among parallel calls), `run_in` ("thread" or "loop", for sync tools).
    """

    @property
    def id(self) -> str:
        """The name that callers use."""

    @property
    def kind(self) -> str:
        """What sort of tool it is, such as "function" or "mcp"."""

    @property
    def description(self) -> str | None:
        """Prose for a model; the registry doesn't need it."""

    @property
    def debug_steps(self) -> Callable[[Any, NodeReportingContext], object] | None:
        """Called with the checked result when debugging is on. It can't change the result, even by raising."""

    def parse_input(self, value: Any) -> Any:
        """The input that `execute` takes, out of decoded arguments. Raises if they don't fit."""

    def parse_output(self, value: Any) -> Any:
        """The output for the receipt, out of what `execute` returned. Raises if it doesn't fit."""

    def execute(self, input: Any, context: ToolExecutionContext) -> Any:
        """Do the work. An async tool returns an awaitable, a sync one never does."""


def check_tool(tool: object) -> None:
    """Refuse what the registry couldn't run.

    Raises:
        ToolError: Members are missing or of the wrong kind; all of them are named.
    """
    faults = [f"{name} isn't a text" for name in ("id", "kind") if not _text(tool, name)]
    methods = ("parse_input", "parse_output", "execute")
    faults += [f"{name} isn't a method" for name in methods if not callable(getattr(tool, name, None))]
    steps = getattr(tool, "debug_steps", None)
    if steps is not None and not callable(steps):
        faults.append("debug_steps is neither callable nor None")
    if faults:
        raise ToolError(
            f"{type(tool).__name__} isn't a tool: {'; '.join(faults)}",
            where=f"tool {getattr(tool, 'id', None)!r}",
            fix="give it id, kind, parse_input, parse_output and execute, or decorate a function with @tool",
        )


def declared_mode(tool: object) -> Mode:
    """How the tool runs: its `mode`, else by whether `execute` is a coroutine function.

    Raises:
        ToolError: Its `mode` is neither "sync" nor "async".
    """
    mode = getattr(tool, "mode", None)
    if mode in ("sync", "async"):
        return mode  # type: ignore[no-any-return]
    if mode is not None:
        raise ToolError(
            f"Unknown mode {mode!r} of a tool, expected 'sync' or 'async'",
            where=f"tool {getattr(tool, 'id', None)!r}",
            fix="set mode to one of the two, or leave it out",
        )
    return "async" if inspect.iscoroutinefunction(getattr(tool, "execute", None)) else "sync"


def _text(tool: object, name: str) -> bool:
    value = getattr(tool, name, None)
    return isinstance(value, str) and bool(value)
