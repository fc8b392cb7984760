"""How tools are made and recognised: `@tool`, `define_tool`, and what else counts as a tool."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable
from typing import Any, overload

from evonb.tools.erased import ErasedTool
from evonb.tools.errors import ToolError
from evonb.tools.functions import DebugSteps, FunctionTool
from evonb.tools.receipts import Effect, Mode
from evonb.tools.runner import RunIn
from evonb.tools.text import preview
from evonb.typing import ToolInnerState

__all__ = ["as_tool", "define_tool", "function_schema_of", "tool"]


@overload
def tool(function: Callable[..., Any], /) -> FunctionTool: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    strict: bool = False,
    effect: Effect = "write",
    timeout_s: float | None = None,
    exclusive: bool = False,
    mode: Mode | None = None,
    run_in: RunIn = "thread",
    inner_state: ToolInnerState | None = None,
    exclude: Iterable[str] = (),
    debug_steps: DebugSteps | None = None,
) -> Callable[[Callable[..., Any]], FunctionTool]: ...
def tool(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Make a tool out of a function; with or without options in brackets.

    Parameters become the arguments that a model gives; their descriptions come from the docstring or from
    `Annotated[type, "description"]`. A parameter typed `ToolExecutionContext`, `CancelSignal` or `ToolInnerState`, or
    called `stream_writer`, is handed in and stays hidden from the model. The options are those of `FunctionTool`.

    Raises:
        ToolError: The function can't be told to a model; the message names every reason.

    Example:
        >>> @tool(effect="none")
        ... def add(a: int, b: int = 1) -> int:
        ...     '''Add two numbers.'''
        ...     return a + b
        >>> add(2), add.argument_names()
        (3, ['a', 'b'])
    """
    names = sys._getframe(1).f_locals  # annotations may name classes of the function that this is in
    if function is not None:
        return FunctionTool(function, local_names=names, **options)
    return lambda target: FunctionTool(target, local_names=names, **options)


def define_tool(function: Callable[..., Any], **options: Any) -> FunctionTool:
    """`tool` as a plain call, for functions, bound methods, partials and callable objects of other people."""
    return FunctionTool(function, local_names=sys._getframe(1).f_locals, **options)


def as_tool(thing: Any) -> ErasedTool:
    """The thing itself if it is a tool, else a tool made of it.

    Raises:
        ToolError: It is neither a tool nor a function, or a method without its instance.
    """
    if inspect.ismethod(thing) and isinstance(thing.__func__, FunctionTool):  # @classmethod above @tool
        thing = thing.__func__.__get__(thing.__self__)
    if isinstance(thing, FunctionTool):
        if thing.needs_instance:
            raise ToolError(
                f"'{thing.id}' is a method, and no instance was given to call it on",
                where=f"tool '{thing.id}'",
                fix=f"make an instance and use its attribute: instance.{thing.id}",
            )
        return thing
    if hasattr(thing, "execute") and not isinstance(thing, type):
        return thing  # type: ignore[no-any-return]  # the catalog checks its members and names each that is missing
    if callable(thing):
        return FunctionTool(thing)
    raise ToolError(
        f"A tool or a function was expected, found {type(thing).__name__}: {preview(thing)}",
        where="ToolRegistry.add",
        fix="decorate a function with @tool, or give an object with id, kind, parse_input, parse_output and execute",
    )


def function_schema_of(thing: ErasedTool) -> dict[str, Any]:
    """What a model is told about a tool.

    Raises:
        ToolError: The tool carries no schema: an erased view hasn't got one.
    """
    made = getattr(thing, "function_schema", None)
    if not callable(made):
        raise ToolError(
            f"The tool of kind '{thing.kind}' carries no function schema",
            where=f"tool '{thing.id}'",
            fix="give it a method function_schema(), or make it with @tool",
        )
    return made()  # type: ignore[no-any-return]
